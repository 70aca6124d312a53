/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/env_diff.h"

#include "lib/core/env.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool same_name(const char *a, const char *b)
{
	size_t length = strcspn(a, "=");

	return strncmp(a, b, length) == 0 && (b[length] == '=' || b[length] == '\0');
}

/* A change to make; NAME is a copy, for it may be FROM's, and VALUE is TO's. */
struct change {
	char *name;
	const char *value;
};

struct changes {
	struct change *list;
	size_t count, capacity;
};

static int changes_add(struct changes *changes, const char *name, size_t length, const char *value)
{
	char *copy = strndup(name, length);

	if (!copy)
		return -1;
	if (changes->count == changes->capacity) {
		size_t capacity = changes->capacity ? changes->capacity * 2 : 32;
		struct change *list = reallocarray(changes->list, capacity, sizeof(*list));

		if (!list) {
			free(copy);
			return -1;
		}
		changes->list = list;
		changes->capacity = capacity;
	}
	changes->list[changes->count++] = (struct change){ copy, value };
	return 0;
}

static int changes_set(struct changes *changes, const char *string)
{
	size_t length = strcspn(string, "=");

	return changes_add(changes, string, length, string[length] ? string + length + 1 : "");
}

/* STRING of FROM is not where TO would have it: gone, unless it comes later in TO, or was there
 * before in FROM and is known to go. */
static int changes_unset(struct changes *changes, const char *string, char *const *to)
{
	const char *name;
	bool goes;

	if (changes_add(changes, string, strcspn(string, "="), NULL))
		return -1;
	name = changes->list[changes->count - 1].name;
	goes = !lens_env_get(to, name);
	for (size_t i = 0; goes && i + 1 < changes->count; i++)
		goes = strcmp(changes->list[i].name, name) != 0;
	if (!goes)
		free(changes->list[--changes->count].name);
	return 0;
}

static int changes_find(struct changes *changes, char *const *from, char *const *to)
{
	char *const *next = to;

	for (; from && *from; from++) {
		if (!next || !*next || !same_name(*from, *next)) {
			if (changes_unset(changes, *from, to))
				return -1;
			continue;
		}
		if (strcmp(*from, *next) != 0 && changes_set(changes, *next))
			return -1;
		next++;
	}
	for (; next && *next; next++)
		if (changes_set(changes, *next))
			return -1;
	return 0;
}

int lens_env_diff(char *const *from, char *const *to, lens_env_change_fn *change, void *context)
{
	struct changes changes = { 0 };
	/* All are found before the first is made: FROM is what changes. */
	int rc = changes_find(&changes, from, to);

	for (size_t i = 0; i < changes.count; i++) {
		if (rc == 0)
			rc = change(context, changes.list[i].name, changes.list[i].value);
		free(changes.list[i].name);
	}
	free(changes.list);
	return rc;
}
