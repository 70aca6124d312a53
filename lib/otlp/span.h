/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_SPAN_H
#define LENS_OTLP_SPAN_H

#include "lib/core/identity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Spans as OTLP has them, without a wire format: groups of spans, each under one
 * resource, all of one scope. A batch owns all that is added to it (strings are copied
 * into it) and is freed at once.
 *
 * A function that adds returns NULL or -1 when memory ran out and marks the batch failed:
 * a caller may go on (NULL is taken everywhere and does nothing) and ask lens_batch_failed once.
 */
struct lens_batch;
struct lens_group;
struct lens_span;
struct lens_attributes;

/* OTLP's numbers. A span is INTERNAL unless it is told. */
enum lens_span_kind {
	LENS_KIND_INTERNAL = 1,
	LENS_KIND_SERVER,
	LENS_KIND_CLIENT,
	LENS_KIND_PRODUCER,
	LENS_KIND_CONSUMER,
};

/* Likewise; UNSET unless it is told. */
enum lens_span_status {
	LENS_STATUS_UNSET,
	LENS_STATUS_OK,
	LENS_STATUS_ERROR,
};

struct lens_batch *lens_batch_create(const char *scope_name, const char *scope_version);
void lens_batch_destroy(struct lens_batch *batch);
bool lens_batch_failed(const struct lens_batch *batch);
size_t lens_batch_span_count(const struct lens_batch *batch);
/* Bytes of memory: about what JSON takes on the wire, protobuf half of it. */
size_t lens_batch_bytes(const struct lens_batch *batch);

/* A new, empty group; its resource is filled through lens_group_resource. Owned by the batch. */
struct lens_group *lens_batch_add_group(struct lens_batch *batch);
struct lens_attributes *lens_group_resource(struct lens_group *group);

struct lens_span *lens_group_add_span(struct lens_group *group, const struct lens_trace_id *trace,
				      const struct lens_span_id *span, const char *name);
void lens_span_set_parent(struct lens_span *span, const struct lens_span_id *parent);
/* Nanoseconds since the epoch; an end before the start is set to the start. */
void lens_span_set_window(struct lens_span *span, int64_t start_ns, int64_t end_ns);
void lens_span_set_kind(struct lens_span *span, enum lens_span_kind kind);
void lens_span_set_flags(struct lens_span *span, uint8_t flags);       /* W3C; else 01 */
void lens_span_set_ok(struct lens_span *span);                         /* status OK, else UNSET */
void lens_span_set_error(struct lens_span *span, const char *message); /* status ERROR */
struct lens_attributes *lens_span_attributes(struct lens_span *span);
/* A link, flags 01. Its attributes, or NULL. */
struct lens_attributes *lens_span_add_link(struct lens_span *span,
					   const struct lens_trace_id *trace,
					   const struct lens_span_id *linked);

/* Adding a key again replaces its value. Strings are made valid UTF-8 (protobuf demands it). */
void lens_attributes_string(struct lens_attributes *attributes, const char *key, const char *value);
void lens_attributes_int(struct lens_attributes *attributes, const char *key, int64_t value);
void lens_attributes_bool(struct lens_attributes *attributes, const char *key, bool value);
void lens_attributes_double(struct lens_attributes *attributes, const char *key, double value);
/* An array of COUNT strings. */
void lens_attributes_strings(struct lens_attributes *attributes, const char *key,
			     const char *const *values, size_t count);

#endif
