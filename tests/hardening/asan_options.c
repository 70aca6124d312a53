/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded beside the sanitizers' run time into the processes of a throwaway cluster: their options.
 * Slurm hands no environment on to its prolog, and the agent gets one of its own.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

/* Whether this is one of ours, and not Slurm's, which keep what they have to their end. */
static int is_ours(void)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	const char *slash;

	if (length < 0)
		return 0;
	path[length] = '\0';
	slash = strrchr(path, '/');
	return slash && strcmp(slash, "/slurm-lens") == 0;
}

const char *__attribute__((visibility("default"))) __asan_default_options(void)
{
	static char options[PATH_MAX + 256];

	snprintf(options, sizeof(options),
		 "log_path=" LENS_ASAN_LOG ":detect_leaks=%d:abort_on_error=0:exitcode=86:"
		 "handle_abort=1",
		 is_ours());
	return options;
}

const char *__attribute__((visibility("default"))) __ubsan_default_options(void)
{
	return "log_path=" LENS_ASAN_LOG ":print_stacktrace=1";
}
