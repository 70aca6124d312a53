/* SPDX-License-Identifier: Apache-2.0 */
/* Requests under way: the receiver answers when the test says so. */
#include "lib/job/backlog.h"

#include "lib/core/hash.h"
#include "lib/core/statedir.h"
#include "lib/core/text.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/job_sample.h"
#include "tests/unit/scratch.h"
#include "tests/unit/batch_world.h"

static void jobs_share_a_request(void **state)
{
	struct world *world = *state;

	for (uint32_t job = 1; job <= 3; job++)
		journal_batch(world, job, "team%3Da");
	run(world);
	assert_true(world->result.pending);
	assert_int_equal(world->count, 3);
	assert_int_equal(world->groups, 3); /* one resource a job */
	assert_true(scratch_has(world->scratch, JOURNAL(2, BATCH)));
	run(world); /* something else happened meanwhile */
	assert_int_equal(world->requests, 1);
	assert_true(world->result.pending);
	answer(world, LENS_VERDICT_DONE);
	assert_int_equal(world->result.sent, 3);
	for (uint32_t job = 1; job <= 3; job++)
		assert_false(scratch_has(world->scratch, JOURNAL(job, BATCH)));
	drain(world);
	assert_int_equal(world->requests, 1);
}

static void what_is_not_acknowledged_goes_again(void **state)
{
	struct world *world = *state;
	char first[17];

	journal_batch(world, 1, "a%3Db");
	run(world);
	strcpy(first, world->ids[0]);
	answer(world, LENS_VERDICT_RETRY);
	assert_true(world->result.refused);
	assert_true(world->result.unsent);
	assert_int_equal(world->result.retry_after_ms, 9000);
	assert_int_equal(world->requests, 1);
	assert_true(scratch_has(world->scratch, JOURNAL(1, BATCH)));
	run(world);
	assert_int_equal(world->requests, 2);
	assert_string_equal(world->ids[0], first);
	answer(world, LENS_VERDICT_DONE);
	assert_false(scratch_has(world->scratch, JOURNAL(1, BATCH)));
}

static void what_is_under_way_is_not_dropped(void **state)
{
	struct world *world = *state;

	journal_batch(world, 1, "a%3Db");
	lens_backlog_limit(world->backlog, 1);
	run(world);
	run(world);
	assert_true(world->result.pending);
	assert_true(scratch_has(world->scratch, JOURNAL(1, BATCH)));
	answer(world, LENS_VERDICT_DONE);
	assert_int_equal(world->result.sent, 1);
	assert_int_equal(world->result.capped, 0);
}

/* Else a request that holds all there is would keep the limit off for ever. */
static void what_was_refused_is_under_the_limit_again(void **state)
{
	struct world *world = *state;

	journal_batch(world, 1, "a%3Db");
	run(world);
	run(world);
	assert_true(world->result.pending);
	answer(world, LENS_VERDICT_RETRY);
	assert_int_equal(world->result.capped, 0);
	run(world); /* it goes again */
	assert_int_equal(world->requests, 2);
	lens_backlog_limit(world->backlog, 1);
	assert_true(scratch_has(world->scratch, JOURNAL(1, BATCH)));
	answer(world, LENS_VERDICT_RETRY);
	assert_int_equal(world->result.capped, 1);
	assert_false(scratch_has(world->scratch, JOURNAL(1, BATCH)));
}

/* Else each of a receiver's refusals would cost a look at all files. */
static void a_refusal_looks_at_no_file_where_the_run_left_few(void **state)
{
	struct world *world = *state;
	char large[128 * 1024];
	char *text;
	size_t length;

	journal_batch(world, 1, "a%3Db");
	lens_backlog_limit(world->backlog, sizeof(large) / 2);
	run(world);
	text = scratch_read(world->scratch, JOURNAL(1, BATCH));
	length = strlen(text);
	memset(large, 'x', sizeof(large) - 1);
	memcpy(large, text, length);
	large[sizeof(large) - 1] = '\0';
	free(text);
	scratch_write(world->scratch, JOURNAL(1, BATCH), large);
	answer(world, LENS_VERDICT_RETRY);
	assert_int_equal(world->result.capped, 0);
	assert_true(scratch_has(world->scratch, JOURNAL(1, BATCH)));
	run(world); /* it sees what has grown, but spares what it sends */
	assert_int_equal(world->result.capped, 0);
	answer(world, LENS_VERDICT_RETRY);
	assert_int_equal(world->result.capped, 1);
	assert_false(scratch_has(world->scratch, JOURNAL(1, BATCH)));
}

static void many_go_in_turn_each_once(void **state)
{
	struct world *world = *state;

	/* A step is its span and those of 300 tasks. */
	for (uint32_t step = 0; step < 7; step++)
		journal_tasks(world, step, 300);
	run(world);
	assert_int_equal(world->count, LENS_BATCH_SPANS);
	assert_true(world->result.unsent);
	drain(world);
	assert_int_equal(world->requests, 5); /* 7 * 301 spans */
	assert_each_once(world, (size_t)7 * 301);
	for (uint32_t step = 0; step < 7; step++)
		assert_false(scratch_has(world->scratch, JOURNAL(12345, step)));
	assert_false(world->result.unsent);
}

static void bytes_bound_a_request(void **state)
{
	struct world *world = *state;
	struct lens_text resource = LENS_TEXT_INIT;

	lens_text_adds(&resource, "blob%3D");
	for (int i = 0; i < 60000; i++)
		lens_text_adds(&resource, "x");
	for (uint32_t job = 1; job <= 40; job++)
		journal_batch(world, job, resource.data);
	run(world);
	while (world->result.pending) {
		assert_true(world->bytes < LENS_BATCH_BYTES + 256 * 1024);
		answer(world, LENS_VERDICT_DONE);
	}
	assert_true(world->requests > 2 && world->requests < 10);
	assert_each_once(world, 40);
	lens_text_clear(&resource);
}

static void too_large_is_halved_and_grows_again(void **state)
{
	struct world *world = *state;
	uint64_t dropped = 0;

	for (uint32_t job = 1; job <= 40; job++)
		journal_batch(world, job, "");
	run(world);
	assert_int_equal(world->count, 40);
	answer(world, LENS_VERDICT_SPLIT);
	assert_int_equal(world->count, 20);
	answer(world, LENS_VERDICT_SPLIT);
	assert_int_equal(world->count, 10);
	answer(world, LENS_VERDICT_DONE);
	assert_int_equal(world->count, 20);
	while (world->count > 1) /* down to the one that is too large by itself */
		answer(world, LENS_VERDICT_SPLIT);
	answer(world, LENS_VERDICT_SPLIT);
	dropped += world->result.dropped;
	assert_int_equal(dropped, 1);
	drain(world);
	assert_each_once(world, 39);
}

static void a_dropped_request_is_counted_and_gone(void **state)
{
	struct world *world = *state;

	journal_batch(world, 1, "");
	journal_batch(world, 2, "");
	run(world);
	answer(world, LENS_VERDICT_DROP);
	assert_int_equal(world->result.dropped, 2);
	assert_int_equal(world->result.sent, 0);
	assert_false(scratch_has(world->scratch, JOURNAL(1, BATCH)));
	assert_false(scratch_has(world->scratch, JOURNAL(2, BATCH)));
}

#define NOTE_LINE                                                                              \
	"v=1,t=100500000000,m=1,e=note,job=12345,leader=12345,attempt=0,cluster=mini,node=n1," \
	"lens=1,first=1\n"

/* SLOW: slurmctld tells the end some runs later. */
static void note_ends_while_its_start_is_under_way(struct world *world, bool slow)
{
	size_t start;
	char *note;

	scratch_write(world->scratch, NOTE, NOTE_LINE);
	run(world);
	run(world);
	assert_true(world->result.pending);
	start = world->count;
	/* The epilog renames it, while the request is under way. */
	note = scratch_read(world->scratch, NOTE);
	note = realloc(note, strlen(note) + 200);
	strcat(note, "v=1,t=110900000000,m=9,e=epilog,attempt=0,nodelist=n1,first=1\n");
	assert_int_equal(renameat(world->scratch->fd, NOTE, world->scratch->fd, ENDED), 0);
	scratch_write(world->scratch, ENDED, note);
	free(note);
	world->slow = slow;
	run(world);
	answer(world, LENS_VERDICT_DONE);
	for (int i = 0; i < 3; i++)
		run(world);
	world->slow = false;
	run(world);
	drain(world);
	assert_false(scratch_has(world->scratch, ENDED));
	assert_true(world->accepted_count > start);
	assert_each_once(world,
			 world->accepted_count); /* the start's spans are not among them again */
}

static void start_under_way_while_the_note_ends(void **state)
{
	note_ends_while_its_start_is_under_way(*state, false);
}

static void start_under_way_while_the_note_ends_and_slurmctld_is_slow(void **state)
{
	note_ends_while_its_start_is_under_way(*state, true);
}

static void questions_do_not_wait_for_the_receiver(void **state)
{
	struct world *world = *state;

	journal_batch(world, 1, "");
	run(world);
	assert_true(world->result.pending);
	scratch_write(world->scratch, NOTE, NOTE_LINE);
	run(world);
	assert_int_equal(world->asked, 1);
	run(world); /* the answer is noted down though nothing can be sent */
	assert_int_equal(world->requests, 1);
	assert_true(world->result.unsent);
	answer(world, LENS_VERDICT_DONE);
	assert_true(world->result.pending); /* at once */
	assert_int_equal(world->requests, 2);
	drain(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(jobs_share_a_request, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_acknowledged_goes_again, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_is_under_way_is_not_dropped, setup, teardown),
		cmocka_unit_test_setup_teardown(a_refusal_looks_at_no_file_where_the_run_left_few,
						setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_refused_is_under_the_limit_again, setup,
						teardown),
		cmocka_unit_test_setup_teardown(many_go_in_turn_each_once, setup, teardown),
		cmocka_unit_test_setup_teardown(bytes_bound_a_request, setup, teardown),
		cmocka_unit_test_setup_teardown(too_large_is_halved_and_grows_again, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_dropped_request_is_counted_and_gone, setup,
						teardown),
		cmocka_unit_test_setup_teardown(start_under_way_while_the_note_ends, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			start_under_way_while_the_note_ends_and_slurmctld_is_slow, setup, teardown),
		cmocka_unit_test_setup_teardown(questions_do_not_wait_for_the_receiver, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
