/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/backlog.h"

#include "lib/core/hash.h"
#include "lib/core/journal.h"
#include "lib/core/note.h"
#include "lib/core/record.h"
#include "lib/core/statedir.h"

#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "tests/unit/job_world.h"

static void a_whole_job_is_told_in_order(void **state)
{
	struct world *world = *state;
	char *note;

	scratch_write(world->scratch, NOTE, NOTE_LINE(",lens=1,first=1"));
	run_twice(world);
	assert_string_equal(world->spans, "slurm.phase.queued,slurm.job_start,");
	note = scratch_read(world->scratch, NOTE);
	assert_non_null(strstr(note, "e=answer"));
	assert_non_null(strstr(note, "e=sent"));
	free(note);
	run_twice(world); /* nothing new: nothing is sent, nothing is asked */
	assert_int_equal(world->requests, 1);
	assert_int_equal(world->asked, 1);
	assert_int_equal(world->result.due_ms, -1);

	scratch_write(world->scratch, JOURNAL(BATCH), BATCH_LINES BATCH_END);
	run(world);
	assert_string_equal(world->spans, "slurm.phase.queued,slurm.job_start,slurm.batch,");
	assert_false(scratch_has(world->scratch, JOURNAL(BATCH)));
	note = scratch_read(world->scratch, NOTE);
	assert_non_null(strstr(note, "e=window,from=100700000000,to=110700000000,step=4294967291,"
				     "resource=team%3Da\n"));
	scratch_write(world->scratch, ENDED(0), note);
	free(note);

	assert_int_equal(renameat(world->scratch->fd, NOTE, world->scratch->fd, ENDED(0)), 0);
	note = scratch_read(world->scratch, ENDED(0));
	note = realloc(note, strlen(note) + 200);
	scratch_write(world->scratch, ENDED(0), strcat(note, EPILOG_LINE(",first=1")));
	free(note);
	world->answer = COMPLETED;
	run_twice(world);
	assert_string_equal(
		world->spans,
		"slurm.phase.queued,slurm.job_start,slurm.batch,slurm.job_attempt,slurm.job,"
		"slurm.job_setup,slurm.job_teardown,");
	assert_int_equal(world->asked, 2); /* two questions an attempt */
	assert_false(scratch_has(world->scratch, ENDED(0)));
	/* Widened by what the journal, long gone, had covered. */
	assert_window(sample_span(world->last, "slurm.job", 0), "100000000000", "110700000000");
	assert_string_equal(sample_resource(world->last, "team"), "a");
	assert_int_equal(world->result.sent, 4);
	assert_string_equal(world->log, "");
}

static void plain_jobs_and_other_nodes_are_left_alone(void **state)
{
	struct world *world = *state;

	scratch_write(world->scratch, NOTE, NOTE_LINE(""));
	run_twice(world);
	scratch_write(world->scratch, NOTE, NOTE_LINE(",lens=1")); /* not known to be the first */
	run_twice(world);
	assert_true(scratch_has(world->scratch, NOTE));
	scratch_write(world->scratch, ENDED(0), NOTE_LINE(",lens=1") EPILOG_LINE(""));
	run_twice(world);
	assert_false(scratch_has(world->scratch, ENDED(0)));
	assert_int_equal(world->asked, 0);
	assert_int_equal(world->requests, 0);
}

static void batch_script_shows_the_first_node(void **state)
{
	struct world *world = *state;
	struct lens_state_name name = { .kind = LENS_STATE_JOURNAL,
					.job = 12345,
					.node = lens_name_number("n1"),
					.step = BATCH,
					.pid = 42 };
	int ready[2];
	pid_t writer;
	char byte;

	assert_int_equal(pipe(ready), 0);
	writer = fork();
	if (writer == 0) { /* a slurmstepd that lives and is killed */
		struct lens_journal *journal = lens_journal_create(world->scratch->fd, &name, NULL);

		if (journal == NULL || write(ready[1], "x", 1) != 1)
			_exit(1);
		alarm(60);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	scratch_write(world->scratch, NOTE, NOTE_LINE(",lens=1"));
	run_twice(world); /* the journal says nothing yet */
	assert_int_equal(world->asked, 0);
	assert_int_equal(world->result.due_ms, world->now_ms + 1000);
	scratch_write(world->scratch, JOURNAL(BATCH), BATCH_LINES);
	run_twice(world);
	assert_string_equal(world->spans, "slurm.phase.queued,slurm.job_start,");
	assert_string_equal(sample_resource(world->last, "team"), "a");
	assert_true(scratch_has(world->scratch, JOURNAL(BATCH)));

	/* Its note ends while its journal has a writer: the job waits. */
	scratch_write(world->scratch, ENDED(0), NOTE_LINE(",lens=1") EPILOG_LINE(",first=1"));
	assert_int_equal(unlinkat(world->scratch->fd, NOTE, 0), 0);
	world->answer = COMPLETED;
	run_twice(world);
	assert_int_equal(world->asked, 1);
	kill(writer, SIGKILL);
	assert_int_equal(scratch_wait(writer), 1000 + SIGKILL);
	run_twice(world);
	assert_string_equal(world->spans,
			    "slurm.phase.queued,slurm.job_start,slurm.batch,slurm.phase.queued,"
			    "slurm.job_start,slurm.job_attempt,slurm.job,slurm.job_setup,"
			    "slurm.job_teardown,");
	assert_false(scratch_has(world->scratch, JOURNAL(BATCH)));
	assert_false(scratch_has(world->scratch, ENDED(0)));
	close(ready[0]);
	close(ready[1]);
}

/* The prolog is done before slurmstepd begins: what --lens-attr and the like say is not there yet. */
static void the_start_waits_for_the_first_step(void **state)
{
	struct world *world = *state;
	char note[300];

	snprintf(note, sizeof(note),
		 "v=1,t=%" PRId64 "000000000,m=1,e=note,job=12345,leader=12345,attempt=0,"
		 "cluster=mini,node=n1,lens=1,first=1\n",
		 (int64_t)time(NULL));
	scratch_write(world->scratch, NOTE, note);
	run_twice(world);
	assert_int_equal(world->asked, 0);
	assert_true(world->result.due_ms > world->now_ms &&
		    world->result.due_ms <= world->now_ms + 5000);
	scratch_write(world->scratch, JOURNAL(BATCH), BATCH_LINES BATCH_END);
	run_twice(world);
	assert_string_equal(world->spans, "slurm.batch,slurm.phase.queued,slurm.job_start,");
	assert_string_equal(sample_resource(world->last, "team"), "a");
}

static void nothing_is_lost_while_the_receiver_is_away(void **state)
{
	struct world *world = *state;

	scratch_write(world->scratch, JOURNAL(BATCH), BATCH_LINES BATCH_END);
	scratch_write(world->scratch, JOURNAL(0),
		      "v=1,t=1,m=1,e=step_open,job=12345,attempt=0,"
		      "cluster=mini,node=n1,step=0,kind=step\n"
		      "v=1,t=2,m=2,e=task_open,rank=0,nodeid=0,export=0\nv=1,t=3,m=3,e=step_end\n");
	scratch_write(world->scratch, ENDED(0), NOTE_LINE(",lens=1") EPILOG_LINE(",first=1"));
	world->verdict = LENS_VERDICT_RETRY;
	world->answer = COMPLETED;
	run_twice(world);
	assert_int_equal(world->requests, 2); /* one try a run, not one a file */
	assert_true(world->result.unsent);
	assert_int_equal(world->result.retry_after_ms, 7000);
	assert_string_equal(world->result.message, "says the test");
	assert_true(scratch_has(world->scratch, JOURNAL(BATCH)));
	assert_true(scratch_has(world->scratch, JOURNAL(0)));
	assert_true(scratch_has(world->scratch, ENDED(0)));

	/* Another process goes on. */
	lens_backlog_destroy(world->backlog);
	backlog_begin(world);
	world->verdict = LENS_VERDICT_DONE;
	run_twice(world);
	assert_false(world->result.unsent);
	assert_non_null(strstr(world->spans, "slurm.batch,"));
	assert_non_null(strstr(world->spans, "slurm.step,"));
	assert_non_null(strstr(world->spans,
			       "slurm.phase.queued,slurm.job_start,slurm.job_attempt,slurm.job,"));
	assert_false(scratch_has(world->scratch, JOURNAL(BATCH)));
	assert_false(scratch_has(world->scratch, JOURNAL(0)));
	assert_false(scratch_has(world->scratch, ENDED(0)));
}

static void what_is_refused_for_good_is_said_and_gone(void **state)
{
	struct world *world = *state;

	world->verdict = LENS_VERDICT_DROP;
	scratch_write(world->scratch, JOURNAL(BATCH), BATCH_LINES BATCH_END);
	run(world);
	assert_int_equal(world->result.dropped, 1);
	assert_int_equal(world->result.sent, 0);
	assert_non_null(strstr(world->log, "1 spans of job 12345 were refused"));
	assert_false(scratch_has(world->scratch, JOURNAL(BATCH)));
}

static void many_tasks_go_in_pages(void **state)
{
	struct world *world = *state;
	struct lens_text journal = LENS_TEXT_INIT;

	lens_text_adds(&journal, "v=1,t=1,m=1,e=step_open,job=12345,attempt=0,cluster=mini,node=n1,"
				 "step=0,kind=step\n");
	for (int rank = 0; rank < 600; rank++)
		lens_text_addf(&journal, "v=1,t=2,m=2,e=task_open,rank=%d,nodeid=1,export=1\n",
			       rank);
	scratch_write(world->scratch, JOURNAL(0), journal.data);
	run(world);
	assert_int_equal(world->requests, 2);
	assert_int_equal(world->result.sent, 601); /* and slurm.step.node */
	/* Too large: halves until they fit; each span still once. */
	world->split_above = 200;
	scratch_write(world->scratch, JOURNAL(0), journal.data);
	run(world);
	assert_int_equal(world->result.sent, 601); /* and slurm.step.node */
	/* A span that is too large by itself is lost, alone. */
	world->split_above = 0;
	world->verdict = LENS_VERDICT_SPLIT;
	scratch_write(world->scratch, JOURNAL(BATCH), BATCH_LINES BATCH_END);
	run(world);
	assert_int_equal(world->result.dropped, 1);
	assert_false(scratch_has(world->scratch, JOURNAL(BATCH)));
	lens_text_clear(&journal);
}

static void silent_slurmctld_is_asked_again_and_given_up(void **state)
{
	struct world *world = *state;
	unsigned int before;

	world->reply = LENS_REPLY_NONE;
	scratch_write(world->scratch, ENDED(0), NOTE_LINE(",lens=1") EPILOG_LINE(",first=1"));
	run_twice(world);
	assert_int_equal(world->result.unanswered, 1);
	assert_true(world->result.due_ms > world->now_ms);
	before = world->asked;
	run_twice(world); /* not before its time */
	assert_int_equal(world->asked, before);
	while (world->now_ms < 1000000 + LENS_SILENCE_MS) {
		assert_true(scratch_has(world->scratch, ENDED(0)));
		world->now_ms += 30 * 1000;
		run_twice(world);
	}
	world->now_ms += 60 * 1000;
	run_twice(world);
	assert_true(world->asked > before && world->asked < 30);
	assert_false(scratch_has(world->scratch, ENDED(0)));
	assert_string_equal(world->spans,
			    "slurm.phase.queued,slurm.job_start,slurm.job_attempt,slurm.job,");
	assert_string_equal(
		sample_attribute(sample_span(world->last, "slurm.job", 0), "slurm.confidence"),
		"synthesized");
}

static void a_slow_question_holds_up_nobody(void **state)
{
	struct world *world = *state;

	world->reply = LENS_REPLY_PENDING;
	scratch_write(world->scratch, ENDED(0), NOTE_LINE(",lens=1") EPILOG_LINE(",first=1"));
	scratch_write(world->scratch, JOURNAL(BATCH), BATCH_LINES BATCH_END);
	run_twice(world);
	assert_string_equal(world->spans, "slurm.batch,");
	assert_int_equal(world->result.asking, 1);
	assert_int_equal(world->asked, 1);
}

static void requeue_at_the_end_and_another_attempt_at_the_start(void **state)
{
	struct world *world = *state;

	world->answer =
		"found=1,job=12345,attempt=1,state=PENDING,submit=111,start=117,end=9999999";
	scratch_write(world->scratch, NOTE, NOTE_LINE(",lens=1,first=1"));
	run_twice(world);
	assert_int_equal(world->asked, 1);
	assert_string_equal(world->spans, ""); /* not about this attempt */
	run_twice(world);
	assert_int_equal(world->asked, 1);
	assert_int_equal(unlinkat(world->scratch->fd, NOTE, 0), 0);
	scratch_write(world->scratch, ENDED(0), NOTE_LINE(",lens=1") EPILOG_LINE(",first=1"));
	run_twice(world);
	assert_string_equal(
		sample_attribute(sample_span(world->last, "slurm.job", 0), "slurm.state"),
		"REQUEUED");
}

static void a_node_given_back_says_nothing(void **state)
{
	struct world *world = *state;

	scratch_write(world->scratch, ENDED(0), NOTE_LINE(",lens=1") EPILOG_LINE(",first=1"));
	run_twice(world); /* slurmctld: RUNNING, this attempt */
	assert_string_equal(world->spans, "");
	assert_false(scratch_has(world->scratch, ENDED(0)));
}

static void foreign_files_stay(void **state)
{
	struct world *world = *state;

	scratch_write(world->scratch, "agent.lock", "1 x\n");
	scratch_write(world->scratch, "README", "hello\n");
	scratch_write(world->scratch, "007.1", "not canonical\n");
	assert_int_equal(symlinkat("README", world->scratch->fd, JOURNAL(0)), 0);
	assert_int_equal(mkdirat(world->scratch->fd, ENDED(3), 0700), 0);
	/* Somebody may be about to write these. */
	scratch_write(world->scratch, JOURNAL(1), "");
	scratch_write(world->scratch, ENDED(1), "v=1,garb");
	run_twice(world);
	assert_true(scratch_has(world->scratch, "agent.lock"));
	assert_true(scratch_has(world->scratch, "README"));
	assert_true(scratch_has(world->scratch, "007.1"));
	assert_true(scratch_has(world->scratch, JOURNAL(0)));
	assert_true(scratch_has(world->scratch, ENDED(3)));
	assert_true(scratch_has(world->scratch, JOURNAL(1)));
	assert_true(scratch_has(world->scratch, ENDED(1)));
	assert_int_equal(world->result.due_ms, world->now_ms + 60000);
	assert_int_equal(world->requests, 0);
}

static void old_rubbish_is_removed(void **state)
{
	struct world *world = *state;
	struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	char journal[LENS_STATE_NAME], ended[LENS_STATE_NAME];

	strcpy(journal, JOURNAL(1));
	strcpy(ended, ENDED(1));
	scratch_write(world->scratch, journal, "");
	scratch_write(world->scratch, ended, "v=1,garb");
	assert_int_equal(utimensat(world->scratch->fd, journal, old, 0), 0);
	assert_int_equal(utimensat(world->scratch->fd, ended, old, 0), 0);
	run(world);
	assert_false(scratch_has(world->scratch, journal));
	assert_false(scratch_has(world->scratch, ended));
	assert_non_null(strstr(world->log, "holds nothing that can be read"));
}

static void window_finds_the_note_of_its_attempt(void **state)
{
	struct world *world = *state;
	char *text;

	/* The next attempt is on the node already. */
	scratch_write(world->scratch, NOTE,
		      "v=1,t=120500000000,m=1,e=note,job=12345,leader=12345,"
		      "attempt=1,cluster=mini,node=n1,lens=1\n");
	scratch_write(world->scratch, ENDED(0), NOTE_LINE(",lens=1") EPILOG_LINE(",first=1"));
	scratch_write(world->scratch, JOURNAL(BATCH), BATCH_LINES BATCH_END);
	world->reply = LENS_REPLY_PENDING;
	run(world);
	text = scratch_read(world->scratch, ENDED(0));
	assert_non_null(strstr(text, "e=window"));
	free(text);
	text = scratch_read(world->scratch, NOTE);
	assert_null(strstr(text, "e=window"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		world_test(a_whole_job_is_told_in_order),
		world_test(plain_jobs_and_other_nodes_are_left_alone),
		world_test(batch_script_shows_the_first_node),
		world_test(the_start_waits_for_the_first_step),
		world_test(nothing_is_lost_while_the_receiver_is_away),
		world_test(what_is_refused_for_good_is_said_and_gone),
		world_test(many_tasks_go_in_pages),
		world_test(silent_slurmctld_is_asked_again_and_given_up),
		world_test(a_slow_question_holds_up_nobody),
		world_test(requeue_at_the_end_and_another_attempt_at_the_start),
		world_test(a_node_given_back_says_nothing),
		world_test(foreign_files_stay),
		world_test(old_rubbish_is_removed),
		world_test(window_finds_the_note_of_its_attempt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
