/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_KEPT_H
#define LENS_OTLP_KEPT_H

#include "lib/otlp/read.h"

/*
 * Copies of spans that were read (lib/otlp/read.h), for as long as somebody looks at them. Each
 * span once, whatever was sent twice; equal resources share one copy. Strings are valid UTF-8,
 * never NULL; values are texts as people read them.
 */
struct lens_kept_attribute {
	const char *key;
	const char *text;
};

struct lens_kept_list {
	const struct lens_kept_attribute *items;
	size_t count;
};

struct lens_kept_resource {
	size_t number; /* of the distinct resources, from 0 on */
	struct lens_kept_list attributes;
};

struct lens_kept_link {
	struct lens_trace_id trace;
	struct lens_span_id span;
};

struct lens_kept_event {
	uint64_t time_ns;
	const char *name;
	struct lens_kept_list attributes;
};

struct lens_kept_span {
	struct lens_trace_id trace;
	struct lens_span_id span;
	struct lens_span_id parent;
	bool has_parent;
	uint64_t start_ns;
	uint64_t end_ns;
	enum lens_span_status status;
	const char *message; /* of the status */
	const char *name;
	const char *scope; /* its name */
	struct lens_kept_list attributes;
	const struct lens_kept_resource *resource;
	const struct lens_kept_link *links;
	size_t link_count;
	const struct lens_kept_event *events;
	size_t event_count;
};

struct lens_kept;

struct lens_kept *lens_kept_create(void); /* NULL: no memory */
void lens_kept_destroy(struct lens_kept *kept);

/*
 * Keeps a copy of SPAN, in a callback of lens_read_line. 1 when it is new, 0 when one of its
 * trace and span id is there (the first stays), -1 when memory ran out.
 */
int lens_kept_add(struct lens_kept *kept, const struct lens_read_span *span);

size_t lens_kept_count(const struct lens_kept *kept);
/* In the order of adding; owned by KEPT. INDEX is below the count. */
const struct lens_kept_span *lens_kept_at(const struct lens_kept *kept, size_t index);

/* The text of KEY, NULL when LIST has none. */
const char *lens_kept_text(const struct lens_kept_list *list, const char *key);

#endif
