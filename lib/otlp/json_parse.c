/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/json_parse.h"

#include <json-c/json.h>

#include <limits.h>
#include <string.h>

static bool only_space(const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (bytes[i] == '\0' || strchr(" \t\r\n", bytes[i]) == NULL)
			return false;
	}
	return true;
}

static struct json_object *whole_parse(struct json_tokener *tokener, const char *bytes,
				       size_t length, struct lens_error *err)
{
	struct json_object *root = json_tokener_parse_ex(tokener, bytes, (int)length);
	enum json_tokener_error error = json_tokener_get_error(tokener);
	size_t end = json_tokener_get_parse_end(tokener);
	bool all = error == json_tokener_continue && end == length;

	/* The end is what a number without anything behind it waits for. */
	if (all) {
		root = json_tokener_parse_ex(tokener, "", -1);
		error = json_tokener_get_error(tokener);
	}
	/* json-c takes a NUL for the end, even before LENGTH. */
	if (error == json_tokener_error_parse_eof || error == json_tokener_continue)
		lens_error_set(err, all ? "it is cut" : "it is no JSON: a NUL is in it");
	else if (error != json_tokener_success)
		lens_error_set(err, "it is no JSON: %s", json_tokener_error_desc(error));
	else if (end < length && !only_space(bytes + end, length - end))
		lens_error_set(err, "it is no JSON: there is more behind its end");
	else if (!json_object_is_type(root, json_type_object))
		lens_error_set(err, "it is no JSON object");
	else
		return root;
	json_object_put(root);
	return NULL;
}

struct json_object *lens_json_parse(const char *bytes, size_t length,
				    const struct lens_json_wanted *wanted, struct lens_error *err)
{
	struct json_tokener *tokener;
	struct json_object *root;

	if (length >= INT_MAX) {
		lens_error_set(err, "it is too long");
		return NULL;
	}
	tokener = json_tokener_new_ex(wanted->nesting);
	if (tokener == NULL) {
		lens_error_set(err, "out of memory");
		return NULL;
	}
	if (wanted->utf8)
		json_tokener_set_flags(tokener, JSON_TOKENER_VALIDATE_UTF8);
	root = whole_parse(tokener, bytes, length, err);
	json_tokener_free(tokener);
	return root;
}
