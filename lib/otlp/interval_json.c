/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/interval.h"

#include "lib/core/show.h"
#include "lib/core/timestamp.h"
#include "lib/otlp/json_parse.h"

#include <stdlib.h>
#include <string.h>

/* json-c's parser calls itself for each level. */
#define DEPTH_MAX 8

static int is_type(json_object *value, enum json_type type, const char *key, const char *takes,
		   struct lens_error *err)
{
	if (json_object_get_type(value) != type)
		return lens_error_set(err, "`%s` is not %s", key, takes);
	/* A NUL would cut it. */
	if (type == json_type_string &&
	    strlen(json_object_get_string(value)) != (size_t)json_object_get_string_len(value))
		return lens_error_set(err, "`%s` holds a NUL", key);
	return 0;
}

static int string_take(char **out, json_object *value, const char *key, struct lens_error *err)
{
	if (is_type(value, json_type_string, key, "a string", err) == -1)
		return -1;
	free(*out);
	*out = strdup(json_object_get_string(value));
	return *out == NULL ? lens_error_set(err, "out of memory") : 0;
}

/* A number's own text: as a double it would lose the last digits. */
static int time_take(int64_t *out, json_object *value, const char *key, int64_t now_ns,
		     struct lens_error *err)
{
	enum json_type type = json_object_get_type(value);
	struct lens_error why;
	struct lens_shown shown;
	const char *text;

	if (type != json_type_int && type != json_type_double && type != json_type_string)
		return lens_error_set(err, "`%s` is not a number or a string", key);
	text = type == json_type_string
		       ? json_object_get_string(value)
		       : json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN);
	if (text == NULL)
		return lens_error_set(err, "out of memory");
	if (lens_timestamp_parse(text, now_ns, out, &why) == 0)
		return 0;
	return lens_error_set(err, "`%s`, `%s`: %s", key, lens_shown_value(&shown, text), why.text);
}

static int attribute_check(const char *key, json_object *value, struct lens_error *err)
{
	static const char takes[] =
		"a string, a number, a boolean or an array of strings, as an attribute must be";
	struct lens_shown shown;
	const char *name = lens_shown_value(&shown, key);

	if (*key == '\0')
		return lens_error_set(err, "an attribute has no name");
	switch (json_object_get_type(value)) {
	case json_type_string:
		return is_type(value, json_type_string, name, takes, err);
	case json_type_int:
	case json_type_double:
	case json_type_boolean:
		return 0;
	case json_type_array:
		for (size_t i = 0; i < json_object_array_length(value); i++) {
			if (is_type(json_object_array_get_idx(value, i), json_type_string, name,
				    takes, err) == -1)
				return -1;
		}
		return 0;
	default:
		return lens_error_set(err, "`%s` is not %s", name, takes);
	}
}

static int attributes_take(struct lens_interval *interval, json_object *value,
			   struct lens_error *err)
{
	if (is_type(value, json_type_object, "attributes", "an object", err) == -1)
		return -1;
	json_object_object_foreach (value, key, item) {
		if (attribute_check(key, item, err) == -1)
			return -1;
	}
	interval->attributes = json_object_get(value);
	return 0;
}

static int word_take(struct lens_interval *interval, const char *key, json_object *value,
		     struct lens_error *err)
{
	bool kind = strcmp(key, "kind") == 0;
	const char *takes = kind ? LENS_TAKES_KIND : LENS_TAKES_STATUS;
	const char *word;

	if (is_type(value, json_type_string, key, takes, err) == -1)
		return -1;
	word = json_object_get_string(value);
	if ((kind ? lens_interval_kind(interval, word) : lens_interval_status(interval, word)) ==
	    -1)
		return lens_error_set(err, "`%s` is not %s", key, takes);
	return 0;
}

static int member_take(struct lens_interval *interval, const char *key, json_object *value,
		       int64_t now_ns, struct lens_error *err)
{
	struct lens_shown shown;

	if (strcmp(key, "name") == 0)
		return string_take(&interval->name, value, key, err);
	if (strcmp(key, "start") == 0)
		return time_take(&interval->start_ns, value, key, now_ns, err);
	if (strcmp(key, "end") == 0)
		return time_take(&interval->end_ns, value, key, now_ns, err);
	if (strcmp(key, "parent") == 0)
		return value == NULL ? 0 : string_take(&interval->parent, value, key, err);
	if (strcmp(key, "kind") == 0 || strcmp(key, "status") == 0)
		return word_take(interval, key, value, err);
	if (strcmp(key, "message") == 0)
		return 0; /* after the status, whatever their order */
	if (strcmp(key, "attributes") == 0)
		return attributes_take(interval, value, err);
	return lens_error_set(err, "it has no member `%s`", lens_shown_value(&shown, key));
}

static int object_take(struct lens_interval *interval, json_object *object, int64_t now_ns,
		       struct lens_error *err)
{
	json_object *message;

	if (!json_object_is_type(object, json_type_object))
		return lens_error_set(err, "it is no JSON object");
	json_object_object_foreach (object, key, value) {
		if (member_take(interval, key, value, now_ns, err) == -1)
			return -1;
	}
	if (json_object_object_get_ex(object, "message", &message) &&
	    string_take(&interval->message, message, "message", err) == -1)
		return -1;
	if (interval->message != NULL && interval->status != LENS_STATUS_ERROR)
		return lens_error_set(err, "a `message` goes with the status error");
	if (interval->name == NULL || *interval->name == '\0')
		return lens_error_set(err, "its name is missing");
	if (!json_object_object_get_ex(object, "start", NULL) ||
	    !json_object_object_get_ex(object, "end", NULL))
		return lens_error_set(err, "its start or its end is missing");
	if (interval->parent != NULL && *interval->parent == '\0') {
		free(interval->parent);
		interval->parent = NULL;
	}
	return 0;
}

int lens_intervals_add_json(struct lens_intervals *list, const char *line, size_t length,
			    int64_t now_ns, struct lens_error *err)
{
	const struct lens_json_wanted wanted = { .nesting = DEPTH_MAX, .utf8 = true };
	json_object *object = lens_json_parse(line, length, &wanted, err);
	struct lens_interval *interval = NULL;
	int rc = -1;

	if (object == NULL)
		return -1;
	interval = lens_intervals_grow(list);
	if (interval == NULL)
		lens_error_set(err, "out of memory");
	else
		rc = object_take(interval, object, now_ns, err);
	if (interval != NULL && rc == -1)
		lens_intervals_shrink(list);
	json_object_put(object);
	return rc;
}
