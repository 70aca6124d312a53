/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/json_response.h"

#include "lib/core/number.h"
#include "lib/otlp/json_parse.h"

#include <json-c/json.h>

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
	const struct lens_json_wanted wanted = { .nesting = JSON_TOKENER_DEFAULT_DEPTH };
	struct json_object *root;
	int rc;

	if (length == 0) {
		*out = (struct lens_partial_success){ 0 };
		return 0;
	}
	root = lens_json_parse(bytes, length, &wanted, NULL);
	if (root == NULL)
		return -1;
	rc = partial_read(out, json_object_object_get(root, "partialSuccess"));
	json_object_put(root);
	return rc;
}
