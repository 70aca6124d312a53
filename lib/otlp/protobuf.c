/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/protobuf.h"

#include "lib/otlp/arena.h"
#include "lib/otlp/model.h"
#include "lib/otlp/trace.pb-c.h"

#include <stdlib.h>
#include <string.h>

/*
 * The tree that protobuf-c packs lies in one arena and borrows the batch's strings and
 * ids, hence the casts: packing only reads. A node that memory ran out for leaves a NULL
 * and a failed arena behind, and nothing is packed.
 */
#define TREE_NEW(arena, variable, init)                                         \
	do {                                                                    \
		(variable) = lens_arena_alloc((arena), 1, sizeof(*(variable))); \
		if (variable)                                                   \
			init(variable);                                         \
	} while (0)

static ProtobufCBinaryData tree_bytes(const uint8_t *bytes, size_t length)
{
	return (ProtobufCBinaryData){ .len = length, .data = (uint8_t *)bytes };
}

static Lens__Otlp__AnyValue *tree_string(struct lens_arena *arena, const char *string)
{
	Lens__Otlp__AnyValue *node;

	TREE_NEW(arena, node, lens__otlp__any_value__init);
	if (!node)
		return NULL;
	node->value_case = LENS__OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	node->string_value = (char *)string;
	return node;
}

static Lens__Otlp__ArrayValue *tree_strings(struct lens_arena *arena, const char *const *items,
					    size_t count)
{
	Lens__Otlp__ArrayValue *node;

	TREE_NEW(arena, node, lens__otlp__array_value__init);
	if (!node)
		return NULL;
	node->values = lens_arena_alloc(arena, count, sizeof(*node->values));
	if (!node->values)
		return NULL;
	for (node->n_values = 0; node->n_values < count; node->n_values++)
		node->values[node->n_values] = tree_string(arena, items[node->n_values]);
	return node;
}

static Lens__Otlp__AnyValue *tree_value(struct lens_arena *arena, const struct lens_value *value)
{
	Lens__Otlp__AnyValue *node = tree_string(arena, "");

	if (!node)
		return NULL;
	switch (value->kind) {
	case LENS_VALUE_STRING:
		node->string_value = (char *)value->string;
		break;
	case LENS_VALUE_INT:
		node->value_case = LENS__OTLP__ANY_VALUE__VALUE_INT_VALUE;
		node->int_value = value->integer;
		break;
	case LENS_VALUE_BOOL:
		node->value_case = LENS__OTLP__ANY_VALUE__VALUE_BOOL_VALUE;
		node->bool_value = value->boolean;
		break;
	case LENS_VALUE_DOUBLE:
		node->value_case = LENS__OTLP__ANY_VALUE__VALUE_DOUBLE_VALUE;
		node->double_value = value->number;
		break;
	case LENS_VALUE_STRINGS:
		node->value_case = LENS__OTLP__ANY_VALUE__VALUE_ARRAY_VALUE;
		node->array_value = tree_strings(arena, value->strings.items, value->strings.count);
		break;
	}
	return node;
}

static Lens__Otlp__KeyValue **
tree_attributes(struct lens_arena *arena, const struct lens_attributes *attributes, size_t *count)
{
	Lens__Otlp__KeyValue **nodes = lens_arena_alloc(arena, attributes->count, sizeof(*nodes));
	const struct lens_attribute *attribute;

	if (!nodes)
		return NULL;
	*count = 0;
	for (attribute = attributes->first; attribute; attribute = attribute->next) {
		Lens__Otlp__KeyValue *node;

		TREE_NEW(arena, node, lens__otlp__key_value__init);
		if (!node)
			return NULL;
		node->key = (char *)attribute->key;
		node->value = tree_value(arena, &attribute->value);
		nodes[(*count)++] = node;
	}
	return nodes;
}

static Lens__Otlp__Link *tree_link(struct lens_arena *arena, const struct lens_link *link)
{
	Lens__Otlp__Link *node;

	TREE_NEW(arena, node, lens__otlp__link__init);
	if (!node)
		return NULL;
	node->trace_id = tree_bytes(link->trace.bytes, sizeof(link->trace.bytes));
	node->span_id = tree_bytes(link->span.bytes, sizeof(link->span.bytes));
	node->attributes = tree_attributes(arena, &link->attributes, &node->n_attributes);
	node->flags = LENS_SPAN_FLAGS;
	return node;
}

static Lens__Otlp__Status *tree_status(struct lens_arena *arena, const struct lens_span *span)
{
	Lens__Otlp__Status *node;

	TREE_NEW(arena, node, lens__otlp__status__init);
	if (!node)
		return NULL;
	node->code = span->is_error ? LENS__OTLP__STATUS_CODE__STATUS_ERROR
				    : LENS__OTLP__STATUS_CODE__STATUS_OK;
	if (span->is_error)
		node->message = (char *)span->error;
	return node;
}

static Lens__Otlp__Span *tree_span(struct lens_arena *arena, const struct lens_span *span)
{
	Lens__Otlp__Span *node;
	const struct lens_link *link;

	TREE_NEW(arena, node, lens__otlp__span__init);
	if (!node)
		return NULL;
	node->trace_id = tree_bytes(span->trace.bytes, sizeof(span->trace.bytes));
	node->span_id = tree_bytes(span->span.bytes, sizeof(span->span.bytes));
	if (span->has_parent)
		node->parent_span_id = tree_bytes(span->parent.bytes, sizeof(span->parent.bytes));
	node->name = (char *)span->name;
	node->kind = (Lens__Otlp__SpanKind)span->kind;
	node->start_time_unix_nano = span->start_ns;
	node->end_time_unix_nano = span->end_ns;
	node->attributes = tree_attributes(arena, &span->attributes, &node->n_attributes);
	node->links = lens_arena_alloc(arena, span->link_count, sizeof(*node->links));
	if (!node->links)
		return NULL;
	for (link = span->links; link; link = link->next)
		node->links[node->n_links++] = tree_link(arena, link);
	if (span->is_error || span->is_ok)
		node->status = tree_status(arena, span);
	node->flags = span->flags;
	return node;
}

static Lens__Otlp__ScopeSpans *tree_scope(struct lens_arena *arena, const struct lens_batch *batch,
					  const struct lens_group *group)
{
	Lens__Otlp__ScopeSpans *node;
	const struct lens_span *span;

	TREE_NEW(arena, node, lens__otlp__scope_spans__init);
	if (!node)
		return NULL;
	TREE_NEW(arena, node->scope, lens__otlp__scope__init);
	node->spans = lens_arena_alloc(arena, group->span_count, sizeof(*node->spans));
	if (!node->scope || !node->spans)
		return NULL;
	node->scope->name = (char *)batch->scope_name;
	node->scope->version = (char *)batch->scope_version;
	for (span = group->spans; span; span = span->next)
		node->spans[node->n_spans++] = tree_span(arena, span);
	return node;
}

static Lens__Otlp__ResourceSpans *
tree_group(struct lens_arena *arena, const struct lens_batch *batch, const struct lens_group *group)
{
	Lens__Otlp__ResourceSpans *node;

	TREE_NEW(arena, node, lens__otlp__resource_spans__init);
	if (!node)
		return NULL;
	TREE_NEW(arena, node->resource, lens__otlp__resource__init);
	node->scope_spans = lens_arena_alloc(arena, 1, sizeof(*node->scope_spans));
	if (!node->resource || !node->scope_spans)
		return NULL;
	node->resource->attributes =
		tree_attributes(arena, &group->resource, &node->resource->n_attributes);
	node->scope_spans[0] = tree_scope(arena, batch, group);
	node->n_scope_spans = 1;
	return node;
}

static int tree_request(struct lens_arena *arena, const struct lens_batch *batch,
			Lens__Otlp__ExportRequest *request)
{
	const struct lens_group *group;
	size_t count = 0;

	for (group = batch->groups; group; group = group->next)
		count++;
	request->resource_spans = lens_arena_alloc(arena, count, sizeof(*request->resource_spans));
	for (group = batch->groups; group && !lens_arena_failed(arena); group = group->next)
		if (group->span_count > 0)
			request->resource_spans[request->n_resource_spans++] =
				tree_group(arena, batch, group);
	return lens_arena_failed(arena) ? -1 : 0;
}

uint8_t *lens_protobuf_encode(const struct lens_batch *batch, size_t *length)
{
	Lens__Otlp__ExportRequest request = LENS__OTLP__EXPORT_REQUEST__INIT;
	struct lens_arena *arena = lens_arena_create();
	uint8_t *bytes = NULL;

	if (!arena || tree_request(arena, batch, &request) < 0)
		goto out;
	*length = lens__otlp__export_request__get_packed_size(&request);
	bytes = malloc(*length ? *length : 1);
	if (bytes)
		lens__otlp__export_request__pack(&request, bytes);
out:
	lens_arena_destroy(arena);
	return bytes;
}

int lens_protobuf_response_parse(struct lens_partial_success *out, const uint8_t *bytes,
				 size_t length)
{
	Lens__Otlp__ExportResponse *response =
		lens__otlp__export_response__unpack(NULL, length, bytes);
	const Lens__Otlp__PartialSuccess *partial;

	if (!response)
		return -1;
	partial = response->partial_success;
	out->rejected =
		partial && partial->rejected_spans > 0 ? (uint64_t)partial->rejected_spans : 0;
	lens_result_words(out->message, partial ? partial->error_message : "");
	lens__otlp__export_response__free_unpacked(response, NULL);
	return 0;
}
