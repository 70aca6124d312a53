/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/env.h"

#include "lib/core/hash.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct lens_env {
	char **strings; /* ended by NULL; borrowed but for those that are in owned */
	size_t count;
	size_t capacity; /* of strings, the NULL included */
	char **owned;    /* all that lens_env_set made, also what it replaced since */
	size_t owned_count;
	size_t owned_capacity;
};

/* What follows `NAME=` in STRING, or NULL when STRING is another variable. */
static const char *value_of(const char *string, const char *name, size_t name_length)
{
	/* Most strings are told apart by their first byte, without a call. */
	if (*string != *name || strncmp(string, name, name_length) != 0 ||
	    string[name_length] != '=')
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

/* Whether the variable of STRING is in SLOTS, a hash table of MASK + 1; if not, it then is. What
 * has no `=` is no variable. */
static bool is_repeat(char **slots, size_t mask, char *string)
{
	const char *equals = strchr(string, '=');
	size_t length = equals ? (size_t)(equals - string) : 0;
	size_t slot;

	if (!equals)
		return false;
	for (slot = lens_hash32(string, length) & mask; slots[slot]; slot = (slot + 1) & mask)
		if (value_of(slots[slot], string, length))
			return true;
	slots[slot] = string;
	return false;
}

/* Takes out each variable whose name is there before. 0, or -1 when memory ran out. */
static int drop_repeats(struct lens_env *env)
{
	size_t size = 64, kept = 0;
	char **slots;

	while (size < env->count * 2)
		size *= 2;
	slots = calloc(size, sizeof(*slots));
	if (!slots)
		return -1;
	for (size_t i = 0; i < env->count; i++) {
		if (!is_repeat(slots, size - 1, env->strings[i]))
			env->strings[kept++] = env->strings[i];
	}
	env->strings[kept] = NULL;
	env->count = kept;
	free(slots);
	return 0;
}

struct lens_env *lens_env_create(char *const *env)
{
	struct lens_env *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return NULL;
	while (env && env[copy->count])
		copy->count++;
	copy->capacity = copy->count + 32;
	copy->strings = calloc(copy->capacity, sizeof(*copy->strings));
	if (!copy->strings)
		goto failed;
	if (copy->count > 0)
		memcpy(copy->strings, env, copy->count * sizeof(*env));
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
	for (size_t i = 0; i < env->owned_count; i++)
		free(env->owned[i]);
	free(env->owned);
	free(env->strings);
	free(env);
	errno = saved;
}

static void take_out(struct lens_env *env, size_t index)
{
	memmove(&env->strings[index], &env->strings[index + 1],
		(env->count - index) * sizeof(*env->strings));
	env->count--;
}

/* Makes room in *ARRAY for one more after COUNT. 0, or -1 when memory ran out. */
static int reserve(char ***array, size_t count, size_t *capacity)
{
	size_t larger = *capacity ? *capacity * 2 : 32;
	char **moved;

	if (count < *capacity)
		return 0;
	moved = reallocarray(*array, larger, sizeof(**array));
	if (!moved)
		return -1;
	*array = moved;
	*capacity = larger;
	return 0;
}

/* `NAME=VALUE`, ENV's own; NULL when memory ran out. */
static char *string_make(struct lens_env *env, const char *name, const char *value)
{
	size_t length = strlen(name), value_size = strlen(value) + 1;
	char *string;

	if (reserve(&env->owned, env->owned_count, &env->owned_capacity) < 0)
		return NULL;
	string = malloc(length + 1 + value_size);
	if (!string)
		return NULL;
	memcpy(string, name, length);
	string[length] = '=';
	memcpy(string + length + 1, value, value_size);
	env->owned[env->owned_count++] = string;
	return string;
}

int lens_env_set(struct lens_env *env, const char *name, const char *value)
{
	size_t length = strlen(name), index = 0;
	char *string;

	while (index < env->count && !value_of(env->strings[index], name, length))
		index++;
	if (!value) {
		if (index < env->count)
			take_out(env, index);
		return 0;
	}
	string = string_make(env, name, value);
	if (!string || (index == env->count &&
			reserve(&env->strings, env->count + 1, &env->capacity) < 0))
		return -1;
	env->strings[index] = string;
	if (index == env->count)
		env->strings[++env->count] = NULL;
	return 0;
}

char *const *lens_env_array(const struct lens_env *env)
{
	return env->strings;
}
