/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/json_response.h"

#include "lib/core/number.h"

#include <json-c/json.h>

#include <limits.h>
#include <string.h>

/* 0 and *OUT, unset for null and for a key that is not there; -1 for another type. */
static int rejected_read(const struct json_object *value, uint64_t *out)
{
	int64_t rejected = 0;

	switch (json_object_get_type(value)) {
	case json_type_null:
		return 0;
	case json_type_int:
		rejected = json_object_get_int64(value);
		break;
	case json_type_string:
		if (lens_int64_parse(json_object_get_string((struct json_object *)value),
				     &rejected) != 0)
			return -1;
		break;
	default:
		return -1;
	}
	*out = rejected > 0 ? (uint64_t)rejected : 0;
	return 0;
}

static int partial_read(struct lens_partial_success *out, struct json_object *partial)
{
	struct lens_partial_success read = { 0 };
	struct json_object *message;

	if (json_object_is_type(partial, json_type_null)) {
		*out = read;
		return 0;
	}
	if (!json_object_is_type(partial, json_type_object) ||
	    rejected_read(json_object_object_get(partial, "rejectedSpans"), &read.rejected) < 0)
		return -1;
	message = json_object_object_get(partial, "errorMessage");
	if (json_object_is_type(message, json_type_string))
		lens_result_words(read.message, json_object_get_string(message));
	else if (message)
		return -1;
	*out = read;
	return 0;
}

int lens_json_response_parse(struct lens_partial_success *out, const char *bytes, size_t length)
{
	struct json_tokener *tokener;
	struct json_object *root = NULL;
	int rc = -1;

	if (length == 0) {
		*out = (struct lens_partial_success){ 0 };
		return 0;
	}
	tokener = length < INT_MAX ? json_tokener_new() : NULL;
	if (!tokener)
		return -1;
	/* The NUL after the bytes ends a number or a word at the end. */
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	root = json_tokener_parse_ex(tokener, bytes, (int)length);
	if (json_tokener_get_error(tokener) == json_tokener_success &&
	    json_object_is_type(root, json_type_object))
		rc = partial_read(out, json_object_object_get(root, "partialSuccess"));
	json_object_put(root);
	json_tokener_free(tokener);
	return rc;
}
