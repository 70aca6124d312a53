/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_RETRY_H
#define LENS_OTLP_RETRY_H

#include "lib/otlp/exporter.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What becomes of a batch, and when: pure functions (OTLP specification, the tables of
 * retryable codes of OTLP/gRPC and OTLP/HTTP).
 */
enum lens_transport {
	LENS_TRANSPORT_HTTP,      /* a final status line arrived, whatever became of the rest */
	LENS_TRANSPORT_GRPC,      /* a grpc-status arrived, or counts as arrived */
	LENS_TRANSPORT_FAILED,    /* refused, reset, closed, timed out, given up: no status */
	LENS_TRANSPORT_TOO_LARGE, /* the request is beyond what a server takes: never sent */
};

/*
 * STATUS is HTTP's or gRPC's and counts for these two alone, RETRY_INFO (the server gave a
 * google.rpc.RetryInfo) for gRPC's RESOURCE_EXHAUSTED. What was taken is done although
 * the answer's body may be unreadable: sending it again would double the spans.
 */
enum lens_verdict lens_retry_verdict(enum lens_transport transport, long status, bool retry_info);

/* The longest Retry-After that is believed: a server's mistake shall not silence a site. */
#define LENS_RETRY_AFTER_MAX_MS (24 * INT64_C(3600000))

/*
 * A Retry-After field's value: whole seconds, or an HTTP-date (RFC 9110, 5.6.7) as seen
 * at NOW (seconds since the epoch); blanks around it are allowed. Milliseconds to wait from
 * NOW, 0 for a date that is over, at most LENS_RETRY_AFTER_MAX_MS; -1 for anything else.
 */
int64_t lens_retry_after_parse(const char *text, int64_t now);

/*
 * Milliseconds before try number ATTEMPT + 1, ATTEMPT failures in a row being behind: a
 * second, doubled each time up to a minute, of which RANDOM (uniform over all its
 * values) takes away up to one half, so that nodes that failed together do not come back together.
 */
int64_t lens_retry_backoff_ms(unsigned int attempt, uint32_t random);

#endif
