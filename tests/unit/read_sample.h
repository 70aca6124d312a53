/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_UNIT_READ_SAMPLE_H
#define LENS_TESTS_UNIT_READ_SAMPLE_H

#include "lib/otlp/kept.h"

#include <stdio.h>
#include <string.h>

#define SAMPLE_TRACE "0102030405060708090a0b0c0d0e0f10"

/* A line of one span: ids are the numbers ID and PARENT (0: none), times seconds after 1000; MORE
 * is JSON behind its members, like `,"status":{"code":2}`, ATTRIBUTES inside its list, RESOURCE
 * inside the resource's. Valid until the next call. */
static inline const char *sample_line(unsigned int id, unsigned int parent, const char *name,
				      double start, double end, const char *attributes,
				      const char *more, const char *resource)
{
	static char line[4096];
	char parent_text[64] = "";

	if (parent != 0)
		snprintf(parent_text, sizeof(parent_text), "\"parentSpanId\":\"%016x\",", parent);
	snprintf(
		line, sizeof(line),
		"{\"resourceSpans\":[{\"resource\":{\"attributes\":[%s]},\"scopeSpans\":[{\"scope\":"
		"{\"name\":\"slurm-lens\"},\"spans\":[{\"traceId\":\"" SAMPLE_TRACE "\","
		"\"spanId\":\"%016x\",%s\"name\":\"%s\",\"startTimeUnixNano\":\"%.0f\","
		"\"endTimeUnixNano\":\"%.0f\",\"attributes\":[%s]%s}]}]}]}",
		resource, id, parent_text, name, (1000 + start) * 1e9, (1000 + end) * 1e9,
		attributes, more);
	return line;
}

static inline int sample_keep(void *context, const struct lens_read_span *span)
{
	return lens_kept_add(context, span) == -1 ? 1 : 0;
}

/* Keeps the spans of LINE. */
static inline void sample_add(struct lens_kept *kept, const char *line)
{
	struct lens_read_counts counts = { 0 };
	struct lens_error err = LENS_ERROR_INIT;

	if (lens_read_line(line, strlen(line), sample_keep, kept, &counts, &err) != 0)
		fail_msg("%s: %s", err.text, line);
	assert_int_equal(counts.bad, 0);
}

#define SAMPLE_STRING(key, text) "{\"key\":\"" key "\",\"value\":{\"stringValue\":\"" text "\"}}"
#define SAMPLE_INT(key, text)    "{\"key\":\"" key "\",\"value\":{\"intValue\":\"" text "\"}}"

#endif
