/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_EMIT_H
#define LENS_JOB_EMIT_H

#include "lib/core/identity.h"
#include "lib/otlp/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Adds spans FIRST to FIRST + LIMIT - 1 of a sequence to a group. A span outside is NULL,
 * which the span functions take: so each sequence is written down once, as if it were
 * always sent whole.
 */
struct lens_emit {
	struct lens_group *group;
	struct lens_trace_id own;  /* the attempt's own trace, which span ids hash */
	struct lens_trace_id wire; /* the trace the spans are sent in */
	const char *source;        /* slurm.source; NULL: slurmstepd */
	uint32_t attempt;
	bool factual;
	size_t index, first, limit;
	size_t added;
	bool failed; /* memory ran out */
};

/* A span NAME at PLACE with the attributes that all of lens's spans have. */
struct lens_span *lens_emit_span(struct lens_emit *emit, const char *name, const char *place);

/* Makes the span NAME at PLACE SPAN's parent. */
void lens_emit_parent(struct lens_emit *emit, struct lens_span *span, const char *name,
		      const char *place);

/* Status ERROR with `error.type` and MESSAGE. */
void lens_emit_error(struct lens_span *span, const char *type, const char *message);

#endif
