/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that cannot be made, clocks that do not tell. */
#include "tests/faults/faults.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED pid_t fork(void)
{
	static pid_t (*next)(void);

	if (next == NULL)
		*(void **)&next = faults_next("fork");
	if (!faults_hit(FAULT_FORK))
		return next();
	errno = EAGAIN;
	return -1;
}

EXPORTED int execve(const char *path, char *const *argv, char *const *env)
{
	static int (*next)(const char *path, char *const *argv, char *const *env);

	if (next == NULL)
		*(void **)&next = faults_next("execve");
	if (!faults_hit(FAULT_FORK))
		return next(path, argv, env);
	errno = EAGAIN;
	return -1;
}

EXPORTED pid_t setsid(void)
{
	static pid_t (*next)(void);

	if (next == NULL)
		*(void **)&next = faults_next("setsid");
	if (!faults_hit(FAULT_FORK))
		return next();
	errno = EPERM;
	return -1;
}

EXPORTED int clock_gettime(clockid_t clock, struct timespec *out)
{
	if (!faults_hit(FAULT_CLOCK))
		return (int)syscall(SYS_clock_gettime, clock, out);
	errno = EINVAL;
	return -1;
}
