/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_HTTP_ANSWER_H
#define LENS_OTLP_HTTP_ANSWER_H

#include "lib/core/text.h"
#include "lib/otlp/endpoint.h"
#include "lib/otlp/exporter.h"

#include <curl/curl.h>

/* What came back for one request. */
struct lens_http_answer {
	CURLcode code;
	long status;   /* 0: no status line arrived */
	long os_error; /* why no connection came about; 0 unknown */
	bool cancelled;
	struct lens_text body;        /* at most LENS_HTTP_RESPONSE_MAX bytes */
	int64_t retry_after_ms;       /* -1: none */
	char detail[CURL_ERROR_SIZE]; /* libcurl's words; shown for TLS only */
};

#define LENS_HTTP_ANSWER_INIT        \
	{                            \
		.retry_after_ms = -1 \
	}

void lens_http_answer_clear(struct lens_http_answer *answer);

/* Makes ANSWER, of a request to ENDPOINT that could take TIMEOUT_MS, into RESULT. */
void lens_http_answer_judge(const struct lens_http_answer *answer,
			    const struct lens_endpoint *endpoint, unsigned int timeout_ms,
			    struct lens_export_result *result);

#endif
