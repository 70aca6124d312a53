/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_TRACEPARENT_H
#define LENS_CORE_TRACEPARENT_H

#include "lib/core/identity.h"

/* A TRACEPARENT (W3C Trace Context level 2; OpenTelemetry context/env-carriers.md). */
struct lens_traceparent {
	struct lens_trace_id trace;
	struct lens_span_id span;
	uint8_t flags; /* of version 00: 01 sampled, 02 random */
};

#define LENS_TRACEPARENT_TEXT 56

/*
 * Reads TEXT (NULL is invalid): lower-case hex only; version 00 is exactly 55
 * characters; a later version may go on after a `-`; version ff, a zero trace or a
 * zero span, white space around it: invalid. 0, or -1 and *OUT untouched.
 */
int lens_traceparent_parse(struct lens_traceparent *out, const char *text);

/* Always version 00. */
void lens_traceparent_format(char out[LENS_TRACEPARENT_TEXT], const struct lens_traceparent *value);

#endif
