/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_ANSWER_H
#define LENS_OTLP_ANSWER_H

#include "lib/core/text.h"
#include "lib/otlp/curl.h"
#include "lib/otlp/endpoint.h"
#include "lib/otlp/exporter.h"
#include "lib/otlp/grpc_status.h"

/* Bytes of an answer's body that are read: what the OTLP specification lets a client take. */
#define LENS_ANSWER_MAX (4u * 1024 * 1024)

/* What came back for one request. */
struct lens_answer {
	CURLcode code;
	long status;   /* HTTP; 0: no status line arrived */
	bool http2;    /* the status came over HTTP/2 */
	bool is_grpc;  /* Content-Type says so */
	long os_error; /* why no connection came about; 0 unknown */
	bool cancelled;
	bool too_long; /* the body goes on beyond LENS_ANSWER_MAX */
	struct lens_text body;
	int64_t retry_after_ms; /* -1: none */
	int64_t date;           /* the Date header, seconds since the epoch; 0 none */
	struct lens_grpc_status grpc;
	char detail[CURL_ERROR_SIZE]; /* libcurl's words; shown for TLS only */
};

void lens_answer_init(struct lens_answer *answer);
void lens_answer_clear(struct lens_answer *answer);

/* Takes one line of a header block or of trailers, a status line included. */
void lens_answer_header(struct lens_answer *answer, const char *line, size_t length);

/* RESULT for ANSWER without a status, of a request to ENDPOINT that could take TIMEOUT_MS. */
void lens_answer_failure(const struct lens_answer *answer, const struct lens_endpoint *endpoint,
			 unsigned int timeout_ms, struct lens_export_result *result);

#endif
