/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/kept.h"

#include "lib/core/hash.h"
#include "lib/otlp/arena.h"
#include "lib/otlp/read_value.h"

#include <json-c/json.h>

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct resource_entry {
	struct lens_kept_resource resource;
	uint8_t digest[LENS_SHA256_BYTES]; /* of its JSON */
};

struct lens_kept {
	struct lens_arena *arena;
	struct lens_kept_span **spans;
	size_t count, capacity;
	void *ids;       /* tsearch, of spans */
	void *resources; /* tsearch, of resource_entry */
	size_t resource_count;
};

struct lens_kept *lens_kept_create(void)
{
	struct lens_kept *kept = calloc(1, sizeof(*kept));

	if (kept != NULL)
		kept->arena = lens_arena_create();
	if (kept == NULL || kept->arena == NULL) {
		free(kept);
		return NULL;
	}
	return kept;
}

static void entry_keep(void *entry)
{
	(void)entry; /* the arena's */
}

void lens_kept_destroy(struct lens_kept *kept)
{
	int saved = errno;

	if (kept == NULL)
		return;
	tdestroy(kept->ids, entry_keep);
	tdestroy(kept->resources, entry_keep);
	lens_arena_destroy(kept->arena);
	free(kept->spans);
	free(kept);
	errno = saved;
}

size_t lens_kept_count(const struct lens_kept *kept)
{
	return kept->count;
}

const struct lens_kept_span *lens_kept_at(const struct lens_kept *kept, size_t index)
{
	return kept->spans[index];
}

const char *lens_kept_text(const struct lens_kept_list *list, const char *key)
{
	for (size_t i = list->count; i > 0; i--)
		if (strcmp(list->items[i - 1].key, key) == 0)
			return list->items[i - 1].text;
	return NULL;
}

static int ids_compare(const void *left, const void *right)
{
	const struct lens_kept_span *a = left, *b = right;
	int order = memcmp(&a->span, &b->span, sizeof(a->span));

	return order != 0 ? order : memcmp(&a->trace, &b->trace, sizeof(a->trace));
}

static int digest_compare(const void *left, const void *right)
{
	const struct resource_entry *a = left, *b = right;

	return memcmp(a->digest, b->digest, sizeof(a->digest));
}

/* What READ adds of VALUE, in the arena; "" when memory ran out. */
static const char *text_copy(struct lens_arena *arena, struct json_object *value,
			     void (*read)(struct json_object *, struct lens_text *))
{
	struct lens_text text = LENS_TEXT_INIT;
	char *copy = NULL;

	read(value, &text);
	if (!text.failed)
		copy = lens_arena_copy(arena, text.length > 0 ? text.data : "", text.length);
	else
		lens_arena_alloc(arena, SIZE_MAX, 2); /* fails, and so tells the caller */
	lens_text_clear(&text);
	return copy != NULL ? copy : "";
}

static struct lens_kept_list list_copy(struct lens_arena *arena, struct json_object *owner)
{
	struct json_object *attributes = lens_read_member(owner, "attributes");
	size_t count = lens_read_count(attributes);
	struct lens_kept_attribute *items =
		count > 0 ? lens_arena_alloc(arena, count, sizeof(*items)) : NULL;

	if (items == NULL)
		return (struct lens_kept_list){ 0 };
	for (size_t i = 0; i < count; i++) {
		struct json_object *item = json_object_array_get_idx(attributes, i);

		items[i].key = text_copy(arena, lens_read_member(item, "key"), lens_read_string);
		items[i].text = text_copy(arena, lens_read_member(item, "value"), lens_read_any);
	}
	return (struct lens_kept_list){ .items = items, .count = count };
}

/* The copy of JSON, made when there is no equal one. NULL when memory ran out. */
static const struct lens_kept_resource *resource_keep(struct lens_kept *kept,
						      struct json_object *json)
{
	const char *text = json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN);
	struct resource_entry wanted, *entry;
	struct resource_entry **found;

	if (text == NULL)
		return NULL;
	lens_sha256(wanted.digest, text, strlen(text));
	found = tfind(&wanted, &kept->resources, digest_compare);
	if (found != NULL)
		return &(*found)->resource;
	entry = lens_arena_alloc(kept->arena, 1, sizeof(*entry));
	if (entry == NULL)
		return NULL;
	memcpy(entry->digest, wanted.digest, sizeof(entry->digest));
	entry->resource.attributes = list_copy(kept->arena, json);
	entry->resource.number = kept->resource_count;
	if (lens_arena_failed(kept->arena) ||
	    tsearch(entry, &kept->resources, digest_compare) == NULL)
		return NULL;
	kept->resource_count++;
	return &entry->resource;
}

static void links_copy(struct lens_arena *arena, struct lens_kept_span *out,
		       struct json_object *links)
{
	size_t count = lens_read_count(links);
	struct lens_kept_link *copies =
		count > 0 ? lens_arena_alloc(arena, count, sizeof(*copies)) : NULL;

	for (size_t i = 0; copies != NULL && i < count; i++)
		if (lens_read_ids(json_object_array_get_idx(links, i),
				  &copies[out->link_count].trace,
				  &copies[out->link_count].span) == 0)
			out->link_count++;
	out->links = copies;
}

static void events_copy(struct lens_arena *arena, struct lens_kept_span *out,
			struct json_object *events)
{
	size_t count = lens_read_count(events);
	struct lens_kept_event *copies =
		count > 0 ? lens_arena_alloc(arena, count, sizeof(*copies)) : NULL;

	for (size_t i = 0; copies != NULL && i < count; i++) {
		struct json_object *event = json_object_array_get_idx(events, i);
		struct json_object *time = lens_read_member(event, "timeUnixNano");

		if (lens_read_uint64(time, &copies[i].time_ns) != 0)
			copies[i].time_ns = out->start_ns;
		copies[i].name =
			text_copy(arena, lens_read_member(event, "name"), lens_read_string);
		copies[i].attributes = list_copy(arena, event);
		out->event_count++;
	}
	out->events = copies;
}

static void span_fill(struct lens_arena *arena, struct lens_kept_span *out,
		      const struct lens_read_span *span)
{
	struct json_object *status = lens_read_member(span->json, "status");

	out->trace = span->trace;
	out->span = span->span;
	out->parent = span->parent;
	out->has_parent = span->has_parent;
	out->start_ns = span->start_ns;
	out->end_ns = span->end_ns;
	out->status = span->status;
	out->message = text_copy(arena, lens_read_member(status, "message"), lens_read_string);
	out->name = text_copy(arena, lens_read_member(span->json, "name"), lens_read_string);
	out->scope = text_copy(arena, lens_read_member(span->scope, "name"), lens_read_string);
	out->attributes = list_copy(arena, span->json);
	links_copy(arena, out, lens_read_member(span->json, "links"));
	events_copy(arena, out, lens_read_member(span->json, "events"));
}

static int room_make(struct lens_kept *kept)
{
	size_t capacity = kept->capacity > 0 ? 2 * kept->capacity : 64;
	struct lens_kept_span **spans;

	if (kept->count < kept->capacity)
		return 0;
	spans = reallocarray(kept->spans, capacity, sizeof(struct lens_kept_span *));
	if (spans == NULL)
		return -1;
	kept->spans = spans;
	kept->capacity = capacity;
	return 0;
}

int lens_kept_add(struct lens_kept *kept, const struct lens_read_span *span)
{
	const struct lens_kept_span wanted = { .trace = span->trace, .span = span->span };
	struct lens_kept_span *copy;

	if (tfind(&wanted, &kept->ids, ids_compare) != NULL)
		return 0;
	copy = lens_arena_alloc(kept->arena, 1, sizeof(*copy));
	if (copy == NULL || room_make(kept) == -1)
		return -1;
	span_fill(kept->arena, copy, span);
	copy->resource = resource_keep(kept, span->resource);
	if (copy->resource == NULL || lens_arena_failed(kept->arena) ||
	    tsearch(copy, &kept->ids, ids_compare) == NULL)
		return -1;
	kept->spans[kept->count++] = copy;
	return 1;
}
