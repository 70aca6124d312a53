/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_EXPORTER_H
#define LENS_OTLP_EXPORTER_H

#include "lib/core/error.h"
#include "lib/otlp/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lens_verdict {
	LENS_VERDICT_DONE,  /* acknowledged: never send it again */
	LENS_VERDICT_RETRY, /* the same batch, later */
	LENS_VERDICT_DROP,  /* refused for good: counted, never sent again */
	LENS_VERDICT_SPLIT, /* too large: send it in halves; a single span is dropped */
};

/* What kind of thing went wrong, for who says what to do about it. */
enum lens_trouble {
	LENS_TROUBLE_NONE,
	LENS_TROUBLE_AWAY,     /* no connection: refused, no way there, a name that is not known */
	LENS_TROUBLE_SILENT,   /* no answer in time */
	LENS_TROUBLE_TLS,      /* certificates, or one side speaks no TLS */
	LENS_TROUBLE_PROTOCOL, /* what is there is not of this protocol */
	LENS_TROUBLE_CREDENTIALS, /* HTTP 401, 403 and their like in gRPC */
	LENS_TROUBLE_PLACE,       /* it is no receiver of traces: HTTP 404, a redirect */
	LENS_TROUBLE_BUSY,        /* it takes nothing now */
	LENS_TROUBLE_OTHER,
};

struct lens_export_result {
	enum lens_verdict verdict;
	int64_t retry_after_ms; /* RETRY: what the server asked for, -1 nothing */
	uint64_t rejected;      /* DONE: spans that the server says it did not take */
	enum lens_trouble trouble;
	int64_t date;      /* network: the receiver's clock, seconds; 0 it did not tell */
	char message[256]; /* for a log line, no secret in it; "" when all went well */
};

enum lens_exporter_kind {
	LENS_EXPORTER_HTTP_PROTOBUF,
	LENS_EXPORTER_HTTP_JSON,
	LENS_EXPORTER_GRPC,
	LENS_EXPORTER_FILE,
};

enum lens_compression {
	LENS_COMPRESSION_NONE,
	LENS_COMPRESSION_GZIP,
};

/* What a file held, handed on as bytes: no exporter opens a file that a setting names, but
 * FILE its own. A length of 0 is none. */
struct lens_blob {
	const void *bytes;
	size_t length;
};

/* The protocols over a network are HTTP_PROTOBUF, HTTP_JSON and GRPC. */
struct lens_exporter_settings {
	enum lens_exporter_kind kind;
	const char *endpoint; /* base URL; HTTP joins `v1/traces` to it, gRPC has its own path */
	bool endpoint_whole;  /* HTTP: ENDPOINT is the URL itself, nothing is joined to it */
	const char *file;     /* FILE: an absolute path */
	bool file_make_directory; /* FILE: where its directory, the last one, is missing */
	uint64_t file_max_bytes;  /* FILE: rotated beyond this; 0 is 100 MiB */
	unsigned int file_keep;   /* FILE: rotated files kept; 0 is 3 */
	unsigned int timeout_ms;  /* network: for the whole request; 0 is 10000 */
	const char *user_agent;
	enum lens_compression compression; /* network */
	const char *proxy;            /* network: URL; NULL or "" none, never the environment's */
	struct lens_blob headers;     /* network: see lib/otlp/headers.h */
	struct lens_blob ca;          /* network: PEM that replaces the system's authorities */
	struct lens_blob client_cert; /* network: PEM; goes with client_key */
	struct lens_blob client_key;  /* network: PEM, without a pass phrase */
	/* network: asked about four times a second; true gives the request up (verdict
	 * RETRY). May be NULL. */
	bool (*cancelled)(void *context);
	void *cancelled_context;
};

struct lens_exporter;

/* NULL with ERR naming the setting at fault, none of a secret's bytes in it. What SETTINGS
 * points to is copied. */
struct lens_exporter *lens_exporter_create(const struct lens_exporter_settings *settings,
					   struct lens_error *err);
void lens_exporter_destroy(struct lens_exporter *exporter);

/*
 * BATCH (never an empty one) as the bytes that an exporter of KIND sends: encoding needs no
 * exporter, so that another process may do it. Compression and gRPC's frame are
 * lens_exporter_post's. The caller frees; NULL: no memory, also while BATCH was made.
 */
uint8_t *lens_exporter_encode(enum lens_exporter_kind kind, const struct lens_batch *batch,
			      size_t *length);

/* A request that holds no span, valid and of no effect, as an exporter of KIND sends it: to ask a
 * receiver whether it would take one. Static. */
const uint8_t *lens_exporter_empty(enum lens_exporter_kind kind, size_t *length);

/*
 * Sends what lens_exporter_encode made for the kind of EXPORTER and waits for the answer, at
 * most timeout_ms. SPLIT is told whatever number of spans it holds: a caller that sent
 * a single one takes it as DROP.
 */
void lens_exporter_post(struct lens_exporter *exporter, const uint8_t *bytes, size_t length,
			struct lens_export_result *result);

/* Encodes BATCH and posts it; SPLIT of a single span is DROP. */
void lens_exporter_export(struct lens_exporter *exporter, const struct lens_batch *batch,
			  struct lens_export_result *result);

#endif
