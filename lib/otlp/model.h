/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_MODEL_H
#define LENS_OTLP_MODEL_H

#include "lib/otlp/arena.h"
#include "lib/otlp/span.h"

/*
 * What a batch is made of, for the encoders alone: they read it, span.c builds it. All
 * of it lies in the batch's arena; lists keep the order of adding.
 */
enum lens_value_kind {
	LENS_VALUE_STRING,
	LENS_VALUE_INT,
	LENS_VALUE_BOOL,
	LENS_VALUE_DOUBLE,
	LENS_VALUE_STRINGS,
};

struct lens_value {
	enum lens_value_kind kind;
	union {
		const char *string; /* strings here are valid UTF-8, never NULL */
		int64_t integer;
		bool boolean;
		double number;
		struct {
			const char **items;
			size_t count;
		} strings;
	};
};

struct lens_attribute {
	struct lens_attribute *next;
	const char *key;
	size_t key_length;
	struct lens_value value;
};

struct lens_attributes {
	struct lens_batch *batch;
	struct lens_attribute *first;
	struct lens_attribute **end;
	size_t count;
};

struct lens_link {
	struct lens_link *next;
	struct lens_trace_id trace;
	struct lens_span_id span;
	struct lens_attributes attributes;
};

struct lens_span {
	struct lens_span *next;
	struct lens_batch *batch;
	struct lens_trace_id trace;
	struct lens_span_id span;
	struct lens_span_id parent;
	bool has_parent;
	enum lens_span_kind kind;
	bool is_ok; /* status OK, unless is_error */
	bool is_error;
	const char *error; /* is_error: its message, "" for none */
	uint8_t flags;     /* W3C trace flags */
	const char *name;
	uint64_t start_ns;
	uint64_t end_ns;
	struct lens_attributes attributes;
	struct lens_link *links;
	struct lens_link **links_end;
	size_t link_count;
};

struct lens_group {
	struct lens_group *next;
	struct lens_batch *batch;
	struct lens_attributes resource;
	struct lens_span *spans;
	struct lens_span **spans_end;
	size_t span_count;
};

struct lens_batch {
	struct lens_arena *arena;
	bool failed;
	const char *scope_name;
	const char *scope_version;
	struct lens_group *groups; /* one without spans is not sent */
	struct lens_group **groups_end;
	size_t span_count;
};

/* W3C trace flags of every link, and of a span where nobody says others: sampled. Whether a parent
 * is remote is left unsaid (OTLP's bits 8 and 9). */
#define LENS_SPAN_FLAGS 0x01

#endif
