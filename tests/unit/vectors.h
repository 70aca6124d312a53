/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_UNIT_VECTORS_H
#define LENS_TESTS_UNIT_VECTORS_H

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

/* The JSON of tests/vectors/NAME; fails the test when it cannot be read. The caller
 * puts it. Include cmocka.h first. */
static inline json_object *vectors_load(const char *name)
{
	const char *root = getenv("LENS_TEST_SRCDIR");
	json_object *root_object;
	char *path;

	if (!root)
		root = getenv("srcdir");
	if (asprintf(&path, "%s/tests/vectors/%s", root ? root : ".", name) < 0)
		fail_msg("out of memory");
	root_object = json_object_from_file(path);
	if (!root_object)
		fail_msg("%s: %s", path, json_util_get_last_err());
	free(path);
	return root_object;
}

/* KEY of OBJECT; fails the test when it is not there. Borrowed; NULL is JSON's null. */
static inline json_object *vectors_get(json_object *object, const char *key)
{
	json_object *value = NULL;

	if (!json_object_object_get_ex(object, key, &value))
		fail_msg("no `%s` in %s", key, json_object_to_json_string(object));
	return value;
}

/* A string of OBJECT, or NULL for JSON's null; borrowed. */
static inline const char *vectors_string(json_object *object, const char *key)
{
	json_object *value = vectors_get(object, key);

	return value ? json_object_get_string(value) : NULL;
}

/* The array KEY of OBJECT, which must not be empty: a lost file is no passed test. */
static inline size_t vectors_array(json_object *object, const char *key, json_object **out)
{
	size_t length;

	*out = key ? vectors_get(object, key) : object;
	length = json_object_array_length(*out);
	assert_true(length > 0);
	return length;
}

#endif
