/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/journal.h"
#include "lib/core/record.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <cmocka.h>

#include "tests/unit/scratch.h"

static const struct lens_state_name journal_name = { .kind = LENS_STATE_JOURNAL,
						     .job = 7,
						     .step = 0,
						     .node = 5,
						     .pid = 99 };
#define FILE_NAME "7.0.5.99"

static int append(struct lens_journal *journal, const char *event)
{
	struct lens_carrier *record = lens_record_create(event);
	int result = record ? lens_journal_append(journal, record) : -2;

	lens_carrier_destroy(record);
	return result;
}

/* The events of the journal in order, each followed by a blank. */
static void assert_events(const struct scratch *scratch, const char *expected, size_t skipped)
{
	int fd = openat(scratch->fd, FILE_NAME, O_RDONLY);
	struct lens_records *records = lens_records_read(fd);
	char events[256] = "";

	assert_non_null(records);
	for (size_t i = 0; i < lens_records_count(records); i++) {
		strcat(events, lens_record_event(lens_records_at(records, i)));
		strcat(events, " ");
	}
	assert_string_equal(events, expected);
	assert_int_equal(lens_records_skipped(records), skipped);
	lens_records_destroy(records);
	close(fd);
}

static bool has_writer(const struct scratch *scratch)
{
	int fd = openat(scratch->fd, FILE_NAME, O_RDONLY);
	bool result;

	assert_true(fd >= 0);
	result = lens_journal_has_writer(fd);
	close(fd);
	return result;
}

/*
 * A slurmstepd: opens the journal, forks a task that writes and stays, and stays itself.
 * Returns its pid once both have written; the task's in *TASK.
 */
static pid_t start_writer(const struct scratch *scratch, pid_t *task)
{
	int ready[2];
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = scratch_fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct lens_journal *journal =
			lens_journal_create(scratch->fd, &journal_name, NULL);
		pid_t child;

		if (!journal || append(journal, "step_open") != 0)
			_exit(1);
		child = fork();
		if (child == 0) {
			pid_t self = getpid();

			alarm(20); /* it outlives its parent, not a test that failed */
			if (append(journal, "task_open") != 0 ||
			    write(ready[1], &self, sizeof(self)) != sizeof(self))
				_exit(1);
		}
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], task, sizeof(*task)), sizeof(*task));
	close(ready[0]);
	return pid;
}

/* A task that was forked and has not yet executed keeps the file, not the lock. */
static void a_killed_writer_is_seen_though_its_task_lives(void **state)
{
	struct scratch *scratch = *state;
	pid_t task, writer = start_writer(scratch, &task);

	assert_true(has_writer(scratch));
	assert_int_equal(kill(writer, SIGKILL), 0);
	assert_int_equal(scratch_wait(writer), 1000 + SIGKILL);
	assert_int_equal(kill(task, 0), 0);
	assert_false(has_writer(scratch));
	assert_events(scratch, "step_open task_open ", 0);
	kill(task, SIGKILL);
}

static void a_second_writer_is_refused(void **state)
{
	struct scratch *scratch = *state;
	pid_t task, writer = start_writer(scratch, &task);
	struct lens_error err = LENS_ERROR_INIT;

	assert_null(lens_journal_create(scratch->fd, &journal_name, &err));
	assert_non_null(strstr(err.text, FILE_NAME));
	assert_non_null(strstr(err.text, "another writer"));
	assert_true(has_writer(scratch));
	kill(task, SIGKILL);
	kill(writer, SIGKILL);
	scratch_wait(writer);
}

static void the_file_is_the_owners_alone(void **state)
{
	struct scratch *scratch = *state;
	struct lens_journal *journal = lens_journal_create(scratch->fd, &journal_name, NULL);
	struct stat status;

	assert_non_null(journal);
	assert_int_equal(fstatat(scratch->fd, FILE_NAME, &status, 0), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(append(journal, "step_open"), 0);
	errno = EDOM;
	lens_journal_destroy(journal);
	lens_journal_destroy(NULL);
	assert_int_equal(errno, EDOM);
	assert_events(scratch, "step_open ", 0);
	assert_false(has_writer(scratch));
}

/* A pid comes around: what an earlier process left is gone on with. */
static void a_left_over_is_gone_on_with(void **state)
{
	struct scratch *scratch = *state;
	struct lens_journal *journal;

	scratch_write(scratch, FILE_NAME, "v=1,t=5,m=1,e=step_open,job=7\nv=1,t=6,m=2,e=task_e");
	journal = lens_journal_create(scratch->fd, &journal_name, NULL);
	assert_non_null(journal);
	assert_int_equal(append(journal, "step_end"), 0);
	lens_journal_destroy(journal);
	assert_events(scratch, "step_open step_end ", 1);
}

static void a_line_that_a_task_cut_is_the_only_one_lost(void **state)
{
	struct scratch *scratch = *state;
	struct lens_journal *journal = lens_journal_create(scratch->fd, &journal_name, NULL);
	const struct rlimit limit = { 100, 100 };
	pid_t task;

	assert_int_equal(append(journal, "step_open"), 0);
	task = scratch_fork();
	assert_true(task >= 0);
	if (task == 0) {
		if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
			_exit(1);
		_exit(append(journal, "task_open") == -1 && errno == ENOSPC ? 0 : 2);
	}
	assert_int_equal(scratch_wait(task), 0);
	assert_int_equal(append(journal, "task_end"), 0);
	lens_journal_destroy(journal);
	assert_events(scratch, "step_open task_end ", 1);
}

/* The task is the job's user by then: the descriptor is all that it needs. */
static void a_task_writes_as_another_user(void **state)
{
	struct scratch *scratch = *state;
	struct lens_journal *journal;
	pid_t task;

	if (geteuid() != 0)
		skip();
	journal = lens_journal_create(scratch->fd, &journal_name, NULL);
	task = scratch_fork();
	assert_true(task >= 0);
	if (task == 0) {
		if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0)
			_exit(1);
		_exit(append(journal, "task_open") == 0 ? 0 : 2);
	}
	assert_int_equal(scratch_wait(task), 0);
	lens_journal_destroy(journal);
	assert_events(scratch, "task_open ", 0);
}

static void what_is_no_file_is_refused(void **state)
{
	struct scratch *scratch = *state;
	struct lens_error err = LENS_ERROR_INIT;

	assert_int_equal(symlink("elsewhere", scratch_path(scratch, FILE_NAME)), 0);
	assert_null(lens_journal_create(scratch->fd, &journal_name, &err));
	assert_false(scratch_has(scratch, "elsewhere"));
	assert_int_equal(unlink(scratch_path(scratch, FILE_NAME)), 0);
	assert_int_equal(mkfifo(scratch_path(scratch, FILE_NAME), 0600), 0);
	assert_null(lens_journal_create(scratch->fd, &journal_name, &err));
	assert_non_null(strstr(err.text, "no regular file"));
	assert_null(lens_journal_create(-1, &journal_name, &err));
}

static void it_takes_no_standard_descriptor(void **state)
{
	struct scratch *scratch = *state;
	pid_t pid = scratch_fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		close(0);
		if (!lens_journal_create(scratch->fd, &journal_name, NULL))
			_exit(1);
		_exit(fcntl(0, F_GETFD) == -1 ? 0 : 2);
	}
	assert_int_equal(scratch_wait(pid), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(a_killed_writer_is_seen_though_its_task_lives),
		scratch_test(a_second_writer_is_refused),
		scratch_test(the_file_is_the_owners_alone),
		scratch_test(a_left_over_is_gone_on_with),
		scratch_test(a_line_that_a_task_cut_is_the_only_one_lost),
		scratch_test(a_task_writes_as_another_user),
		scratch_test(what_is_no_file_is_refused),
		scratch_test(it_takes_no_standard_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
