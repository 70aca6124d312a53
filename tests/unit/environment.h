/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_UNIT_ENVIRONMENT_H
#define LENS_TESTS_UNIT_ENVIRONMENT_H

#include "lib/core/carrier.h"
#include "lib/core/env.h"
#include "lib/core/resource.h"
#include "lib/core/text.h"

#include <stdlib.h>
#include <string.h>

/* Environments as tests write and read them. Include cmocka.h first. */

/* A new environment of the strings; the caller destroys. */
#define environment(...) environment_make((const char *const[]){ __VA_ARGS__, NULL })

static inline struct lens_env *environment_make(const char *const *strings)
{
	struct lens_env *env = lens_env_create((char *const *)strings);

	assert_non_null(env);
	return env;
}

/* As ENV, and in its place: one that borrows nothing. */
static inline struct lens_env *environment_keep(struct lens_env *env)
{
	struct lens_env *own = lens_env_create(NULL);

	assert_non_null(own);
	for (char *const *string = lens_env_array(env); *string; string++) {
		size_t length = strcspn(*string, "=");
		char *name = strndup(*string, length);

		assert_true(name && (*string)[length] == '=');
		assert_int_equal(lens_env_set(own, name, *string + length + 1), 0);
		free(name);
	}
	lens_env_destroy(env);
	return own;
}

/* Sets NAME; the test fails when memory runs out. */
static inline void environment_set(struct lens_env *env, const char *name, const char *value)
{
	assert_int_equal(lens_env_set(env, name, value), 0);
}

static inline void expect_text(const char *what, const char *got, const char *want, int line)
{
	if (!got && !want)
		return;
	if (!got || !want || strcmp(got, want) != 0)
		fail_msg("line %d: %s is `%.300s`, not `%.300s`", line, what, got ? got : "(none)",
			 want ? want : "(none)");
}

/* The variable NAME has VALUE; NULL: it is not there. */
#define assert_variable(env, name, value) \
	expect_text(name, lens_env_get(lens_env_array(env), name), value, __LINE__)

static inline struct lens_carrier *carrier_make(const char *text)
{
	struct lens_carrier *carrier = lens_carrier_create();

	assert_non_null(carrier);
	assert_int_equal(lens_carrier_parse(carrier, text, NULL), 0);
	return carrier;
}

static inline void expect_key(struct lens_env *env, const char *key, const char *want, int line)
{
	struct lens_carrier *carrier =
		carrier_make(lens_env_get(lens_env_array(env), LENS_ATTRIBUTES_NAME));

	expect_text(key, lens_carrier_get(carrier, key), want, line);
	lens_carrier_destroy(carrier);
}

/* The carrier in ENV has VALUE under KEY; NULL: it is not there. */
#define assert_key(env, key, value) expect_key(env, key, value, __LINE__)

static inline int compare_strings(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The strings of ENV, sorted, one a line; the caller frees. */
static inline char *environment_lines(char *const *env)
{
	struct lens_text text = LENS_TEXT_INIT;
	size_t count = 0;
	char **sorted;

	while (env && env[count])
		count++;
	sorted = calloc(count + 1, sizeof(*sorted));
	assert_non_null(sorted);
	for (size_t i = 0; i < count; i++)
		sorted[i] = env[i];
	qsort(sorted, count, sizeof(*sorted), compare_strings);
	for (size_t i = 0; i < count; i++)
		lens_text_addf(&text, "%s\n", sorted[i]);
	free(sorted);
	return lens_text_take(&text);
}

static inline void expect_same(struct lens_env *got, struct lens_env *want, int line)
{
	char *got_lines = environment_lines(lens_env_array(got));
	char *want_lines = environment_lines(lens_env_array(want));

	expect_text("the environment", got_lines, want_lines, line);
	free(got_lines);
	free(want_lines);
}

/* The same variables with the same values, in any order. */
#define assert_same_environment(got, want) expect_same(got, want, __LINE__)

#endif
