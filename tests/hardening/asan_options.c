/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded before the sanitizers' run time into the processes of a throwaway cluster: their options.
 * Slurm hands no environment on to its prolog, and the agent gets one of its own.
 */
#include <limits.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* Before the run time's own of that name: this library comes first. */
EXPORTED const char *__asan_default_options(void);
EXPORTED const char *__ubsan_default_options(void);

#define OPTIONS "log_path=" LENS_ASAN_LOG ":verify_asan_link_order=0:handle_abort=1:detect_leaks="

/* Whether this is one of ours, and not Slurm's, which keep what they have to their end. Called
 * before the run time has its own idea of libc's functions: none of them here. */
static int is_ours(void)
{
	static const char wanted[] = "/slurm-lens";
	const long length = sizeof(wanted) - 1;
	char path[PATH_MAX];
	long end = syscall(SYS_readlink, "/proc/self/exe", path, sizeof(path));

	for (long i = 1; i <= length; i++)
		if (end < length || path[end - i] != wanted[length - i])
			return 0;
	return 1;
}

const char *__asan_default_options(void)
{
	return is_ours() ? OPTIONS "1" : OPTIONS "0";
}

const char *__ubsan_default_options(void)
{
	return "log_path=" LENS_ASAN_LOG ":print_stacktrace=1";
}

/* The sender may write no file; what is found in it has to be written all the same. */
EXPORTED int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	if (resource == RLIMIT_FSIZE && is_ours())
		return 0;
	return (int)syscall(SYS_setrlimit, resource, limit);
}
