/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_READ_H
#define LENS_OTLP_READ_H

#include "lib/core/error.h"
#include "lib/core/identity.h"
#include "lib/core/text.h"
#include "lib/otlp/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads spans out of OTLP/JSON lines: ours, and those of any other writer that follows the
 * specification (OTLP, JSON Protobuf Encoding; file-exporter.md), as the Collector's file
 * exporter does. What other writers do is taken too: 64-bit integers as numbers, hex in
 * capitals, null for what is not there. Bytes are hostile; nothing in a line is trusted.
 */

/* A line is at most what one OTLP request may be; a longer one is not read. */
#define LENS_READ_LINE_MAX ((size_t)64 << 20)

/* One span while its line is being read; the rest of it by the functions below. */
struct lens_read_span {
	struct lens_trace_id trace;
	struct lens_span_id span;
	struct lens_span_id parent; /* when has_parent */
	bool has_parent;
	uint64_t start_ns;
	uint64_t end_ns; /* never before start_ns */
	enum lens_span_status status;
	bool capitals; /* its ids are written in capitals: unusual, but right */
	/* Of the JSON; valid inside the callback. */
	struct json_object *json;
	struct json_object *resource; /* NULL: none */
	struct json_object *scope;    /* NULL: none */
};

/* What a line was. */
struct lens_read_counts {
	uint64_t spans; /* handed to the callback */
	uint64_t bad;   /* spans without valid ids or times */
};

/* Returns 0 to go on; anything else ends the line and is what lens_read_line returns. */
typedef int lens_read_fn(void *context, const struct lens_read_span *span);

/*
 * Calls FN for each span in LINE of LENGTH bytes, without its newline. JSON of other signals
 * (metrics, logs) and an empty line hold no span and are no mistake. Adds to COUNTS. 0; -1
 * with ERR when LINE is no JSON object, is cut, nests deeper than 64, or memory ran out; else
 * what FN returned.
 */
int lens_read_line(const char *line, size_t length, lens_read_fn *fn, void *context,
		   struct lens_read_counts *counts, struct lens_error *err);

/* Adds the name as valid UTF-8, a NUL in it as U+FFFD. */
void lens_read_name(const struct lens_read_span *span, struct lens_text *out);

/*
 * Adds the value of attribute KEY of the span or of its resource, as people read it (an array
 * as `[a, b]`). False when it has none; OUT is then unchanged.
 */
bool lens_read_attribute(const struct lens_read_span *span, const char *key, struct lens_text *out);
bool lens_read_resource(const struct lens_read_span *span, const char *key, struct lens_text *out);

#endif
