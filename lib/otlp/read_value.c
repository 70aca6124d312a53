/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/read_value.h"

#include "lib/core/encoding.h"
#include "lib/core/number.h"

#include <json-c/json.h>

#include <ctype.h>
#include <string.h>

struct json_object *lens_read_member(struct json_object *object, const char *key)
{
	struct json_object *member = NULL;

	if (!json_object_is_type(object, json_type_object))
		return NULL;
	json_object_object_get_ex(object, key, &member);
	return member;
}

size_t lens_read_count(struct json_object *array)
{
	return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

int lens_read_uint64(struct json_object *value, uint64_t *out)
{
	if (json_object_is_type(value, json_type_string))
		return lens_uint64_parse(json_object_get_string(value), out);
	if (!json_object_is_type(value, json_type_int) ||
	    (json_object_get_int64(value) < 0 && json_object_get_uint64(value) == 0))
		return -1;
	*out = json_object_get_uint64(value);
	return 0;
}

void lens_read_hex(struct json_object *value, char *hex, size_t size)
{
	const char *text = "";

	if (json_object_is_type(value, json_type_string))
		text = json_object_get_string(value);
	if (strlen(text) != size - 1)
		text = "";
	for (; *text != '\0'; text++)
		*hex++ = (char)tolower((unsigned char)*text);
	*hex = '\0';
}

int lens_read_ids(struct json_object *owner, struct lens_trace_id *trace, struct lens_span_id *span)
{
	char trace_hex[LENS_TRACE_HEX], span_hex[LENS_SPAN_HEX];

	lens_read_hex(lens_read_member(owner, "traceId"), trace_hex, sizeof(trace_hex));
	lens_read_hex(lens_read_member(owner, "spanId"), span_hex, sizeof(span_hex));
	return lens_trace_id_parse(trace, trace_hex) == 0 && lens_span_id_parse(span, span_hex) == 0
		       ? 0
		       : -1;
}

void lens_read_string(struct json_object *value, struct lens_text *out)
{
	const char *bytes;
	size_t length;

	if (!json_object_is_type(value, json_type_string))
		return;
	bytes = json_object_get_string(value);
	length = (size_t)json_object_get_string_len(value);
	while (length > 0) {
		size_t plain = strnlen(bytes, length);

		lens_utf8_add(out, bytes, plain);
		if (plain < length) {
			lens_text_adds(out, "\xef\xbf\xbd");
			plain++;
		}
		bytes += plain;
		length -= plain;
	}
}

/* A number or a word of JSON, as it was written. */
static void scalar_add(struct json_object *value, struct lens_text *out)
{
	if (json_object_is_type(value, json_type_string))
		lens_read_string(value, out);
	else if (!json_object_is_type(value, json_type_object) &&
		 !json_object_is_type(value, json_type_array))
		lens_text_adds(out, json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN));
}

static void array_add(struct json_object *values, struct lens_text *out)
{
	size_t count = lens_read_count(values);

	lens_text_adds(out, "[");
	for (size_t i = 0; i < count; i++) {
		lens_text_adds(out, i > 0 ? ", " : "");
		lens_read_any(json_object_array_get_idx(values, i), out);
	}
	lens_text_adds(out, "]");
}

static void list_add(struct json_object *values, struct lens_text *out)
{
	size_t count = lens_read_count(values);

	lens_text_adds(out, "{");
	for (size_t i = 0; i < count; i++) {
		struct json_object *item = json_object_array_get_idx(values, i);

		lens_text_adds(out, i > 0 ? ", " : "");
		lens_read_string(lens_read_member(item, "key"), out);
		lens_text_adds(out, "=");
		lens_read_any(lens_read_member(item, "value"), out);
	}
	lens_text_adds(out, "}");
}

/* Recursion ends with the parser's limit on nesting. */
void lens_read_any(struct json_object *value, struct lens_text *out)
{
	static const char *const scalars[] = {
		"stringValue", "intValue", "boolValue", "doubleValue", "bytesValue",
	};
	struct json_object *member;

	for (size_t i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++) {
		member = lens_read_member(value, scalars[i]);
		if (member != NULL) {
			scalar_add(member, out);
			return;
		}
	}
	member = lens_read_member(value, "arrayValue");
	if (member != NULL)
		array_add(lens_read_member(member, "values"), out);
	else if ((member = lens_read_member(value, "kvlistValue")) != NULL)
		list_add(lens_read_member(member, "values"), out);
}

struct json_object *lens_read_find(struct json_object *list, const char *key)
{
	for (size_t i = lens_read_count(list); i > 0; i--) {
		struct json_object *item = json_object_array_get_idx(list, i - 1);
		struct json_object *name = lens_read_member(item, "key");

		if (json_object_is_type(name, json_type_string) &&
		    strcmp(json_object_get_string(name), key) == 0)
			return lens_read_member(item, "value");
	}
	return NULL;
}
