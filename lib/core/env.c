/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/env.h"

#include "lib/core/hash.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Where a variable is: the table of an environment has each but once. */
struct slot {
	uint32_t hash;   /* of the name */
	uint32_t number; /* of the string, from 1 on; 0: none was here ever, GONE: one was */
};

#define GONE UINT32_MAX

struct lens_env {
	char **strings; /* ended by NULL; borrowed but for those that are in owned */
	size_t count;
	size_t capacity; /* of strings, the NULL included */
	struct slot *slots;
	size_t slot_count; /* a power of 2 */
	size_t slots_used; /* not 0, GONE included */
	char **owned;      /* all that lens_env_set made, also what it replaced since */
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

static const char *nonempty(const char *value)
{
	return value && *value ? value : NULL;
}

const char *lens_env_get_nonempty(char *const *env, const char *name)
{
	return nonempty(lens_env_get(env, name));
}

/* The slot of the variable NAME; without one, NULL. */
static struct slot *slot_find(const struct lens_env *env, const char *name, size_t length,
			      uint32_t hash)
{
	for (size_t i = hash;; i++) {
		struct slot *slot = &env->slots[i & (env->slot_count - 1)];

		if (slot->number == 0)
			return NULL;
		if (slot->hash == hash && slot->number != GONE &&
		    value_of(env->strings[slot->number - 1], name, length))
			return slot;
	}
}

/* Puts string NUMBER (from 1 on) whose name has HASH into a table with room for it. */
static void slot_fill(struct lens_env *env, uint32_t hash, size_t number)
{
	size_t i = hash;

	while (env->slots[i & (env->slot_count - 1)].number != 0)
		i++;
	env->slots[i & (env->slot_count - 1)] = (struct slot){ hash, (uint32_t)number };
	env->slots_used++;
}

/* A table with room for COUNT variables twice over. 0, or -1 when memory ran out. */
static int slots_make(struct lens_env *env, size_t count)
{
	size_t size = 64;

	while (size < count * 2)
		size *= 2;
	env->slots = calloc(size, sizeof(*env->slots));
	env->slot_count = env->slots ? size : 0;
	env->slots_used = 0;
	return env->slots ? 0 : -1;
}

/* Makes room for one more variable. 0, or -1 when memory ran out; the table is then as it was. */
static int slots_reserve(struct lens_env *env)
{
	struct lens_env old = *env;

	if ((env->slots_used + 1) * 2 <= env->slot_count)
		return 0;
	if (slots_make(env, (env->count + 1) * 2) < 0) {
		*env = old;
		return -1;
	}
	for (size_t i = 0; i < old.slot_count; i++)
		if (old.slots[i].number != 0 && old.slots[i].number != GONE)
			slot_fill(env, old.slots[i].hash, old.slots[i].number);
	free(old.slots);
	return 0;
}

/* Takes over each string of FROM whose name is not there before; what has no `=` is no variable. */
static void strings_borrow(struct lens_env *env, char *const *from)
{
	for (; from && *from; from++) {
		const char *equals = strchr(*from, '=');
		size_t length = equals ? (size_t)(equals - *from) : 0;
		uint32_t hash = lens_hash32(*from, length);

		if (equals && slot_find(env, *from, length, hash))
			continue;
		env->strings[env->count++] = *from;
		if (equals)
			slot_fill(env, hash, env->count);
	}
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
	if (!copy->strings || slots_make(copy, copy->capacity) < 0) {
		lens_env_destroy(copy);
		return NULL;
	}
	strings_borrow(copy, env);
	return copy;
}

struct lens_env *lens_env_copy(const struct lens_env *env)
{
	struct lens_env *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return NULL;
	copy->count = env->count;
	copy->capacity = env->capacity;
	copy->slot_count = env->slot_count;
	copy->slots_used = env->slots_used;
	copy->strings = malloc(env->capacity * sizeof(*env->strings));
	copy->slots = malloc(env->slot_count * sizeof(*env->slots));
	if (!copy->strings || !copy->slots) {
		lens_env_destroy(copy);
		return NULL;
	}
	memcpy(copy->strings, env->strings, (env->count + 1) * sizeof(*env->strings));
	memcpy(copy->slots, env->slots, env->slot_count * sizeof(*env->slots));
	return copy;
}

void lens_env_destroy(struct lens_env *env)
{
	int saved = errno;

	if (!env)
		return;
	for (size_t i = 0; i < env->owned_count; i++)
		free(env->owned[i]);
	free(env->owned);
	free(env->slots);
	free(env->strings);
	free(env);
	errno = saved;
}

static void take_out(struct lens_env *env, struct slot *slot)
{
	size_t index = slot->number - 1;

	memmove(&env->strings[index], &env->strings[index + 1],
		(env->count - index) * sizeof(*env->strings));
	env->count--;
	slot->number = GONE;
	for (size_t i = 0; i < env->slot_count; i++)
		if (env->slots[i].number != GONE && env->slots[i].number > index)
			env->slots[i].number--;
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
	size_t length = strlen(name);
	uint32_t hash = lens_hash32(name, length);
	struct slot *slot = slot_find(env, name, length, hash);
	char *string;

	if (!value) {
		if (slot)
			take_out(env, slot);
		return 0;
	}
	string = string_make(env, name, value);
	if (!string)
		return -1;
	if (slot) {
		env->strings[slot->number - 1] = string;
		return 0;
	}
	if (reserve(&env->strings, env->count + 1, &env->capacity) < 0 || slots_reserve(env) < 0)
		return -1;
	env->strings[env->count++] = string;
	env->strings[env->count] = NULL;
	slot_fill(env, hash, env->count);
	return 0;
}

const char *lens_env_value(const struct lens_env *env, const char *name)
{
	size_t length = strlen(name);
	const struct slot *slot = slot_find(env, name, length, lens_hash32(name, length));

	return slot ? env->strings[slot->number - 1] + length + 1 : NULL;
}

const char *lens_env_value_nonempty(const struct lens_env *env, const char *name)
{
	return nonempty(lens_env_value(env, name));
}

char *const *lens_env_array(const struct lens_env *env)
{
	return env->strings;
}
