/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/interval.h"

#include "lib/core/show.h"
#include "lib/core/timestamp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BLANKS " \t\r\n"

static void interval_clear(struct lens_interval *interval)
{
	free(interval->name);
	free(interval->parent);
	free(interval->message);
	json_object_put(interval->attributes);
	*interval = (struct lens_interval){ 0 };
}

void lens_intervals_clear(struct lens_intervals *list)
{
	int saved = errno;

	for (size_t i = 0; i < list->count; i++)
		interval_clear(&list->items[i]);
	free(list->items);
	*list = LENS_INTERVALS_INIT;
	errno = saved;
}

struct lens_interval *lens_intervals_grow(struct lens_intervals *list)
{
	struct lens_interval *items;

	if (list->count == list->capacity) {
		size_t capacity = list->capacity > 0 ? 2 * list->capacity : 16;

		items = reallocarray(list->items, capacity, sizeof(*items));
		if (items == NULL)
			return NULL;
		list->items = items;
		list->capacity = capacity;
	}
	items = &list->items[list->count++];
	*items = (struct lens_interval){ .kind = LENS_KIND_INTERNAL };
	return items;
}

void lens_intervals_shrink(struct lens_intervals *list)
{
	interval_clear(&list->items[--list->count]);
}

#define FIELDS 4

/* Cuts TEXT at its commas, blanks around the parts. How many there are, also beyond FIELDS. */
static size_t fields_split(char *text, char *fields[FIELDS])
{
	size_t count = 0;

	while (text != NULL) {
		char *next = strchr(text, ',');
		size_t length;

		if (next != NULL)
			*next++ = '\0';
		text += strspn(text, BLANKS);
		for (length = strlen(text); length > 0 && strchr(BLANKS, text[length - 1]);)
			text[--length] = '\0';
		if (count < FIELDS)
			fields[count] = text;
		count++;
		text = next;
	}
	return count;
}

static int time_read(int64_t *out, const char *what, const char *text, int64_t now_ns,
		     struct lens_error *err)
{
	struct lens_error why;
	struct lens_shown shown;

	if (*text == '\0')
		return lens_error_set(err, "its %s is missing", what);
	if (lens_timestamp_parse(text, now_ns, out, &why) == 0)
		return 0;
	return lens_error_set(err, "its %s `%s`: %s", what, lens_shown_value(&shown, text),
			      why.text);
}

static int interval_fill(struct lens_interval *interval, char *text, int64_t now_ns,
			 struct lens_error *err)
{
	char *fields[FIELDS] = { NULL };
	size_t count = fields_split(text, fields);

	if (count < 3 || count > FIELDS)
		return lens_error_set(err, "it is not NAME,START,END[,PARENT]");
	if (*fields[0] == '\0')
		return lens_error_set(err, "its name is missing");
	if (time_read(&interval->start_ns, "start", fields[1], now_ns, err) == -1 ||
	    time_read(&interval->end_ns, "end", fields[2], now_ns, err) == -1)
		return -1;
	interval->name = strdup(fields[0]);
	if (count == FIELDS && *fields[3] != '\0') {
		interval->parent = strdup(fields[3]);
		if (interval->parent == NULL)
			return lens_error_set(err, "out of memory");
	}
	return interval->name == NULL ? lens_error_set(err, "out of memory") : 0;
}

int lens_intervals_add(struct lens_intervals *list, const char *text, int64_t now_ns,
		       struct lens_error *err)
{
	struct lens_interval *interval = lens_intervals_grow(list);
	char *copy = strdup(text);
	int rc = -1;

	if (interval == NULL || copy == NULL)
		lens_error_set(err, "out of memory");
	else
		rc = interval_fill(interval, copy, now_ns, err);
	free(copy);
	if (interval != NULL && rc == -1)
		lens_intervals_shrink(list);
	return rc;
}

int lens_interval_attribute(struct lens_interval *interval, const char *key, const char *value)
{
	json_object *string = json_object_new_string(value);

	if (interval->attributes == NULL)
		interval->attributes = json_object_new_object();
	if (string == NULL || interval->attributes == NULL ||
	    json_object_object_add(interval->attributes, key, string) != 0) {
		json_object_put(string);
		return -1;
	}
	return 0;
}

int lens_interval_status(struct lens_interval *interval, const char *text)
{
	const char *message = strchr(text, ':');
	size_t length = message != NULL ? (size_t)(message - text) : strlen(text);
	char *copy = NULL;

	if (length == strlen("error") && strncasecmp(text, "error", length) == 0)
		interval->status = LENS_STATUS_ERROR;
	else if (message == NULL && strcasecmp(text, "ok") == 0)
		interval->status = LENS_STATUS_OK;
	else if (message == NULL && strcasecmp(text, "unset") == 0)
		interval->status = LENS_STATUS_UNSET;
	else
		return -1;
	if (message != NULL) {
		copy = strdup(message + 1);
		if (copy == NULL)
			return -1;
	}
	free(interval->message);
	interval->message = copy;
	interval->status_set = true;
	return 0;
}

int lens_interval_kind(struct lens_interval *interval, const char *text)
{
	static const char *const names[] = {
		[LENS_KIND_INTERNAL] = "internal", [LENS_KIND_SERVER] = "server",
		[LENS_KIND_CLIENT] = "client",     [LENS_KIND_PRODUCER] = "producer",
		[LENS_KIND_CONSUMER] = "consumer",
	};

	for (size_t i = LENS_KIND_INTERNAL; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcasecmp(text, names[i]) == 0) {
			interval->kind = (enum lens_span_kind)i;
			interval->kind_set = true;
			return 0;
		}
	}
	return -1;
}

static void strings_add(struct lens_attributes *attributes, const char *key, json_object *array)
{
	size_t count = json_object_array_length(array);
	const char **strings = calloc(count + 1, sizeof(*strings));

	for (size_t i = 0; strings != NULL && i < count; i++)
		strings[i] = json_object_get_string(json_object_array_get_idx(array, i));
	if (strings != NULL)
		lens_attributes_strings(attributes, key, strings, count);
	free(strings);
}

static void attributes_add(struct lens_attributes *attributes, json_object *object)
{
	if (object == NULL)
		return;
	json_object_object_foreach (object, key, value) {
		switch (json_object_get_type(value)) {
		case json_type_int:
			lens_attributes_int(attributes, key, json_object_get_int64(value));
			break;
		case json_type_double:
			lens_attributes_double(attributes, key, json_object_get_double(value));
			break;
		case json_type_boolean:
			lens_attributes_bool(attributes, key, json_object_get_boolean(value));
			break;
		case json_type_array:
			strings_add(attributes, key, value);
			break;
		default:
			lens_attributes_string(attributes, key, json_object_get_string(value));
			break;
		}
	}
}

void lens_intervals_build(struct lens_group *group, const struct lens_intervals *list,
			  const struct lens_interval_place *place, const struct lens_span_id *ids,
			  size_t first, size_t count)
{
	for (size_t i = first; i < first + count; i++) {
		const struct lens_interval *interval = &list->items[i];
		struct lens_span *span =
			lens_group_add_span(group, &place->trace, &ids[i], interval->name);

		if (interval->parent != NULL)
			lens_span_set_parent(span, &ids[interval->parent_at]);
		else if (place->parent != NULL)
			lens_span_set_parent(span, place->parent);
		lens_span_set_window(span, interval->start_ns, interval->end_ns);
		lens_span_set_kind(span, interval->kind);
		lens_span_set_flags(span, place->flags);
		if (interval->status == LENS_STATUS_ERROR)
			lens_span_set_error(span,
					    interval->message != NULL ? interval->message : "");
		else if (interval->status == LENS_STATUS_OK)
			lens_span_set_ok(span);
		attributes_add(lens_span_attributes(span), interval->attributes);
	}
}
