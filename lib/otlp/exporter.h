/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_EXPORTER_H
#define LENS_OTLP_EXPORTER_H

#include "lib/core/error.h"
#include "lib/otlp/span.h"

#include <stdbool.h>
#include <stdint.h>

enum lens_verdict {
	LENS_VERDICT_DONE,  /* acknowledged: never send it again */
	LENS_VERDICT_RETRY, /* the same batch, later */
	LENS_VERDICT_DROP,  /* refused for good: counted, never sent again */
	LENS_VERDICT_SPLIT, /* too large (413): send it in halves; a single span is dropped */
};

struct lens_export_result {
	enum lens_verdict verdict;
	int64_t retry_after_ms; /* RETRY: what the server asked for, -1 nothing */
	uint64_t rejected;      /* DONE: spans that the server says it did not take */
	char message[256];      /* for a log line, no secret in it; "" when all went well */
};

enum lens_exporter_kind {
	LENS_EXPORTER_HTTP_PROTOBUF,
	LENS_EXPORTER_FILE,
};

struct lens_exporter_settings {
	enum lens_exporter_kind kind;
	const char *endpoint;    /* base URL for HTTP; `v1/traces` is joined to it */
	const char *file;        /* FILE: an absolute path */
	uint64_t file_max_bytes; /* FILE: rotated beyond this; 0 is 100 MiB */
	unsigned int file_keep;  /* FILE: rotated files kept; 0 is 3 */
	unsigned int timeout_ms; /* HTTP: for the whole request; 0 is 10000 */
	const char *user_agent;
	/* HTTP: asked about four times a second; true gives the request up (verdict RETRY).
	 * May be NULL. */
	bool (*cancelled)(void *context);
	void *cancelled_context;
};

struct lens_exporter;

/* NULL with ERR naming the setting at fault. SETTINGS' strings are copied. */
struct lens_exporter *lens_exporter_create(const struct lens_exporter_settings *settings,
					   struct lens_error *err);
void lens_exporter_destroy(struct lens_exporter *exporter);

/* Sends BATCH (never called with an empty one) and waits for the answer, at most
 * timeout_ms. */
void lens_exporter_export(struct lens_exporter *exporter, const struct lens_batch *batch,
			  struct lens_export_result *result);

#endif
