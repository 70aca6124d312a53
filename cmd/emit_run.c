/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/emit_run.h"

#include "cmd/process_name.h"
#include "lib/core/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* All that is waited for: not what stops and continues, which shall do so to both, and not what a
 * fault of this program's own raises. */
static void waited_signals(sigset_t *out)
{
	static const int others[] = {
		SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGSEGV, SIGBUS,
		SIGILL,  SIGFPE,  SIGABRT, SIGTRAP, SIGSYS,
	};

	sigfillset(out);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		sigdelset(out, others[i]);
}

/* Whether PID is slurmstepd, or cannot be looked at from this container in a step: its signals go
 * to each process of the step. */
static bool is_stepd(pid_t pid)
{
	char name[PROCESS_NAME];

	if (getenv("SLURM_JOB_ID") == NULL)
		return false;
	if (pid == 0)
		return true;
	process_name(name, pid);
	return strncmp(name, "slurmstepd", strlen("slurmstepd")) == 0;
}

static void relay(pid_t child, const siginfo_t *info)
{
	/* Above 0: from the kernel, and so from the terminal, to the whole process group. */
	if (info->si_code > 0 || info->si_pid == child || is_stepd(info->si_pid))
		return;
	kill(child, info->si_signo);
}

/* Waits for CHILD, the waited SIGNALS being blocked. What came before its end was for it. */
static int await(pid_t child, const sigset_t *signals)
{
	static const struct timespec at_once;
	siginfo_t info;
	int status;

	while (waitpid(child, &status, WNOHANG) != child) {
		if (sigwaitinfo(signals, &info) > 0 && info.si_signo != SIGCHLD)
			relay(child, &info);
	}
	while (sigtimedwait(signals, &info, &at_once) > 0)
		;
	return status;
}

int emit_become(char **argv, char *const *env)
{
	execvpe(argv[0], argv, env);
	return errno;
}

/* The child's part: says on FD why it could not become the command. */
static void child_run(char **argv, char *const *env, int fd, const sigset_t *mask,
		      const struct sigaction *on_child)
{
	int error;

	sigaction(SIGCHLD, on_child, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	error = emit_become(argv, env);
	if (write(fd, &error, sizeof(error)) != (ssize_t)sizeof(error))
		_exit(126);
	_exit(emit_exec_status(error));
}

/* What the child said; 0: it became the command, which closed FD. */
static int exec_error_read(int fd)
{
	int error = 0;
	ssize_t got;

	do {
		got = read(fd, &error, sizeof(error));
	} while (got == -1 && errno == EINTR);
	return got == (ssize_t)sizeof(error) ? error : 0;
}

bool emit_run_stopped(void)
{
	static const int numbers[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
	static const struct timespec at_once;
	static bool stopped;
	struct sigaction action;
	sigset_t signals;
	siginfo_t info;

	/* A blocked signal is there although it is ignored, as nohup does it. */
	sigemptyset(&signals);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&signals, numbers[i]);
	while (!stopped && sigtimedwait(&signals, &info, &at_once) > 0)
		stopped = info.si_code > 0 || !is_stepd(info.si_pid);
	return stopped;
}

int emit_run(struct emit_run *out, char **argv, char *const *env)
{
	struct sigaction plain = { .sa_handler = SIG_DFL }, on_child;
	sigset_t signals, mask;
	int64_t begin_ns;
	int fds[2];

	*out = (struct emit_run){ 0 };
	if (pipe2(fds, O_CLOEXEC) == -1)
		return -1;
	waited_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, &mask);
	/* Where it was ignored there would be nothing to wait for. */
	sigaction(SIGCHLD, &plain, &on_child);
	out->start_ns = lens_clock_ns(CLOCK_REALTIME);
	begin_ns = lens_clock_ns(CLOCK_MONOTONIC);
	out->pid = fork();
	if (out->pid == 0)
		child_run(argv, env, fds[1], &mask, &on_child);
	close(fds[1]);
	if (out->pid != -1) {
		out->exec_error = exec_error_read(fds[0]);
		out->status = await(out->pid, &signals);
		out->end_ns = out->start_ns + lens_clock_ns(CLOCK_MONOTONIC) - begin_ns;
	}
	close(fds[0]);
	if (out->pid != -1)
		return 0;
	sigaction(SIGCHLD, &on_child, NULL);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return -1;
}

int emit_exec_status(int exec_error)
{
	return exec_error == ENOENT || exec_error == ENOTDIR ? 127 : 126;
}
