/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/env.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lens_env {
	char **strings; /* ended by NULL */
	size_t count;
	size_t capacity; /* of strings, the NULL included */
};

/* What follows `NAME=` in STRING, or NULL when STRING is another variable. */
static const char *value_of(const char *string, const char *name, size_t name_length)
{
	if (strncmp(string, name, name_length) != 0 || string[name_length] != '=')
		return NULL;
	return string + name_length + 1;
}

const char *lens_env_get(char *const *env, const char *name)
{
	size_t length = strlen(name);

	for (; env && *env; env++) {
		const char *value = value_of(*env, name, length);

		if (value)
			return value;
	}
	return NULL;
}

const char *lens_env_get_nonempty(char *const *env, const char *name)
{
	const char *value = lens_env_get(env, name);

	return value && *value ? value : NULL;
}

/* Orders strings by the name before `=`, those of one name by their place (after them what
 * is a name without `=`). */
static int compare_names(const void *left, const void *right)
{
	const char *const *a = *(const char *const *const *)left;
	const char *const *b = *(const char *const *const *)right;
	size_t a_length = (size_t)(strchrnul(*a, '=') - *a);
	size_t b_length = (size_t)(strchrnul(*b, '=') - *b);
	int order = memcmp(*a, *b, a_length < b_length ? a_length : b_length);

	if (order == 0)
		order = (a_length > b_length) - (a_length < b_length);
	if (order == 0)
		order = ((*b)[b_length] == '=') - ((*a)[a_length] == '=');
	return order ? order : (a > b) - (a < b);
}

static bool same_name(const char *a, const char *b)
{
	return value_of(b, a, (size_t)(strchrnul(a, '=') - a)) != NULL;
}

/* Takes out each variable whose name is there before. 0, or -1 when memory ran out. */
static int drop_repeats(struct lens_env *env)
{
	char ***sorted = calloc(env->count + 1, sizeof(*sorted));
	size_t kept = 0;

	if (!sorted)
		return -1;
	for (size_t i = 0; i < env->count; i++)
		sorted[i] = &env->strings[i];
	qsort(sorted, env->count, sizeof(*sorted), compare_names);
	/* Backwards: the string to compare with is then still there. */
	for (size_t i = env->count; i > 1; i--) {
		char **repeat = sorted[i - 1];

		if (same_name(*sorted[i - 2], *repeat)) {
			free(*repeat);
			*repeat = NULL;
		}
	}
	free(sorted);
	for (size_t i = 0; i < env->count; i++) {
		if (env->strings[i])
			env->strings[kept++] = env->strings[i];
	}
	env->strings[kept] = NULL;
	env->count = kept;
	return 0;
}

struct lens_env *lens_env_create(char *const *env)
{
	struct lens_env *copy = calloc(1, sizeof(*copy));
	size_t count = 0;

	if (!copy)
		return NULL;
	while (env && env[count])
		count++;
	copy->capacity = count + 32;
	copy->strings = calloc(copy->capacity, sizeof(*copy->strings));
	if (!copy->strings)
		goto failed;
	for (; copy->count < count; copy->count++) {
		copy->strings[copy->count] = strdup(env[copy->count]);
		if (!copy->strings[copy->count])
			goto failed;
	}
	if (drop_repeats(copy) < 0)
		goto failed;
	return copy;
failed:
	lens_env_destroy(copy);
	return NULL;
}

void lens_env_destroy(struct lens_env *env)
{
	int saved = errno;

	if (!env)
		return;
	for (size_t i = 0; i < env->count; i++)
		free(env->strings[i]);
	free(env->strings);
	free(env);
	errno = saved;
}

static void take_out(struct lens_env *env, size_t index)
{
	free(env->strings[index]);
	memmove(&env->strings[index], &env->strings[index + 1],
		(env->count - index) * sizeof(*env->strings));
	env->count--;
}

/* Adds STRING at the end and takes it over, also when it fails. */
static int append(struct lens_env *env, char *string)
{
	if (env->count + 1 == env->capacity) {
		char **strings = reallocarray(env->strings, env->capacity * 2, sizeof(*strings));

		if (!strings) {
			free(string);
			return -1;
		}
		env->strings = strings;
		env->capacity *= 2;
	}
	env->strings[env->count++] = string;
	env->strings[env->count] = NULL;
	return 0;
}

int lens_env_set(struct lens_env *env, const char *name, const char *value)
{
	size_t length = strlen(name), index = 0;
	char *string = NULL;

	while (index < env->count && !value_of(env->strings[index], name, length))
		index++;
	if (!value) {
		if (index < env->count)
			take_out(env, index);
		return 0;
	}
	if (asprintf(&string, "%s=%s", name, value) < 0)
		return -1;
	if (index == env->count)
		return append(env, string);
	free(env->strings[index]);
	env->strings[index] = string;
	return 0;
}

char *const *lens_env_array(const struct lens_env *env)
{
	return env->strings;
}
