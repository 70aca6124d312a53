/* SPDX-License-Identifier: Apache-2.0 */
/* What goes in comes out, each span once, whatever the receiver does: by the whole agent. */
#include "cmd/command.h"
#include "lib/otlp/retry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/agent_world.h"

#define JOBS         40
#define STEPS        120
#define STEP_TASKS   30
#define POISON_TASKS 20

/* What a pause takes at most and, after many failures, at least (jitter takes away up to
 * one half); seconds, with one or two to be sure. */
#define PAUSE_S       61
#define PAUSE_LEAST_S 28

static int id_order(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void assert_each_once(char (*ids)[17], size_t count)
{
	qsort(ids, count, sizeof(*ids), id_order);
	for (size_t i = 1; i < count; i++)
		assert_string_not_equal(ids[i - 1], ids[i]);
}

/* Jobs as they end on their first node, steps with tasks, one of them with a span too large. */
static void work_put(struct world *world)
{
	for (uint32_t job = 1; job <= JOBS; job++) {
		note_put(world, job);
		journal_put(world, job, LENS_STEP_BATCH, 0, 1);
	}
	for (uint32_t step = 0; step < STEPS; step++)
		journal_put(world, 1000 + step % 7, step, 0, STEP_TASKS);
	journal_put(world, 2000, STEPS, FAULT_POISON - 10, POISON_TASKS);
}

/* The ids of the spans of work_put, as the agent writes them to a file: no receiver is asked. */
static struct fault_request work_ids(struct world *world)
{
	struct fault_request all = { 0 };
	char settings[512], *line = NULL;
	size_t room = 0;
	FILE *file;

	work_put(world);
	snprintf(settings, sizeof(settings), "Protocol=file\nFile=%s/spans.jsonl\n",
		 world->scratch->path);
	assert_int_equal(scratch_wait(agent_fork(world, settings, true)), 0);
	assert_int_equal(files_left(world), 0);
	file = fopen(scratch_path(world->scratch, "spans.jsonl"), "r");
	assert_non_null(file);
	while (getline(&line, &room, file) != -1)
		assert_true(fault_request_read(line, &all));
	free(line);
	fclose(file);
	assert_true(all.poisoned);
	assert_each_once(all.ids, all.count);
	/* The steps' and tasks', and of a job at least its own. */
	assert_true(all.count >= (size_t)STEPS * (STEP_TASKS + 1) + POISON_TASKS + 1 + JOBS * 3);
	return all;
}

/* Each expected span was taken, or refused, once. */
static void assert_all_there(struct world *world, const struct fault_request *expected)
{
	struct fault_receiver *receiver = world->receiver;
	size_t count = receiver->taken_count + receiver->refused_count;
	char(*both)[17] = calloc(count, sizeof(*both));

	assert_non_null(both);
	assert_int_equal(count, expected->count);
	memcpy(both, receiver->taken, receiver->taken_count * sizeof(*both));
	memcpy(both + receiver->taken_count, receiver->refused,
	       receiver->refused_count * sizeof(*both));
	qsort(both, count, sizeof(*both), id_order);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(both[i], expected->ids[i]);
	free(both);
}

static void each_fault_and_then_all_is_there(void **state)
{
	static const enum fault faults[] = {
		IS_BUSY,      TAKES,  RESETS, /* of a connection that was used before: libcurl may try again by itself */
		TAKES_CUT,    RESETS, TAKES_PARTLY, HANGS,     REFUSES,   HALF_A_HEAD, TAKES_CUT,
		SAYS_GARBAGE, TAKES,  SAYS_HTML,    TOO_LARGE, TOO_LARGE, TAKES,       MOVED,
	};
	struct world *world = *state;
	struct fault_request expected = work_ids(world);
	const struct fault_receiver *receiver;

	work_put(world);
	world->receiver = fault_receiver_create(faults, sizeof(faults) / sizeof(faults[0]));
	receiver = world->receiver;
	fault_receiver_start(world->receiver);
	agent_start(world, "Timeout=1500\n");
	wait_for(world, is_drained, 40);
	agent_stop(world);
	assert_all_there(world, &expected);
	free(expected.ids);
	status_look(world);
	assert_int_equal(world->status.sent, receiver->taken_count - FAULT_REJECTED);
	assert_int_equal(world->status.dropped, receiver->refused_count + FAULT_REJECTED);
	assert_int_equal(world->status.failing_since, 0);
	/* Each that asks for another try had one, as had what a busy machine was late with. */
	assert_true(world->status.retried >= 6);
	/* Too large: halved, then halved again, then doubled. */
	assert_int_equal(receiver->sizes[13], 512);
	assert_int_equal(receiver->sizes[14], 256);
	assert_int_equal(receiver->sizes[15], 128);
	assert_int_equal(receiver->sizes[16], 256);
	/* 400 and 307 cost their requests, the one that is too large by itself one span. */
	assert_int_equal(receiver->refused_count, receiver->sizes[7] + receiver->sizes[16] + 1);
	assert_true(receiver->poisoned >= 2);
}

static bool is_hanging(struct world *world)
{
	return world->receiver->requests == 4;
}

/* Takes out of IDS what is there before. */
static void repeated_remove(char (*ids)[17], size_t *count)
{
	size_t kept = 1;

	qsort(ids, *count, sizeof(*ids), id_order);
	for (size_t i = 1; i < *count; i++) {
		if (strcmp(ids[kept - 1], ids[i]) != 0)
			memmove(ids[kept++], ids[i], sizeof(*ids));
	}
	*count = kept;
}

/*
 * Killed in the middle of a request, with no word to anybody: the next one goes on. Of what was
 * acknowledged only the step that the last request cut through comes again, the same.
 */
static void a_killed_keeper_costs_one_step_twice_at_most(void **state)
{
	static const enum fault faults[] = { TAKES, TAKES, TAKES, HANGS };
	struct world *world = *state;
	struct fault_request expected = work_ids(world);
	size_t taken;

	work_put(world);
	world->receiver = fault_receiver_create(faults, sizeof(faults) / sizeof(faults[0]));
	fault_receiver_start(world->receiver);
	agent_start(world, "");
	wait_for(world, is_hanging, 20);
	kill(world->agent, SIGKILL);
	assert_int_equal(scratch_wait(world->agent), 1000 + SIGKILL);
	agent_start(world, "");
	wait_for(world, is_drained, 30);
	agent_stop(world);
	taken = world->receiver->taken_count;
	repeated_remove(world->receiver->taken, &world->receiver->taken_count);
	print_message("# %zu spans came twice\n", taken - world->receiver->taken_count);
	assert_true(taken - world->receiver->taken_count <= STEP_TASKS + 1);
	assert_all_there(world, &expected);
	assert_int_equal(world->receiver->refused_count, 1);
	free(expected.ids);
}

static uint64_t tries_before; /* for tried_again */

static bool tried_again(struct world *world)
{
	status_look(world);
	return world->status.retried > tries_before;
}

/*
 * Nobody listens for an hour of the keeper's clock, while jobs go on ending. It tries
 * whenever the longest pause is over and no more often; then the first success brings all.
 */
static void up_again_after_an_hour(void **state)
{
	struct world *world = *state;
	const uint32_t before = 20;
	uint32_t jobs = before;

	for (uint32_t job = 1; job <= before; job++)
		journal_put(world, job, LENS_STEP_BATCH, 0, 0);
	world->receiver = fault_receiver_create(NULL, 0);
	tries_before = 0;
	agent_start(world, "");
	wait_for(world, tried_again, 20);
	for (int64_t passed = 0; passed < 3600; passed += PAUSE_S) {
		tries_before = world->status.retried;
		clock_advance(PAUSE_S);
		journal_put(world, ++jobs, LENS_STEP_BATCH, 0, 0);
		wait_for(world, tried_again, 10);
		/* The first pauses are shorter than the time that this takes. */
		if (passed > 600)
			assert_int_equal(world->status.retried, tries_before + 1);
	}
	/* Jobs that end do not make it try before. */
	tries_before = world->status.retried;
	clock_advance(PAUSE_LEAST_S);
	journal_put(world, ++jobs, LENS_STEP_BATCH, 0, 0);
	usleep(700000);
	assert_false(tried_again(world));
	assert_int_equal(files_left(world), jobs);
	assert_int_equal(world->status.sent + world->status.dropped, 0);
	assert_true(world->status.failing_since != 0);
	fault_receiver_start(world->receiver);
	clock_advance(PAUSE_S);
	journal_put(world, ++jobs, LENS_STEP_BATCH, 0, 0);
	wait_for(world, is_drained, 20);
	agent_stop(world);
	/* The last job's end may come after the first request. */
	assert_true(world->receiver->requests >= 1 && world->receiver->requests <= 2);
	assert_int_equal(world->receiver->taken_count, jobs);
	assert_each_once(world->receiver->taken, jobs);
	status_look(world);
	assert_int_equal(world->status.sent, jobs);
	assert_int_equal(world->status.dropped, 0);
	assert_int_equal(world->status.failing_since, 0);
}

/* The most memory that PID ever had; KiB. */
static long memory_of(pid_t pid)
{
	char path[64], line[256];
	long kib = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file) != NULL)
		sscanf(line, "VmHWM: %ld kB", &kib);
	fclose(file);
	assert_true(kib > 0);
	return kib;
}

#define BACKLOG     20000
#define BACKLOG_KIB (32 * 1024L)

/* An allocator that keeps what is freed tells nothing. */
static bool memory_counts(void)
{
#ifdef __has_feature /* clang's */
#if __has_feature(address_sanitizer)
	return false;
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
	return false;
#endif
	return true;
}

static void memory_does_not_grow_with_the_backlog(void **state)
{
	struct world *world = *state;
	long keeper, sender;

	for (uint32_t job = 1; job <= BACKLOG; job++)
		journal_put(world, job, LENS_STEP_BATCH, 0, 0);
	world->receiver = fault_receiver_create(NULL, 0);
	fault_receiver_start(world->receiver);
	agent_start(world, "");
	wait_for(world, is_drained, 60);
	status_look(world);
	keeper = memory_of(world->agent);
	sender = memory_of((pid_t)world->status.sender);
	print_message("# %d journals: keeper %ld KiB, sender %ld KiB\n", BACKLOG, keeper, sender);
	if (memory_counts()) {
		assert_true(keeper < BACKLOG_KIB);
		assert_true(sender < BACKLOG_KIB);
	}
	agent_stop(world);
	assert_int_equal(world->receiver->taken_count, BACKLOG);
	assert_each_once(world->receiver->taken, BACKLOG);
	status_look(world);
	assert_int_equal(world->status.sent, BACKLOG);
}

#define world_test(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		world_test(each_fault_and_then_all_is_there),
		world_test(a_killed_keeper_costs_one_step_twice_at_most),
		world_test(up_again_after_an_hour),
		world_test(memory_does_not_grow_with_the_backlog),
	};

	/* The keeper starts its own program anew as the sender. */
	if (argc > 1 && strcmp(argv[1], "sender") == 0)
		return lens_sender_main(argc - 1, argv + 1);
	ahead_s = mmap(NULL, sizeof(*ahead_s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (ahead_s == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
