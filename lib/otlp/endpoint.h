/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_ENDPOINT_H
#define LENS_OTLP_ENDPOINT_H

#include "lib/core/error.h"

#include <stdbool.h>

/*
 * Where traces go, made of a base URL (OpenTelemetry specification, protocol/exporter.md:
 * `v1/traces` is joined to the path with one slash; a query stays behind it).
 */
struct lens_endpoint {
	char *url;    /* what is connected to; may hold a password */
	char *shown;  /* the same for messages, without user and password */
	bool doubled; /* the base ended in `v1/traces` already: right by the rules, rarely meant */
};

/*
 * Resolves BASE: http or https (any case), a host, an IPv6 address in brackets; no
 * fragment. 0 and the caller clears *OUT, or -1 with ERR showing BASE as
 * lens_endpoint_redact does; *OUT is then empty.
 */
int lens_endpoint_resolve(struct lens_endpoint *out, const char *base, struct lens_error *err);

/* As lens_endpoint_resolve for gRPC: path and query of BASE do not count, the path is the
 * service's method. */
int lens_endpoint_resolve_grpc(struct lens_endpoint *out, const char *base, struct lens_error *err);
/* As lens_endpoint_resolve, but nothing is joined to the path, an empty one is `/`: what
 * OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is by the specification. */
int lens_endpoint_resolve_whole(struct lens_endpoint *out, const char *url, struct lens_error *err);
void lens_endpoint_clear(struct lens_endpoint *endpoint);

/*
 * URL, well-formed or not, as a message may show it: all before the last `@` is `***`, a
 * query is left out, control characters are `?`. The caller frees; NULL: no memory.
 */
char *lens_endpoint_redact(const char *url);

#endif
