/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/lock.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <cmocka.h>

#include "tests/unit/scratch.h"

/* A child that takes the lock, says so with a byte, and sleeps until it is killed. */
static pid_t start_holder(const struct scratch *scratch, const char *line)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = scratch_fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(ready[0]);
		if (lens_lock_take(scratch->fd, line, NULL) < 0 || write(ready[1], "y", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void free_where_there_is_no_file(void **state)
{
	struct scratch *scratch = *state;
	struct lens_error err = LENS_ERROR_INIT;
	char *line;
	pid_t pid;

	assert_int_equal(lens_lock_holder(scratch->fd, &err), 0);
	assert_int_equal(lens_lock_read(scratch->fd, &pid, &line, &err), 0);
	assert_int_equal(pid, 0);
	assert_null(line);
	assert_false(scratch_has(scratch, "agent.lock"));
	assert_int_equal(lens_lock_holder(-1, &err), -1);
	assert_non_null(strstr(err.text, "agent.lock"));
}

static void a_holder_is_seen_until_it_is_killed(void **state)
{
	struct scratch *scratch = *state;
	pid_t holder = start_holder(scratch, "--state-dir /a --set Key=Value"), pid;
	struct lens_error err = LENS_ERROR_INIT;
	char *line;

	assert_int_equal(lens_lock_holder(scratch->fd, &err), holder);
	assert_int_equal(lens_lock_read(scratch->fd, &pid, &line, &err), 0);
	assert_int_equal(pid, holder);
	assert_string_equal(line, "--state-dir /a --set Key=Value");
	free(line);
	assert_int_equal(lens_lock_take(scratch->fd, "mine", &err), -2);
	assert_int_equal(lens_lock_holder(scratch->fd, &err), holder);

	assert_int_equal(kill(holder, SIGKILL), 0);
	assert_int_equal(scratch_wait(holder), 1000 + SIGKILL);
	assert_int_equal(lens_lock_holder(scratch->fd, &err), 0);
	assert_string_equal(err.text, "");
}

static void a_shorter_line_replaces_a_longer(void **state)
{
	struct scratch *scratch = *state;
	pid_t holder;
	char *line;

	scratch_write(scratch, "agent.lock", "1 a line of another process, a long one\n");
	holder = start_holder(scratch, "x");
	assert_int_equal(lens_lock_read(scratch->fd, &holder, &line, NULL), 0);
	assert_string_equal(line, "x");
	free(line);
	line = scratch_read(scratch, "agent.lock");
	assert_null(strstr(line, "another"));
	free(line);
	kill(holder, SIGKILL);
	scratch_wait(holder);
}

/* What a holder before left is not taken for the words of the one that is there now. */
static void a_line_of_another_pid_is_not_shown(void **state)
{
	struct scratch *scratch = *state;
	pid_t holder = start_holder(scratch, "first"), pid;
	char *line;

	scratch_write(scratch, "agent.lock", "1 stale\n");
	assert_int_equal(lens_lock_read(scratch->fd, &pid, &line, NULL), 0);
	assert_int_equal(pid, holder);
	assert_string_equal(line, "");
	free(line);
	kill(holder, SIGKILL);
	scratch_wait(holder);
}

/* The agent executes a new version of itself without letting go. */
static void exec_keeps_it(void **state)
{
	struct scratch *scratch = *state;
	int ready[2], go[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(go), 0);
	pid = scratch_fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (lens_lock_take(scratch->fd, "x", NULL) <= 2)
			_exit(1);
		dup2(ready[1], 1);
		dup2(go[0], 0);
		close(go[1]);
		execl("/bin/sh", "sh", "-c", "echo y; read -r line; exit 7", (char *)NULL);
		_exit(2);
	}
	close(ready[1]);
	close(go[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(lens_lock_holder(scratch->fd, NULL), pid);
	close(go[1]);
	assert_int_equal(scratch_wait(pid), 7);
	assert_int_equal(lens_lock_holder(scratch->fd, NULL), 0);
	close(ready[0]);
}

static void what_is_no_line_or_no_file_is_refused(void **state)
{
	struct scratch *scratch = *state;
	struct lens_error err = LENS_ERROR_INIT;

	assert_int_equal(lens_lock_take(scratch->fd, "two\nlines", &err), -1);
	assert_non_null(strstr(err.text, "one line"));
	assert_int_equal(symlink("elsewhere", scratch_path(scratch, "agent.lock")), 0);
	assert_int_equal(lens_lock_take(scratch->fd, "x", &err), -1);
	assert_int_equal(lens_lock_holder(scratch->fd, &err), -1);
	assert_false(scratch_has(scratch, "elsewhere"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(free_where_there_is_no_file),
		scratch_test(a_holder_is_seen_until_it_is_killed),
		scratch_test(a_shorter_line_replaces_a_longer),
		scratch_test(a_line_of_another_pid_is_not_shown),
		scratch_test(exec_keeps_it),
		scratch_test(what_is_no_line_or_no_file_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
