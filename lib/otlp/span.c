/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/span.h"

#include "lib/core/encoding.h"
#include "lib/core/text.h"
#include "lib/otlp/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void *batch_alloc(struct lens_batch *batch, size_t count, size_t size)
{
	void *memory = lens_arena_alloc(batch->arena, count, size);

	if (!memory)
		batch->failed = true;
	return memory;
}

/* STRING (NULL is empty) as valid UTF-8 in the batch's memory; NULL when it ran out. */
static const char *batch_string(struct lens_batch *batch, const char *string)
{
	struct lens_text text = LENS_TEXT_INIT;
	size_t length = string ? strlen(string) : 0;
	const char *copy = NULL;

	if (lens_utf8_valid(string, length)) {
		copy = lens_arena_copy(batch->arena, string, length);
	} else {
		lens_utf8_add(&text, string, length);
		if (!text.failed)
			copy = lens_arena_copy(batch->arena, text.data, text.length);
		lens_text_clear(&text);
	}
	if (!copy)
		batch->failed = true;
	return copy;
}

static void attributes_init(struct lens_attributes *attributes, struct lens_batch *batch)
{
	attributes->batch = batch;
	attributes->end = &attributes->first;
}

struct lens_batch *lens_batch_create(const char *scope_name, const char *scope_version)
{
	struct lens_batch *batch = calloc(1, sizeof(*batch));

	if (!batch)
		return NULL;
	batch->groups_end = &batch->groups;
	batch->arena = lens_arena_create();
	if (!batch->arena)
		goto out;
	batch->scope_name = batch_string(batch, scope_name);
	batch->scope_version = batch_string(batch, scope_version);
out:
	if (!batch->scope_name || !batch->scope_version) {
		lens_batch_destroy(batch);
		return NULL;
	}
	return batch;
}

void lens_batch_destroy(struct lens_batch *batch)
{
	int saved = errno;

	if (!batch)
		return;
	lens_arena_destroy(batch->arena);
	free(batch);
	errno = saved;
}

bool lens_batch_failed(const struct lens_batch *batch)
{
	return !batch || batch->failed;
}

size_t lens_batch_span_count(const struct lens_batch *batch)
{
	return batch ? batch->span_count : 0;
}

size_t lens_batch_bytes(const struct lens_batch *batch)
{
	return batch ? lens_arena_bytes(batch->arena) : 0;
}

struct lens_group *lens_batch_add_group(struct lens_batch *batch)
{
	struct lens_group *group = batch ? batch_alloc(batch, 1, sizeof(*group)) : NULL;

	if (!group)
		return NULL;
	group->batch = batch;
	group->spans_end = &group->spans;
	attributes_init(&group->resource, batch);
	*batch->groups_end = group;
	batch->groups_end = &group->next;
	return group;
}

struct lens_attributes *lens_group_resource(struct lens_group *group)
{
	return group ? &group->resource : NULL;
}

struct lens_span *lens_group_add_span(struct lens_group *group, const struct lens_trace_id *trace,
				      const struct lens_span_id *id, const char *name)
{
	struct lens_span *span = group ? batch_alloc(group->batch, 1, sizeof(*span)) : NULL;

	if (!span)
		return NULL;
	span->name = batch_string(group->batch, name);
	if (!span->name)
		return NULL;
	span->batch = group->batch;
	span->trace = *trace;
	span->span = *id;
	span->kind = LENS_KIND_INTERNAL;
	span->flags = LENS_SPAN_FLAGS;
	span->links_end = &span->links;
	attributes_init(&span->attributes, group->batch);
	*group->spans_end = span;
	group->spans_end = &span->next;
	group->span_count++;
	group->batch->span_count++;
	return span;
}

void lens_span_set_parent(struct lens_span *span, const struct lens_span_id *parent)
{
	if (!span)
		return;
	span->parent = *parent;
	span->has_parent = true;
}

void lens_span_set_window(struct lens_span *span, int64_t start_ns, int64_t end_ns)
{
	if (!span)
		return;
	/* The wire's times are unsigned: a time before 1970 would come out centuries ahead. */
	span->start_ns = start_ns > 0 ? (uint64_t)start_ns : 0;
	span->end_ns = end_ns > 0 ? (uint64_t)end_ns : 0;
	if (span->end_ns < span->start_ns)
		span->end_ns = span->start_ns;
}

void lens_span_set_kind(struct lens_span *span, enum lens_span_kind kind)
{
	if (span)
		span->kind = kind;
}

void lens_span_set_flags(struct lens_span *span, uint8_t flags)
{
	if (span)
		span->flags = flags;
}

void lens_span_set_ok(struct lens_span *span)
{
	if (span)
		span->is_ok = true;
}

void lens_span_set_error(struct lens_span *span, const char *message)
{
	const char *error = span ? batch_string(span->batch, message) : NULL;

	if (!error)
		return;
	span->error = error;
	span->is_error = true;
}

struct lens_attributes *lens_span_attributes(struct lens_span *span)
{
	return span ? &span->attributes : NULL;
}

struct lens_attributes *lens_span_add_link(struct lens_span *span,
					   const struct lens_trace_id *trace,
					   const struct lens_span_id *linked)
{
	struct lens_link *link = span ? batch_alloc(span->batch, 1, sizeof(*link)) : NULL;

	if (!link)
		return NULL;
	link->trace = *trace;
	link->span = *linked;
	attributes_init(&link->attributes, span->batch);
	*span->links_end = link;
	span->links_end = &link->next;
	span->link_count++;
	return &link->attributes;
}

/* The place of KEY's value, added where it is new; NULL when memory ran out. */
static struct lens_value *attributes_place(struct lens_attributes *attributes, const char *key)
{
	struct lens_attribute *attribute;
	const char *valid = batch_string(attributes->batch, key);
	size_t length;

	if (!valid)
		return NULL;
	length = strlen(valid);
	for (attribute = attributes->first; attribute; attribute = attribute->next)
		if (attribute->key_length == length && memcmp(attribute->key, valid, length) == 0)
			return &attribute->value;
	attribute = batch_alloc(attributes->batch, 1, sizeof(*attribute));
	if (!attribute)
		return NULL;
	attribute->key = valid;
	attribute->key_length = length;
	*attributes->end = attribute;
	attributes->end = &attribute->next;
	attributes->count++;
	return &attribute->value;
}

static void attributes_set(struct lens_attributes *attributes, const char *key,
			   struct lens_value value)
{
	struct lens_value *place = attributes ? attributes_place(attributes, key) : NULL;

	if (place)
		*place = value;
}

void lens_attributes_string(struct lens_attributes *attributes, const char *key, const char *value)
{
	struct lens_value out = { .kind = LENS_VALUE_STRING };

	if (!attributes || !value)
		return;
	out.string = batch_string(attributes->batch, value);
	if (out.string)
		attributes_set(attributes, key, out);
}

void lens_attributes_int(struct lens_attributes *attributes, const char *key, int64_t value)
{
	attributes_set(attributes, key,
		       (struct lens_value){ .kind = LENS_VALUE_INT, .integer = value });
}

void lens_attributes_bool(struct lens_attributes *attributes, const char *key, bool value)
{
	attributes_set(attributes, key,
		       (struct lens_value){ .kind = LENS_VALUE_BOOL, .boolean = value });
}

void lens_attributes_double(struct lens_attributes *attributes, const char *key, double value)
{
	attributes_set(attributes, key,
		       (struct lens_value){ .kind = LENS_VALUE_DOUBLE, .number = value });
}

void lens_attributes_strings(struct lens_attributes *attributes, const char *key,
			     const char *const *values, size_t count)
{
	struct lens_value out = { .kind = LENS_VALUE_STRINGS };

	if (!attributes)
		return;
	out.strings.items = batch_alloc(attributes->batch, count, sizeof(*out.strings.items));
	if (!out.strings.items)
		return;
	for (out.strings.count = 0; out.strings.count < count; out.strings.count++) {
		const char *item = batch_string(attributes->batch, values[out.strings.count]);

		if (!item)
			return;
		out.strings.items[out.strings.count] = item;
	}
	attributes_set(attributes, key, out);
}
