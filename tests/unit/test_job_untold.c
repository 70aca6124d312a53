/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/backlog.h"
#include "lib/job/backlog_memory.h"

#include "lib/core/boot.h"
#include "lib/core/note.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/job_world.h"

/* Records read as lines, which clang-format would not keep. */
/* clang-format off */

#define TRACE_1 "ac7efdcece563fbeb417de698473a515"

/* A job of which no prolog told: the batch script's journal is all there is. */
#define UNNOTED                                                                               \
	"v=1,t=100700000000,m=500,e=step_open,job=12345,leader=12345,attempt=0,cluster=mini," \
	"node=n1,step=4294967291,kind=batch,inferred=1,resource=team%3Da\n"
#define AMEND                                                                                 \
	"v=1,t=100700000050,m=550,e=amend,attempt=1,trace=" TRACE_1 ",resource=team%3Db\n"
#define TASK "v=1,t=100700000100,m=600,e=task_open,rank=0,local=0,nodeid=0,pid=7,export=1\n"
#define EXTERN "v=1,t=111000000000,m=10300000000,e=extern,first=1,nodes=1\n"
#define EXTERN_OTHER "v=1,t=111000000000,m=10300000000,e=extern,first=0,nodes=2\n"

#define RUNNING_1 "found=1,job=12345,attempt=1,state=RUNNING,submit=90,eligible=90,start=100"
#define ENDED_1                                                                               \
	"found=1,job=12345,attempt=1,state=COMPLETED,submit=90,eligible=90,start=100,end=110"

static void append(struct world *world, const char *name, const char *line)
{
	char *text = scratch_read(world->scratch, name);

	assert_non_null(text);
	strcat(text, line); /* scratch_read leaves room */
	scratch_write(world->scratch, name, text);
	free(text);
}

static bool holds(struct world *world, const char *name, const char *needle)
{
	char *text = scratch_read(world->scratch, name);
	bool found = text != NULL && strstr(text, needle) != NULL;

	free(text);
	return found;
}

static void a_note_is_made_of_a_journal_and_ended_by_the_extern_step(void **state)
{
	struct world *world = *state;
	struct lens_carrier *record = lens_carrier_create();

	lens_carrier_parse(record, "v=1,t=111000000000,m=10300000000,e=extern,first=1,nodes=1",
			   NULL);
	world->answer = RUNNING_1;
	scratch_write(world->scratch, JOURNAL(BATCH), UNNOTED AMEND TASK BATCH_END);
	run(world);
	assert_string_equal(world->spans, "slurm.batch,");
	assert_true(holds(world, NOTE, "attempt=1,cluster=mini,node=n1"));
	assert_true(holds(world, NOTE, "journal=1"));
	run_twice(world);
	run(world);
	assert_non_null(strstr(world->spans,
			       "slurm.inter_attempt_gap,slurm.phase.queued,slurm.job_start,"));
	assert_string_equal(sample_attribute(sample_span(world->last, "slurm.job_start", 0),
					     "slurm.confidence"), "factual");

	assert_true(lens_note_tell(world->scratch->fd, 12345, "n1", record));
	lens_carrier_destroy(record);
	assert_true(holds(world, NOTE, "e=extern"));
	/* An epilog may be to come as long as slurmctld says COMPLETING. */
	world->answer = "found=1,job=12345,attempt=1,state=COMPLETED,completing=1,start=100,end=110";
	run_twice(world);
	assert_true(scratch_has(world->scratch, NOTE));
	assert_int_equal(world->result.due_ms, world->now_ms + 5000);
	assert_null(strstr(world->spans, "slurm.job_attempt"));
	world->now_ms += 5000;
	world->answer = ENDED_1;
	run_twice(world);
	assert_true(scratch_has(world->scratch, ENDED(1)));
	run(world);
	assert_non_null(strstr(world->spans, "slurm.job_attempt,slurm.job,slurm.job_setup,"));
	assert_window(sample_span(world->last, "slurm.job", 0), "100000000000", "110700000000");
	assert_string_equal(sample_field(sample_span(world->last, "slurm.job", 0), "traceId"),
			    TRACE_1);
	assert_false(scratch_has(world->scratch, NOTE));
	assert_false(scratch_has(world->scratch, ENDED(1)));
	assert_string_equal(world->log, "");
}

/* The agent was slow: the end was told to the journal. */
static void the_end_waits_in_the_journal(void **state)
{
	struct world *world = *state;

	world->answer = ENDED_1;
	scratch_write(world->scratch, JOURNAL(BATCH), UNNOTED AMEND TASK BATCH_END EXTERN);
	run(world);
	assert_true(holds(world, NOTE, "e=extern"));
	for (int i = 0; i < 4; i++)
		run(world);
	assert_non_null(strstr(world->spans, "slurm.job_attempt,slurm.job,"));
	assert_false(scratch_has(world->scratch, NOTE));
	assert_int_equal(world->result.due_ms, -1);
}

static void an_epilog_ends_it_at_once(void **state)
{
	struct world *world = *state;

	/* Its count is the next attempt's already: the journal knows better. */
	scratch_write(world->scratch, JOURNAL(BATCH), UNNOTED TASK BATCH_END
		      "v=1,t=110900000000,m=1,e=epilog,attempt=1,first=1,nodelist=n1\n");
	world->answer = "found=1,job=12345,attempt=1,state=PENDING,submit=111";
	run(world);
	assert_true(scratch_has(world->scratch, ENDED(0)));
	assert_false(scratch_has(world->scratch, NOTE));
	for (int i = 0; i < 3; i++)
		run(world);
	assert_string_equal(sample_attribute(sample_span(world->last, "slurm.job", 0),
					     "slurm.state"), "REQUEUED");
	assert_string_equal(sample_attribute(sample_span(world->last, "slurm.job", 0),
					     "slurm.attempt"), "int:0");
	assert_false(scratch_has(world->scratch, ENDED(0)));
}

static void a_batch_script_that_cannot_say_yet_is_waited_for(void **state)
{
	struct world *world = *state;
	struct lens_state_name name = { .kind = LENS_STATE_JOURNAL, .job = 12345, .pid = 7,
					.node = lens_name_number("n1"), .step = BATCH };
	char text[LENS_STATE_NAME];
	int pipes[2];
	pid_t writer;
	char byte;

	lens_state_name_format(text, &name);
	assert_int_equal(pipe(pipes), 0);
	writer = scratch_fork();
	if (writer == 0) {
		struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
		int fd;

		scratch_write(world->scratch, text, UNNOTED);
		fd = openat(world->scratch->fd, text, O_RDWR);
		if (fcntl(fd, F_SETLK, &lock) != 0 || write(pipes[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	run_twice(world);
	assert_false(scratch_has(world->scratch, NOTE));
	assert_string_equal(world->spans, "");
	kill(writer, SIGKILL);
	scratch_wait(writer);
	close(pipes[0]);
	close(pipes[1]);
	run(world);
	/* It died: nobody knows better any more. */
	assert_true(holds(world, NOTE, "attempt=0"));
	assert_string_equal(sample_attribute(sample_span(world->last, "slurm.batch", 0),
					     "slurm.confidence"), "synthesized");
	assert_string_equal(sample_attribute(sample_span(world->last, "slurm.batch", 0),
					     "nemo.span.truncated"), "true");
}

static void another_nodes_note_goes_with_its_end(void **state)
{
	static const char step[] =
		"v=1,t=100700000000,m=500,e=step_open,job=12345,leader=12345,attempt=0,cluster=mini,"
		"node=n1,step=0,kind=step,inferred=1,known=1,nodeid=1\n"
		"v=1,t=100800000000,m=900,e=step_end\n";
	struct world *world = *state;

	world->verdict = LENS_VERDICT_RETRY;
	scratch_write(world->scratch, JOURNAL(0), step);
	run_twice(world);
	append(world, NOTE, EXTERN_OTHER);
	for (int i = 0; i < 3; i++)
		run(world);
	assert_false(scratch_has(world->scratch, JOURNAL(0))); /* nothing to send of it */
	assert_false(scratch_has(world->scratch, NOTE));
	assert_int_equal(world->asked, 0);
}

static void a_prologs_note_of_another_attempt_is_not_touched(void **state)
{
	struct world *world = *state;

	scratch_write(world->scratch, NOTE, "v=1,t=120500000000,m=1,e=note,job=12345,leader=12345,"
		      "attempt=2,cluster=mini,node=n1,lens=1\n");
	scratch_write(world->scratch, JOURNAL(BATCH), UNNOTED AMEND TASK BATCH_END EXTERN);
	run_twice(world);
	assert_true(holds(world, NOTE, "attempt=2"));
	assert_false(holds(world, NOTE, "e=extern"));
	assert_false(scratch_has(world->scratch, ENDED(1)));
	assert_false(scratch_has(world->scratch, ENDED(2)));
}

static void what_an_earlier_boot_left_is_over(void **state)
{
	struct world *world = *state;

	/* A plain job's and another node's need no question. */
	scratch_write(world->scratch, NOTE, NOTE_LINE(",boot=0000dead"));
	run_twice(world);
	assert_false(scratch_has(world->scratch, NOTE));
	scratch_write(world->scratch, NOTE, NOTE_LINE(",boot=0000dead,lens=1"));
	run_twice(world);
	assert_false(scratch_has(world->scratch, NOTE));
	assert_int_equal(world->asked, 0);
	assert_int_equal(world->requests, 0);

	scratch_write(world->scratch, NOTE, NOTE_LINE(",boot=0000dead,lens=1,first=1"));
	scratch_write(world->scratch, JOURNAL(BATCH), BATCH_LINES);
	run_twice(world); /* slurmctld has not found out yet */
	assert_string_equal(world->spans, "slurm.batch,slurm.phase.queued,slurm.job_start,");
	run_twice(world);
	assert_int_equal(world->result.due_ms, world->now_ms + 60000);
	world->now_ms += 60000;
	world->answer = "found=1,job=12345,attempt=1,state=PENDING,submit=111";
	run_twice(world);
	assert_true(scratch_has(world->scratch, ENDED(0)));
	run(world);
	assert_string_equal(sample_attribute(sample_span(world->last, "slurm.job", 0),
					     "nemo.span.truncated"), "true");
	/* The last time known: the batch script's last record. */
	assert_window(sample_span(world->last, "slurm.job", 0), "100000000000", "100700000100");
	assert_false(scratch_has(world->scratch, ENDED(0)));
}

/* A note that lay there before the agent and needs no question of its start. */
static void inherit(struct world *world)
{
	struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };

	scratch_write(world->scratch, NOTE, NOTE_LINE(",lens=1,first=1")
		      "v=1,t=1,m=1,e=answer,when=start,found=1,job=12345,attempt=0,state=RUNNING,"
		      "submit=90,eligible=90,start=100\nv=1,t=1,m=1,e=sent,what=start\n");
	assert_int_equal(utimensat(world->scratch->fd, NOTE, old, 0), 0);
}

static void what_lay_there_before_the_agent_is_asked_about_once(void **state)
{
	struct world *world = *state;

	inherit(world);
	run_twice(world); /* it runs: a shell of salloc with nothing to do, say */
	assert_int_equal(world->asked, 1);
	run_twice(world);
	assert_int_equal(world->asked, 1);
	assert_true(scratch_has(world->scratch, NOTE));
	assert_string_equal(world->spans, "");
	/* The next agent finds that the attempt ended while nobody looked. */
	lens_backlog_destroy(world->backlog);
	backlog_begin(world);
	world->answer = "found=1,job=12345,attempt=1,state=RUNNING,submit=111,start=117";
	run_twice(world);
	run(world);
	assert_int_equal(world->asked, 2);
	assert_string_equal(world->spans, "slurm.job_attempt,slurm.job,");
	assert_string_equal(sample_attribute(sample_span(world->last, "slurm.job", 0),
					     "nemo.span.truncated"), "true");
}

static void a_silent_slurmctld_settles_nothing(void **state)
{
	struct world *world = *state;

	inherit(world);
	world->reply = LENS_REPLY_NONE;
	for (int i = 0; i < 30; i++) {
		run_twice(world);
		assert_true(world->result.due_ms > world->now_ms);
		world->now_ms += 60000;
	}
	assert_true(scratch_has(world->scratch, NOTE));
	world->reply = LENS_REPLY_ANSWER;
	world->answer = "found=1,job=12345,attempt=1,state=PENDING,submit=111";
	for (int i = 0; i < 4; i++) {
		run(world);
		world->now_ms += 60000;
	}
	assert_non_null(strstr(world->spans, "slurm.job,"));
	assert_false(scratch_has(world->scratch, NOTE));
}

/* The agent's own answer makes the file a new one, which is no news of the attempt. */
static void what_lay_there_is_asked_about_though_it_was_written_to(void **state)
{
	struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	struct world *world = *state;

	scratch_write(world->scratch, NOTE, NOTE_LINE(",lens=1,first=1"));
	assert_int_equal(utimensat(world->scratch->fd, NOTE, old, 0), 0);
	world->answer = "found=1,job=12345,attempt=1,state=PENDING,submit=111";
	for (int i = 0; i < 6; i++)
		run(world);
	assert_non_null(strstr(world->spans, "slurm.job,"));
	assert_false(scratch_has(world->scratch, NOTE));
}

/* What a step's journal adds to the note is no news of the attempt either. */
static void what_lay_there_is_asked_about_though_a_journal_was_taken_first(void **state)
{
	struct world *world = *state;

	inherit(world);
	scratch_write(world->scratch, JOURNAL(BATCH), BATCH_LINES);
	world->answer = "found=1,job=12345,attempt=0,state=COMPLETED,submit=90,eligible=90,"
			"start=100,end=104";
	for (int i = 0; i < 6; i++)
		run(world);
	assert_non_null(strstr(world->spans, "slurm.batch,"));
	assert_non_null(strstr(world->spans, "slurm.job,"));
	assert_false(scratch_has(world->scratch, NOTE));
}

/* The end may have come in the moment in which one agent went and this one came. */
static void what_was_written_just_before_the_agent_is_asked_about(void **state)
{
	struct world *world = *state;

	inherit(world);
	assert_int_equal(utimensat(world->scratch->fd, NOTE, NULL, 0), 0); /* now */
	stamp_passes();
	lens_backlog_destroy(world->backlog);
	backlog_begin(world);
	world->answer = "found=1,job=12345,attempt=0,state=COMPLETED,submit=90,eligible=90,"
			"start=100,end=104";
	for (int i = 0; i < 6; i++)
		run(world);
	assert_non_null(strstr(world->spans, "slurm.job,"));
	assert_false(scratch_has(world->scratch, NOTE));
}

static void a_memory_outlives_the_backlog(void **state)
{
	struct lens_memory *memory = lens_memory_create();
	struct world *world = *state;

	inherit(world);
	lens_backlog_remember(world->backlog, memory);
	run_twice(world);
	assert_int_equal(world->asked, 1);
	lens_backlog_destroy(world->backlog);
	backlog_begin(world); /* the settings were read again */
	lens_backlog_remember(world->backlog, memory);
	run_twice(world);
	assert_int_equal(world->asked, 1);
	lens_backlog_destroy(world->backlog);
	lens_memory_destroy(memory);
	backlog_begin(world);
}

static void a_second_epilog_tells_nothing(void **state)
{
	struct world *world = *state;

	world->answer = "found=1,job=12345,attempt=1,state=PENDING,submit=111";
	scratch_write(world->scratch, ENDED(0), NOTE_LINE(",lens=1") EPILOG_LINE(",first=1"));
	run_twice(world);
	assert_non_null(strstr(world->spans, "slurm.job,"));
	world->spans[0] = '\0';
	scratch_write(world->scratch, ENDED(1), "v=1,t=111500000000,m=1,e=note,job=12345,"
		      "leader=12345,attempt=1,cluster=mini,node=n1,lens=1,inferred=1\n"
		      EPILOG_LINE(",first=1"));
	run_twice(world);
	assert_string_equal(world->spans, "");
	assert_false(scratch_has(world->scratch, ENDED(1)));
	assert_non_null(strstr(world->log, "second time"));
}

static void the_first_submission_goes_from_attempt_to_attempt(void **state)
{
	struct world *world = *state;

	world->answer = "found=1,job=12345,attempt=0,state=RUNNING,submit=50,eligible=90,start=100";
	scratch_write(world->scratch, NOTE, NOTE_LINE(",lens=1,first=1"));
	run_twice(world);
	append(world, NOTE, EPILOG_LINE(",first=1"));
	assert_int_equal(renameat(world->scratch->fd, NOTE, world->scratch->fd, ENDED(0)), 0);
	world->answer = "found=1,job=12345,attempt=1,state=PENDING,submit=111";
	run_twice(world);
	assert_false(scratch_has(world->scratch, ENDED(0)));
	world->answer = RUNNING_1;
	scratch_write(world->scratch, NOTE, "v=1,t=120500000000,m=1,e=note,job=12345,leader=12345,"
		      "attempt=1,cluster=mini,node=n1,lens=1,first=1\n");
	run_twice(world);
	assert_true(holds(world, NOTE, ",first_submit=50"));

	/* Another agent, but the ended note is still there. */
	lens_backlog_destroy(world->backlog);
	backlog_begin(world);
	world->verdict = LENS_VERDICT_RETRY;
	scratch_write(world->scratch, ENDED(0), NOTE_LINE(",lens=1")
		      "v=1,t=1,m=1,e=answer,when=start,found=1,job=12345,attempt=0,state=RUNNING,"
		      "submit=60,eligible=90,start=100\n" EPILOG_LINE(",first=1"));
	scratch_write(world->scratch, NOTE, "v=1,t=120500000000,m=1,e=note,job=12345,leader=12345,"
		      "attempt=1,cluster=mini,node=n1,lens=1,first=1\n");
	run_twice(world);
	assert_true(holds(world, NOTE, ",first_submit=60"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		world_test(a_note_is_made_of_a_journal_and_ended_by_the_extern_step),
		world_test(the_end_waits_in_the_journal),
		world_test(an_epilog_ends_it_at_once),
		world_test(a_batch_script_that_cannot_say_yet_is_waited_for),
		world_test(another_nodes_note_goes_with_its_end),
		world_test(a_prologs_note_of_another_attempt_is_not_touched),
		world_test(what_an_earlier_boot_left_is_over),
		world_test(what_lay_there_before_the_agent_is_asked_about_once),
		world_test(a_silent_slurmctld_settles_nothing),
		world_test(what_lay_there_is_asked_about_though_it_was_written_to),
		world_test(what_lay_there_is_asked_about_though_a_journal_was_taken_first),
		world_test(what_was_written_just_before_the_agent_is_asked_about),
		world_test(a_memory_outlives_the_backlog),
		world_test(a_second_epilog_tells_nothing),
		world_test(the_first_submission_goes_from_attempt_to_attempt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
