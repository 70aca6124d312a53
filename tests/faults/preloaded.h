/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_FAULTS_PRELOADED_H
#define LENS_TESTS_FAULTS_PRELOADED_H

#include "tests/faults/plan.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The path of faults.so. */
static inline const char *preloaded_path(void)
{
	static char path[512];
	const char *build = getenv("LENS_TEST_BUILDDIR");

	snprintf(path, sizeof(path), "%s/tests/faults/.libs/faults.so", build ? build : ".");
	return path;
}

/* The function NAME of faults.so; without it there is nothing to test. */
static inline void *preloaded_find(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	if (!found) {
		printf("Bail out! %s is not preloaded\n", preloaded_path());
		exit(1);
	}
	return found;
}

/* Executes the program ARGV anew with faults.so before libc; returns in that. */
static inline void preloaded_begin(char **argv)
{
	if (dlsym(RTLD_DEFAULT, FAULTS_PLAN))
		return;
	if (getenv("LD_PRELOAD") || setenv("LD_PRELOAD", preloaded_path(), 1) ||
	    access(preloaded_path(), R_OK)) {
		printf("Bail out! %s cannot be preloaded\n", preloaded_path());
		exit(1);
	}
	execv("/proc/self/exe", argv);
	exit(1);
}

#endif
