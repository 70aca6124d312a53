/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_GRPC_STATUS_H
#define LENS_OTLP_GRPC_STATUS_H

#include "lib/otlp/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The codes that the verdict depends on (gRPC, doc/statuscodes.md). */
enum lens_grpc_code {
	LENS_GRPC_OK = 0,
	LENS_GRPC_CANCELLED = 1,
	LENS_GRPC_UNKNOWN = 2,
	LENS_GRPC_DEADLINE_EXCEEDED = 4,
	LENS_GRPC_PERMISSION_DENIED = 7,
	LENS_GRPC_RESOURCE_EXHAUSTED = 8,
	LENS_GRPC_ABORTED = 10,
	LENS_GRPC_OUT_OF_RANGE = 11,
	LENS_GRPC_UNIMPLEMENTED = 12,
	LENS_GRPC_INTERNAL = 13,
	LENS_GRPC_UNAVAILABLE = 14,
	LENS_GRPC_DATA_LOSS = 15,
	LENS_GRPC_UNAUTHENTICATED = 16,
};

/* How a call ended, as its trailers say (gRPC over HTTP/2, Responses). */
struct lens_grpc_status {
	int code;                        /* -1: no grpc-status arrived */
	char message[LENS_RESULT_WORDS]; /* the server's words, fit for a log line */
	bool retry_info;                 /* google.rpc.RetryInfo was among the details */
	int64_t retry_ms;                /* its delay; 0 when it names none */
};

#define LENS_GRPC_STATUS_INIT ((struct lens_grpc_status){ .code = -1 })

/* Takes one header or trailer, NAME of NAME_LENGTH bytes in any case; others than
 * grpc-status, grpc-message and grpc-status-details-bin do nothing. */
void lens_grpc_status_header(struct lens_grpc_status *status, const char *name, size_t name_length,
			     const char *value);

/* What an answer with the HTTP status HTTP and without grpc-status counts as (gRPC,
 * doc/http-grpc-status-mapping.md). */
int lens_grpc_code_of_http(long http);

const char *lens_grpc_code_name(int code); /* "UNAVAILABLE"; "code" for what is none of gRPC's */

#endif
