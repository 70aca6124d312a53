/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/spankhost/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t count(char *const *env)
{
	size_t n = 0;

	while (env && env[n])
		n++;
	return n;
}

char **host_env_copy(char *const *env)
{
	size_t n = count(env);
	char **copy = calloc(n + 1, sizeof(*copy));

	for (size_t i = 0; copy && i < n; i++)
		copy[i] = strdup(env[i]);
	return copy;
}

void host_env_free(char **env)
{
	for (size_t i = 0; env && env[i]; i++)
		free(env[i]);
	free(env);
}

static char **find(char *const *env, const char *name)
{
	size_t length = strlen(name);

	for (; env && *env; env++)
		if (strncmp(*env, name, length) == 0 && (*env)[length] == '=')
			return (char **)env;
	return NULL;
}

const char *host_env_get(char *const *env, const char *name)
{
	char **at = find(env, name);

	return at ? *at + strlen(name) + 1 : NULL;
}

void host_env_set(char ***env, const char *name, const char *value)
{
	char **at = find(*env, name);
	char *text = NULL;
	size_t n;

	if (!value) {
		if (!at)
			return;
		free(*at);
		for (; *at; at++)
			at[0] = at[1];
		return;
	}
	if (asprintf(&text, "%s=%s", name, value) < 0)
		abort();
	if (at) {
		free(*at);
		*at = text;
		return;
	}
	n = count(*env);
	*env = realloc(*env, (n + 2) * sizeof(**env));
	if (!*env)
		abort();
	(*env)[n] = text;
	(*env)[n + 1] = NULL;
}
