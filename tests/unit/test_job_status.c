/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/status.h"

#include "lib/core/journal.h"
#include "lib/job/waiting.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/scratch.h"

static void status_comes_as_it_went(void **state)
{
	struct scratch *scratch = *state;
	struct lens_status out, in = {
		.version = "1.2",
		.protocol = "http/protobuf",
		.receiver = "https://***@h:4318/v1, traces",
		.pid = 4294967295U,
		.sender = 7,
		.started = 1800000000,
		.sent = UINT64_MAX,
		.retried = 3,
		.dropped = 4,
		.dropped_why = "HTTP 400: \"a=b, c%\"",
		.dropped_at = 1800000001,
		.sent_at = 1800000002,
		.failing_since = 1800000003,
		.error = "h\xc3\xa4ngt",
		.error_at = 1800000004,
	};

	assert_int_equal(lens_status_read(scratch->fd, &out, NULL), 1);
	assert_int_equal(lens_status_write(scratch->fd, &in, NULL), 0);
	assert_int_equal(lens_status_read(scratch->fd, &out, NULL), 0);
	assert_memory_equal(&in, &out, sizeof(in));
	in.sent = 1;
	assert_int_equal(lens_status_write(scratch->fd, &in, NULL), 0);
	assert_int_equal(lens_status_read(scratch->fd, &out, NULL), 0);
	assert_memory_equal(&in, &out, sizeof(in));
	assert_false(scratch_has(scratch, "agent.status.part"));
}

static void what_is_no_status_is_said(void **state)
{
	struct scratch *scratch = *state;
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_status out;

	scratch_write(scratch, "agent.status", "rubbish\n");
	assert_int_equal(lens_status_read(scratch->fd, &out, &err), -1);
	assert_non_null(strstr(err.text, "agent.status"));
	assert_int_equal(unlinkat(scratch->fd, "agent.status", 0), 0);
	assert_int_equal(symlinkat("other", scratch->fd, "agent.status"), 0);
	scratch_write(scratch, "other", "v=1,t=5,m=1,e=status,pid=1\n");
	assert_int_equal(lens_status_read(scratch->fd, &out, NULL), -1);
}

static void a_link_is_not_written_through(void **state)
{
	struct scratch *scratch = *state;
	struct lens_status status = { .pid = 1 };
	char *text;

	scratch_write(scratch, "victim", "whole");
	assert_int_equal(symlinkat("victim", scratch->fd, "agent.status.part"), 0);
	assert_int_equal(lens_status_write(scratch->fd, &status, NULL), -1);
	text = scratch_read(scratch, "victim");
	assert_string_equal(text, "whole");
	free(text);
}

static void files_are_counted_by_what_they_wait_for(void **state)
{
	struct scratch *scratch = *state;
	struct lens_state_name name = { .kind = LENS_STATE_JOURNAL, .job = 9, .step = 1, .pid = 2 };
	static const char *const files[] = { "1.0", "2.0", "1.0.0", "1.0.7.8" };
	struct lens_waiting out;
	uint64_t blocks = 0;
	int ready[2];
	pid_t writer;
	char byte;

	assert_int_equal(lens_waiting_count(scratch->fd, &out, NULL), 0);
	assert_int_equal(out.oldest, 0);
	assert_int_equal(pipe(ready), 0);
	writer = scratch_fork();
	if (writer == 0) {
		if (lens_journal_create(scratch->fd, &name, NULL) == NULL ||
		    write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	scratch_write(scratch, "1.0", "note");
	scratch_write(scratch, "2.0", "note");
	scratch_write(scratch, "1.0.0", "ended");
	scratch_write(scratch, "1.0.7.8", "journal");
	scratch_write(scratch, "agent.log", "log");
	assert_int_equal(mkdirat(scratch->fd, "3.0.0", 0700), 0);
	assert_int_equal(lens_waiting_count(scratch->fd, &out, NULL), 0);
	assert_int_equal(out.notes, 2);
	assert_int_equal(out.notes_waiting, 1);
	assert_int_equal(out.journals_open, 1);
	assert_int_equal(out.journals_waiting, 1);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct stat status;

		assert_int_equal(fstatat(scratch->fd, files[i], &status, 0), 0);
		blocks += (uint64_t)status.st_blocks;
	}
	assert_true(blocks > 0);
	assert_int_equal(out.bytes, blocks * 512); /* as MaxSpool counts them */
	assert_true(out.oldest > 0);
	kill(writer, SIGKILL);
	assert_int_equal(scratch_wait(writer), 1000 + SIGKILL);
	assert_int_equal(lens_waiting_count(scratch->fd, &out, NULL), 0);
	assert_int_equal(out.journals_open, 0);
	assert_int_equal(out.journals_waiting, 2);
	close(ready[0]);
	close(ready[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(status_comes_as_it_went, scratch_setup,
						scratch_teardown),
		cmocka_unit_test_setup_teardown(what_is_no_status_is_said, scratch_setup,
						scratch_teardown),
		cmocka_unit_test_setup_teardown(a_link_is_not_written_through, scratch_setup,
						scratch_teardown),
		cmocka_unit_test_setup_teardown(files_are_counted_by_what_they_wait_for,
						scratch_setup, scratch_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
