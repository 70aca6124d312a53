/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/cleaning.h"

#include "lib/core/resource.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A variable on which a cleaning rests; a NULL value: it was not there. */
struct variable {
	char *name;
	char *before;
	char *after;
};

struct lens_cleaning {
	struct variable *variables;
	size_t count;
};

/* What is read with any mark and without one. */
static const char *const always[] = {
	LENS_MARK_NAME, LENS_ASKED_NAME, LENS_ATTRIBUTES_NAME, "NEMO_LENS_RUN_ID", "TRACEPARENT",
};
#define ALWAYS_COUNT (sizeof(always) / sizeof(always[0]))

static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* A copy of VALUE in *OUT, NULL of NULL. 0, or -1 when memory ran out. */
static int copy(char **out, const char *value)
{
	*out = value ? strdup(value) : NULL;
	return value && !*out ? -1 : 0;
}

static int add(struct lens_cleaning *cleaning, const char *name, char *const *env,
	       const struct lens_env *clean)
{
	struct variable *variable = &cleaning->variables[cleaning->count++];

	return copy(&variable->name, name) || copy(&variable->before, lens_env_get(env, name)) ||
			       copy(&variable->after, lens_env_value(clean, name))
		       ? -1
		       : 0;
}

struct lens_cleaning *lens_cleaning_create(char *const *env, const struct lens_env *clean,
					   const struct lens_mark *mark)
{
	struct lens_cleaning *cleaning = calloc(1, sizeof(*cleaning));
	size_t marked = mark ? lens_mark_entry_count(mark) : 0;
	bool failed;

	if (!cleaning)
		return NULL;
	cleaning->variables = calloc(ALWAYS_COUNT + marked, sizeof(*cleaning->variables));
	failed = !cleaning->variables;
	for (size_t i = 0; !failed && i < ALWAYS_COUNT; i++)
		failed = add(cleaning, always[i], env, clean) < 0;
	for (size_t i = 0; !failed && i < marked; i++) {
		const char *name = lens_mark_entry_variable(mark, i);

		failed = name && add(cleaning, name, env, clean) < 0;
	}
	if (failed) {
		lens_cleaning_destroy(cleaning);
		return NULL;
	}
	return cleaning;
}

void lens_cleaning_destroy(struct lens_cleaning *cleaning)
{
	int saved = errno;

	if (!cleaning)
		return;
	for (size_t i = 0; i < cleaning->count; i++) {
		free(cleaning->variables[i].name);
		free(cleaning->variables[i].before);
		free(cleaning->variables[i].after);
	}
	free(cleaning->variables);
	free(cleaning);
	errno = saved;
}

/* Does to ENV what was done. 0; -1 when it is not as the other was, or memory ran out. */
static int repeat(const struct lens_cleaning *cleaning, struct lens_env *env)
{
	for (size_t i = 0; i < cleaning->count; i++) {
		const struct variable *variable = &cleaning->variables[i];

		if (!same(lens_env_value(env, variable->name), variable->before))
			return -1;
	}
	for (size_t i = 0; i < cleaning->count; i++) {
		const struct variable *variable = &cleaning->variables[i];

		if (!same(variable->before, variable->after) &&
		    lens_env_set(env, variable->name, variable->after) < 0)
			return -1;
	}
	return 0;
}

struct lens_env *lens_cleaning_repeat(const struct lens_cleaning *cleaning, char *const *env)
{
	struct lens_env *clean = cleaning ? lens_env_create(env) : NULL;

	if (clean && repeat(cleaning, clean) < 0) {
		lens_env_destroy(clean);
		return NULL;
	}
	return clean;
}
