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

/* Calls CHANGE for the variable of STRING, which is of TO when SET, else to be taken out. */
static int call(lens_env_change_fn *change, void *context, const char *string, bool set,
		char *const *to)
{
	size_t length = strcspn(string, "=");
	char *name = strndup(string, length);
	int rc = 0;

	if (!name)
		return -1;
	if (set)
		rc = change(context, name, string[length] ? string + length + 1 : "");
	else if (!lens_env_get(to, name)) /* else it comes later */
		rc = change(context, name, NULL);
	free(name);
	return rc;
}

int lens_env_diff(char *const *from, char *const *to, lens_env_change_fn *change, void *context)
{
	/* A copy: unsetenv and Slurm move what follows a variable up in its place. */
	struct lens_env *before = lens_env_create(from);
	char *const *old = before ? lens_env_array(before) : NULL;
	char *const *new = to;
	int rc = -1;

	if (!before)
		return -1;
	for (; *old; old++) {
		if (!new || !*new || !same_name(*old, *new)) {
			if (call(change, context, *old, false, to))
				goto out;
			continue;
		}
		if (strcmp(*old, *new) != 0 && call(change, context, *new, true, to))
			goto out;
		new ++;
	}
	for (; new &&*new; new ++)
		if (call(change, context, *new, true, to))
			goto out;
	rc = 0;
out:
	lens_env_destroy(before);
	return rc;
}
