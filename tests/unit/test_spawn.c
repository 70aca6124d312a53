/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/spawn.h"

#include <errno.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <cmocka.h>

#include "tests/unit/scratch.h"

/* What the program says about itself, into the file $OUT; the rename makes it whole. */
static const char script[] =
	"{ ls -l /proc/$$/fd\n"
	"echo \"cwd $(pwd)\"; echo \"umask $(umask)\"\n"
	"read -r pid comm state ppid pgrp sid rest < /proc/$$/stat\n"
	"echo \"me $pid session $sid\"\n"
	"while read -r key value; do case $key in\n"
	"SigBlk:|SigIgn:|SigCgt:|Uid:|Gid:|Groups:) echo \"$key\" $value;; esac\n"
	"done < /proc/$$/status\n"
	"echo \"env $(tr '\\0' ' ' < /proc/$$/environ)\"; echo \"args $*\"\n"
	"} > \"$OUT.tmp\"\n"
	"mv \"$OUT.tmp\" \"$OUT\"\n";

/* Starts the script; 0 or -1. */
static int start(const struct scratch *scratch, struct lens_error *err)
{
	char *argv[] = { (char *)"sh", (char *)"-c",        (char *)script,
			 (char *)"sh", (char *)"two words", NULL };
	char out[600];
	char *env[] = { out, (char *)"PATH=/usr/bin:/bin", NULL };

	snprintf(out, sizeof(out), "OUT=%s", scratch_path(scratch, "out"));
	return lens_spawn_detached("/bin/sh", argv, env, err);
}

/* What it wrote, once it has; the caller frees. Fails the test after ten seconds. */
static char *result(const struct scratch *scratch)
{
	const struct timespec pause = { 0, 10000000 };

	for (int i = 0; i < 1000; i++) {
		char *text = scratch_read(scratch, "out");

		if (text)
			return text;
		nanosleep(&pause, NULL);
	}
	fail_msg("the program wrote nothing");
	return NULL;
}

static void says(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("no \"%s\" in:\n%s", line, text);
}

/* Descriptors 0 to 2 are /dev/null and nothing else is there but the output file, 1 while
 * the script writes it, and the shell's copy of 1. */
static void assert_clean(const char *text)
{
	const char *ignored;

	says(text, " 0 -> /dev/null\n");
	says(text, " 2 -> /dev/null\n");
	for (const char *arrow = text; (arrow = strstr(arrow, " -> ")) != NULL; arrow++) {
		const char *digits = arrow;

		while (digits[-1] >= '0' && digits[-1] <= '9')
			digits--;
		if (strncmp(arrow, " -> /dev/null\n", strlen(" -> /dev/null\n")) != 0 &&
		    strncmp(digits, "1 ", 2) != 0)
			fail_msg("descriptor %.60s in:\n%s", digits, text);
	}
	says(text, "SigBlk: 0000000000000000\n");
	/* glibc keeps signals 32 and 33 to itself, and posix_spawn, make's say, ignores them. */
	ignored = strstr(text, "SigIgn: ");
	assert_non_null(ignored);
	assert_int_equal(strtoull(ignored + strlen("SigIgn: "), NULL, 16) & ~(3ULL << 31), 0);
}

static void *idle(void *nothing)
{
	pause();
	return nothing;
}

/* As slurmstepd is: threads, signals blocked and ignored, pipes that others wait for,
 * descriptor 0 closed. Never returns. */
static void start_as_stepd(const struct scratch *scratch)
{
	struct lens_error err = LENS_ERROR_INIT;
	pthread_t thread;
	sigset_t set, after;
	int ends[2];

	if (pthread_create(&thread, NULL, idle, NULL) != 0 || pipe(ends) != 0)
		_exit(1);
	dup2(ends[1], 1);
	dup2(ends[1], 2);
	if (dup2(open(scratch_path(scratch, "inherited"), O_RDWR | O_CREAT, 0600), 200) != 200)
		_exit(2);
	close(0);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	umask(0);
	if (chdir(scratch->path) != 0 || start(scratch, &err) != 0)
		_exit(3);
	/* Nothing of the caller has changed. */
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	if (!sigismember(&after, SIGTERM) || sigismember(&after, SIGHUP) ||
	    fcntl(0, F_GETFD) != -1 || fcntl(200, F_GETFD) == -1 || getsid(0) == getpid())
		_exit(4);
	_exit(0);
}

static void it_keeps_nothing_of_its_starter(void **state)
{
	struct scratch *scratch = *state;
	char *text, mine[64];
	long pid, session;
	pid_t child = scratch_fork();

	assert_true(child >= 0);
	if (child == 0)
		start_as_stepd(scratch);
	assert_int_equal(scratch_wait(child), 0);
	text = result(scratch);
	assert_clean(text);
	says(text, "cwd /\n");
	says(text, "umask 0077\n");
	says(text, "args two words\n");
	assert_null(strstr(text, "HOME="));
	assert_int_equal(sscanf(strstr(text, "me "), "me %ld session %ld", &pid, &session), 2);
	assert_true(session != getsid(0) && session != pid);
	snprintf(mine, sizeof(mine), "Uid: %u %u %u %u\n", getuid(), getuid(), getuid(), getuid());
	says(text, mine);
	free(text);
}

/* An older kernel: close_range is not there. */
static void without_close_range_it_is_as_clean(void **state)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };
	struct scratch *scratch = *state;
	char *text;
	pid_t child = scratch_fork();

	assert_true(child >= 0);
	if (child == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
			_exit(77);
		for (int fd = 100; fd < 700; fd++)
			dup2(scratch->fd, fd);
		start_as_stepd(scratch);
	}
	switch (scratch_wait(child)) {
	case 0:
		break;
	case 77:
		skip();
	default:
		fail();
	}
	text = result(scratch);
	assert_clean(text);
	free(text);
}

/* As in user_init: the effective ids are the user's, root is kept aside. */
static void root_is_taken_back(void **state)
{
	struct scratch *scratch = *state;
	const gid_t groups[] = { 65534, 12345 };
	pid_t child;
	char *text;

	if (geteuid() != 0)
		skip();
	child = scratch_fork();
	assert_true(child >= 0);
	if (child == 0) {
		if (setgroups(2, groups) != 0 || setresgid(0, 65534, 0) != 0 ||
		    setresuid(0, 65534, 0) != 0)
			_exit(1);
		_exit(start(scratch, NULL) == 0 && geteuid() == 65534 ? 0 : 2);
	}
	assert_int_equal(scratch_wait(child), 0);
	text = result(scratch);
	says(text, "Uid: 0 0 0 0\n");
	says(text, "Gid: 0 0 0 0\n");
	says(text, "Groups:\n");
	free(text);
}

static void a_user_stays_a_user(void **state)
{
	struct scratch *scratch = *state;
	pid_t child;
	char *text;

	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(scratch->path, 65534, 65534), 0);
	child = scratch_fork();
	assert_true(child >= 0);
	if (child == 0) {
		if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0)
			_exit(1);
		_exit(start(scratch, NULL) == 0 ? 0 : 2);
	}
	assert_int_equal(scratch_wait(child), 0);
	text = result(scratch);
	says(text, "Uid: 65534 65534 65534 65534\n");
	free(text);
}

static void what_cannot_start_is_said(void **state)
{
	struct scratch *scratch = *state;
	char *argv[] = { (char *)"x", NULL };
	struct lens_error err = LENS_ERROR_INIT;
	const char *path = scratch_path(scratch, "program");

	assert_int_equal(lens_spawn_detached(path, argv, NULL, &err), -1);
	assert_non_null(strstr(err.text, "No such file"));
	assert_int_equal(lens_spawn_detached("sh", argv, NULL, &err), -1);
	assert_non_null(strstr(err.text, "absolute"));
	scratch_write(scratch, "program",
		      "\x7f"
		      "ELF is this none");
	assert_int_equal(chmod(path, 0755), 0);
	assert_int_equal(lens_spawn_detached(path, argv, NULL, &err), -1);
	assert_non_null(strstr(err.text, "cannot be executed: Exec format error"));
	assert_int_equal(chmod(path, 0777), 0);
	assert_int_equal(lens_spawn_detached(path, argv, NULL, &err), -1);
	assert_non_null(strstr(err.text, "written by others"));
}

/* The status must come through although the pipe's ends are offered 0 and 1. */
static void a_failure_is_said_with_stdio_closed(void **state)
{
	struct scratch *scratch = *state;
	const char *path = scratch_path(scratch, "program");
	pid_t child;

	scratch_write(scratch, "program",
		      "\x7f"
		      "ELF is this none");
	assert_int_equal(chmod(path, 0755), 0);
	child = scratch_fork();
	assert_true(child >= 0);
	if (child == 0) {
		char *argv[] = { (char *)"x", NULL };

		close(0);
		close(1);
		close(2);
		_exit(lens_spawn_detached(path, argv, NULL, NULL) == -1 ? 0 : 1);
	}
	assert_int_equal(scratch_wait(child), 0);
}

static void no_child_is_left_and_none_is_needed(void **state)
{
	struct scratch *scratch = *state;
	char *text;

	assert_int_equal(start(scratch, NULL), 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	text = result(scratch);
	free(text);
	assert_int_equal(unlink(scratch_path(scratch, "out")), 0);
	signal(SIGCHLD, SIG_IGN);
	assert_int_equal(start(scratch, NULL), 0);
	signal(SIGCHLD, SIG_DFL);
	text = result(scratch);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(it_keeps_nothing_of_its_starter),
		scratch_test(without_close_range_it_is_as_clean),
		scratch_test(root_is_taken_back),
		scratch_test(a_user_stays_a_user),
		scratch_test(what_cannot_start_is_said),
		scratch_test(a_failure_is_said_with_stdio_closed),
		scratch_test(no_child_is_left_and_none_is_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
