/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/spawn.h"
#include "lib/core/fd.h"
#include "lib/core/path.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS_FD 3 /* where the child keeps its end of the status pipe */

enum stage {
	STAGE_FORK,
	STAGE_SESSION,
	STAGE_STDIO,
	STAGE_IDS,
	STAGE_EXEC,
};

/* What the child writes when it cannot go on; nothing comes when exec worked. */
struct failure {
	enum stage stage;
	int error;
};

struct spawn {
	const char *program;
	char *const *argv;
	char *const *env;
	int status; /* the pipe's end of the child, above 2, close-on-exec */
};

/* From here on to the exec: only async-signal-safe calls, errno is handed on by hand. */

static void __attribute__((noreturn)) child_fail(int status, enum stage stage)
{
	struct failure failure = { .stage = stage, .error = errno };
	ssize_t ignored = write(status, &failure, sizeof(failure));

	(void)ignored;
	_exit(127);
}

int lens_child_stdio(void)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0)
		return -1;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fd != null && dup2(null, fd) < 0)
			return -1;
	return 0;
}

struct directory_entry { /* of getdents64(2) */
	uint64_t inode;
	int64_t offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

/* The number that NAME is, -1 for any other name. */
static int child_fd_number(const char *name)
{
	int number = 0;

	if (*name == '\0')
		return -1;
	for (; *name != '\0'; name++) {
		if (*name < '0' || *name > '9' || number > (INT32_MAX - 9) / 10)
			return -1;
		number = number * 10 + (*name - '0');
	}
	return number;
}

/* Closes what /proc/self/fd lists from FIRST on; false where there is no such directory.
 * opendir(3) would allocate. */
static bool child_close_listed(int first)
{
	char buffer[4096] __attribute__((aligned(8)));
	int list = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long count;

	if (list < 0)
		return false;
	while ((count = syscall(SYS_getdents64, list, buffer, sizeof(buffer))) > 0) {
		for (long at = 0; at < count;) {
			struct directory_entry *entry = (struct directory_entry *)(buffer + at);
			int fd = child_fd_number(entry->name);

			if (fd >= first && fd != list)
				close(fd);
			at += entry->length;
		}
	}
	close(list);
	return count == 0;
}

static void child_close_from(int first)
{
	struct rlimit limit;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, (unsigned int)first, ~0U, 0U) == 0)
		return;
#endif
	if (child_close_listed(first))
		return;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > 65536)
		limit.rlim_cur = 65536;
	for (int fd = first; fd < (int)limit.rlim_cur; fd++)
		close(fd);
}

/*
 * In some hooks the effective ids are the job's user's and root is only kept aside; a
 * helper left there could never open root's files. The plain system calls: glibc's
 * setresuid would signal threads that this process does not have.
 */
static int child_root(void)
{
	uid_t user[3];
	gid_t group[3];

	if (getresuid(&user[0], &user[1], &user[2]) != 0 ||
	    getresgid(&group[0], &group[1], &group[2]) != 0)
		return -1;
	if (user[0] != 0 && user[1] != 0 && user[2] != 0)
		return 0;
	if ((user[0] | user[1] | user[2] | group[0] | group[1] | group[2]) == 0)
		return 0;
	if (syscall(SYS_setresuid, 0, 0, 0) != 0 || syscall(SYS_setgroups, 0, NULL) != 0 ||
	    syscall(SYS_setresgid, 0, 0, 0) != 0)
		return -1;
	return 0;
}

/* All signals are blocked until here, so no handler of the caller's ran in the child. */
void lens_child_signals(void)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void __attribute__((noreturn)) child_run(const struct spawn *spawn)
{
	int status = spawn->status;

	if (lens_child_stdio() != 0)
		child_fail(status, STAGE_STDIO);
	if (status != STATUS_FD && dup3(status, STATUS_FD, O_CLOEXEC) < 0)
		child_fail(status, STAGE_STDIO);
	status = STATUS_FD;
	child_close_from(STATUS_FD + 1);
	if (child_root() != 0)
		child_fail(status, STAGE_IDS);
	umask(077);
	if (chdir("/") != 0)
		child_fail(status, STAGE_SESSION);
	lens_child_signals();
	execve(spawn->program, spawn->argv, spawn->env);
	child_fail(status, STAGE_EXEC);
}

/* The first child: its session is the program's, whose parent it leaves it without. */
static void __attribute__((noreturn)) child_detach(const struct spawn *spawn)
{
	pid_t pid;

	if (setsid() < 0)
		child_fail(spawn->status, STAGE_SESSION);
	pid = fork();
	if (pid < 0)
		child_fail(spawn->status, STAGE_FORK);
	if (pid == 0)
		child_run(spawn);
	_exit(0);
}

/* Back in the caller. */

static const char *stage_text(enum stage stage)
{
	switch (stage) {
	case STAGE_FORK:
		return "no process";
	case STAGE_SESSION:
		return "no session of its own";
	case STAGE_STDIO:
		return "no /dev/null";
	case STAGE_IDS:
		return "root's ids cannot be taken back";
	case STAGE_EXEC:
		break;
	}
	return "it cannot be executed";
}

/* Waits until the child's end of the pipe is closed, by its exec or its failure. */
static int read_status(int fd, const char *program, struct lens_error *err)
{
	struct failure failure;
	ssize_t count;

	do
		count = read(fd, &failure, sizeof(failure));
	while (count < 0 && errno == EINTR);
	if (count == 0)
		return 0;
	if (count != (ssize_t)sizeof(failure))
		return lens_error_set(err, "%s was not started: its start cannot be watched",
				      program);
	errno = failure.error;
	return lens_error_set(err, "%s was not started: %s: %m", program,
			      stage_text(failure.stage));
}

static int open_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	ends[0] = lens_fd_raise(ends[0], F_DUPFD_CLOEXEC);
	ends[1] = lens_fd_raise(ends[1], F_DUPFD_CLOEXEC);
	return ends[0] < 0 || ends[1] < 0 ? -1 : 0;
}

int lens_spawn_detached(const char *program, char *const *argv, char *const *env,
			struct lens_error *err)
{
	static char *const no_env[] = { NULL };
	struct spawn spawn = { .program = program, .argv = argv, .env = env ? env : no_env };
	int ends[2] = { -1, -1 }, result = -1;
	sigset_t all, before;
	pid_t pid;

	if (lens_path_check_program(program, err) != 0)
		return -1;
	if (open_pipe(ends) != 0) {
		lens_error_set(err, "%s was not started: no pipe: %m", program);
		goto out;
	}
	spawn.status = ends[1];
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		child_detach(&spawn);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (pid < 0) {
		lens_error_set(err, "%s was not started: no process: %m", program);
		goto out;
	}
	lens_fd_close(ends[1]);
	ends[1] = -1;
	result = read_status(ends[0], program, err);
	/* ECHILD where the caller ignores SIGCHLD: the kernel has reaped it then. */
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
out:
	lens_fd_close(ends[0]);
	lens_fd_close(ends[1]);
	return result;
}
