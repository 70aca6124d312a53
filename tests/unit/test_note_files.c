/* SPDX-License-Identifier: Apache-2.0 */
/* Notes that several processes write at once. */
#include "lib/core/hash.h"
#include "lib/core/note.h"
#include "lib/core/statedir.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/scratch.h"

#define ROUNDS 3000

static const struct lens_note note = { .job = 8,
				       .leader = 8,
				       .cluster = (char *)"mini",
				       .node = (char *)"n1",
				       .sluid = (char *)"",
				       .lens = true };

static void name_format(char out[LENS_STATE_NAME], enum lens_state_kind kind)
{
	const struct lens_state_name name = { .kind = kind,
					      .job = 8,
					      .node = lens_name_number("n1") };

	lens_state_name_format(out, &name);
}

/* Another process writes the same note at this moment: its file is not touched. */
static void a_temporary_file_is_one_processs_own(void **state)
{
	struct scratch *scratch = *state;
	struct lens_error err = LENS_ERROR_INIT;
	char now[LENS_STATE_NAME], own[128], other[128];

	name_format(now, LENS_STATE_NOTE);
	snprintf(own, sizeof(own), "tmp.%s.%u", now, (unsigned int)getpid());
	snprintf(other, sizeof(other), "tmp.%s.%u", now, (unsigned int)getpid() + 1);
	scratch_write(scratch, other, "half");
	/* A process of the same number was killed in it. */
	assert_int_equal(symlink("/etc/passwd", scratch_path(scratch, own)), 0);
	assert_int_equal(lens_note_write(scratch->fd, &note, 100, &err), 0);
	assert_true(scratch_has(scratch, other));
	assert_false(scratch_has(scratch, own));
	assert_true(scratch_has(scratch, now));
}

static void old_temporary_files_are_swept(void **state)
{
	struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	struct scratch *scratch = *state;

	scratch_write(scratch, "tmp.8.1.7", "old");
	scratch_write(scratch, "tmp.8.1.8", "young");
	scratch_write(scratch, "8.1", "note");
	assert_int_equal(utimensat(scratch->fd, "tmp.8.1.7", old, 0), 0);
	assert_int_equal(utimensat(scratch->fd, "8.1", old, 0), 0);
	lens_note_sweep(scratch->fd);
	assert_false(scratch_has(scratch, "tmp.8.1.7"));
	assert_true(scratch_has(scratch, "tmp.8.1.8"));
	assert_true(scratch_has(scratch, "8.1"));
}

/* The agent is done with the ended note while the same attempt ends again. */
static void an_ended_note_may_go_at_any_moment(void **state)
{
	struct scratch *scratch = *state;
	struct lens_carrier *epilog = lens_record_create("epilog");
	struct lens_error err = LENS_ERROR_INIT;
	char ended[LENS_STATE_NAME];
	pid_t agent;

	name_format(ended, LENS_STATE_ENDED);
	agent = scratch_fork();
	if (agent == 0) {
		for (;;)
			unlinkat(scratch->fd, ended, 0);
	}
	for (int i = 0; i < ROUNDS; i++) {
		scratch_write(scratch, ended, "v=1,t=5,e=note,job=8,attempt=0,node=n1\n");
		assert_int_equal(lens_note_write(scratch->fd, &note, 100, &err), 0);
		if (lens_note_end(scratch->fd, &note, true, epilog, &err) != 0)
			fail_msg("round %d: %s", i, err.text);
	}
	kill(agent, SIGKILL);
	scratch_wait(agent);
	lens_carrier_destroy(epilog);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(a_temporary_file_is_one_processs_own),
		scratch_test(old_temporary_files_are_swept),
		scratch_test(an_ended_note_may_go_at_any_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
