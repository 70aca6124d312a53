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
	char **strings; /* ended by NULL */
	size_t count;
	size_t capacity; /* of strings, the NULL included */
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
		if (is_repeat(slots, size - 1, env->strings[i]))
			free(env->strings[i]);
		else
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
	size_t length = strlen(name), index = 0, value_size;
	char *string;

	while (index < env->count && !value_of(env->strings[index], name, length))
		index++;
	if (!value) {
		if (index < env->count)
			take_out(env, index);
		return 0;
	}
	value_size = strlen(value) + 1;
	string = malloc(length + 1 + value_size);
	if (!string)
		return -1;
	memcpy(string, name, length);
	string[length] = '=';
	memcpy(string + length + 1, value, value_size);
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
