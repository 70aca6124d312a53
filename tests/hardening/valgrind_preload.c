/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into what runs below valgrind: calls of the agent's that valgrind (3.19) has no way for.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

#define WORDS_MAX 32
#define OWN       "LENS_TEST_" /* what under-valgrind is told by */

/* Adds those of WORDS that begin with BEGINNING; the new count. */
static size_t add(const char *list[WORDS_MAX], size_t count, char *const words[],
		  const char *beginning)
{
	for (; *words != NULL && count < WORDS_MAX - 1; words++)
		if (strncmp(*words, beginning, strlen(beginning)) == 0)
			list[count++] = *words;
	list[count] = NULL;
	return count;
}

/* /proc/self/exe would be valgrind's own program: the sender goes below valgrind as its keeper. */
static int execute_self(char *const argv[], char *const env[])
{
	const char *source = getenv("LENS_TEST_SRCDIR");
	const char *words[WORDS_MAX], *variables[WORDS_MAX];
	char program[4096], watcher[4096];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (length < 0 || source == NULL)
		return -1;
	program[length] = '\0';
	snprintf(watcher, sizeof(watcher), "%s/tests/hardening/under-valgrind", source);
	words[0] = watcher;
	words[1] = program;
	add(words, 2, argv + 1, "");
	add(variables, add(variables, 0, env, ""), environ, OWN);
	return (int)syscall(SYS_execve, watcher, words, variables);
}

EXPORTED int execve(const char *path, char *const argv[], char *const env[])
{
	if (strcmp(path, "/proc/self/exe") == 0)
		return execute_self(argv, env);
	return (int)syscall(SYS_execve, path, argv, env);
}

/* Who gave up writing any for good is told so; what is found has to be written all the same. */
static bool no_files;

/* valgrind has descriptors of its own and lets nobody lower the hard limit: the soft one alone. */
EXPORTED int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	struct rlimit wanted = *limit, now;

	if (resource == RLIMIT_FSIZE && limit->rlim_max == 0) {
		no_files = true;
		return 0;
	}
	if (resource == RLIMIT_NOFILE && syscall(SYS_getrlimit, RLIMIT_NOFILE, &now) == 0)
		wanted.rlim_max = now.rlim_max;
	return (int)syscall(SYS_setrlimit, resource, &wanted);
}

EXPORTED int getrlimit(__rlimit_resource_t resource, struct rlimit *limit)
{
	if (resource != RLIMIT_FSIZE || !no_files)
		return (int)syscall(SYS_getrlimit, resource, limit);
	*limit = (struct rlimit){ 0, 0 };
	return 0;
}
