/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each call of the agent's that meets a disk fails once, and from there on: it does not crash, and
 * what was not acknowledged is still there for the next one.
 */
#include "cmd/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/faults/preloaded.h"
#include "tests/unit/agent_world.h"

static const char *const kind_names[] = FAULT_NAMES;

static struct fault_plan *plan;
static faults_arm_fn *arm;
static uint32_t hits_seen; /* of the run with faults */

static int id_order(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void ids_tidy(struct fault_request *ids)
{
	size_t kept = 0;

	qsort(ids->ids, ids->count, sizeof(*ids->ids), id_order);
	for (size_t i = 0; i < ids->count; i++)
		if (kept == 0 || strcmp(ids->ids[kept - 1], ids->ids[i]) != 0)
			memmove(ids->ids[kept++], ids->ids[i], sizeof(*ids->ids));
	ids->count = kept;
}

/* What is there to send: a job that is over, and steps of others. */
static void work_put(struct world *world)
{
	note_put(world, 1);
	journal_put(world, 1, LENS_STEP_BATCH, 0, 1);
	journal_put(world, 1, 0, 0, 3);
	journal_put(world, 2, 0, 0, 2);
}

/* A file, or the receiver if there is one. */
static void settings_put(const struct world *world, char out[400])
{
	if (world->receiver)
		snprintf(out, 400, "Protocol=http/json\nEndpoint=http://127.0.0.1:%d\n",
			 world->receiver->port);
	else
		snprintf(out, 400, "Protocol=file\nFile=%s/spans.jsonl\n", world->scratch->path);
}

/* The ids that arrived: each line is whole, or none. */
static struct fault_request arrived(struct world *world)
{
	struct fault_request ids = { 0 };
	char *line = NULL;
	size_t room = 0;
	FILE *file;

	if (world->receiver) {
		ids.count = world->receiver->taken_count;
		ids.ids = calloc(ids.count + 1, sizeof(*ids.ids));
		assert_non_null(ids.ids);
		memcpy(ids.ids, world->receiver->taken, ids.count * sizeof(*ids.ids));
	} else {
		file = fopen(scratch_path(world->scratch, "spans.jsonl"), "r");
		while (file && getline(&line, &room, file) != -1)
			fault_request_read(line, &ids);
		free(line);
		if (file)
			fclose(file);
	}
	ids_tidy(&ids);
	return ids;
}

static void state_empty(struct world *world)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/state", world->scratch->path);
	close(world->state);
	nftw(path, scratch_remove_one, 8, FTW_DEPTH | FTW_PHYS);
	assert_int_equal(mkdir(path, 0700), 0);
	world->state = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_not_equal(world->state, -1);
	unlinkat(world->scratch->fd, "spans.jsonl", 0);
	if (world->receiver)
		world->receiver->taken_count = 0;
}

static void keeper_armed(void)
{
	arm(true);
}

/* agent --once, with the plan in its keeper or without. What it exits with. */
static int drain(struct world *world, bool faults)
{
	char settings[400];
	pid_t pid;
	int status;

	settings_put(world, settings);
	plan->seen = plan->hits = 0;
	plan->lines_length = 0;
	keeper_begins = faults ? keeper_armed : NULL;
	pid = agent_fork(world, settings, true);
	status = scratch_wait(pid);
	return status;
}

/* On a disk that is full what a journal means to its job's spans (slurm.job_setup,
 * slurm.job_teardown) is given up, so that removing the journal makes room. */
static size_t spans_of_a_full_disk(enum fault_kind kind)
{
	return kind == FAULT_WRITE || kind == FAULT_SHORT ? 2 : 0;
}

/* Drains with the plan, then without: all that there is to send has come by then. */
static void run_once(struct world *world, const struct fault_request *expected)
{
	struct fault_request ids;
	int status;

	state_empty(world);
	work_put(world);
	status = drain(world, true);
	hits_seen = plan->hits;
	if (status > 2)
		fail_msg("%s %u: the agent ended with %d", kind_names[plan->kind], plan->at,
			 status);
	/* Even where the agent itself was none the wiser. */
	if (plan->hits == 0)
		assert_int_equal(status, 0);
	if (status == 0 && !plan->onwards && files_left(world) > 0)
		fail_msg("%s %u: exit 0, and %zu files are left", kind_names[plan->kind], plan->at,
			 files_left(world));
	status = drain(world, false);
	if (status != 0 || files_left(world) > 0)
		fail_msg("%s %u: the next agent ended with %d, %zu files are left",
			 kind_names[plan->kind], plan->at, status, files_left(world));
	ids = arrived(world);
	if (ids.count + spans_of_a_full_disk(plan->kind) < expected->count)
		fail_msg("%s %u%s: %zu spans arrived, not %zu", kind_names[plan->kind], plan->at,
			 plan->onwards ? "+" : "", ids.count, expected->count);
	for (size_t i = 0; i < ids.count; i++)
		if (!bsearch(ids.ids[i], expected->ids, expected->count, sizeof(*expected->ids),
			     id_order))
			fail_msg("%s %u%s: span %s is none that there was to send",
				 kind_names[plan->kind], plan->at, plan->onwards ? "+" : "",
				 ids.ids[i]);
	free(ids.ids);
}

static void each_call(struct world *world, enum fault_kind kind,
		      const struct fault_request *expected)
{
	for (int onwards = 0; onwards < 2; onwards++) {
		uint32_t number = 0;

		do {
			number++;
			plan->kind = kind;
			plan->at = number;
			plan->onwards = onwards != 0;
			run_once(world, expected);
		} while (hits_seen > 0);
		print_message("# %s: %u calls%s\n", kind_names[kind], number - 1,
			      onwards ? ", and all that follow" : "");
	}
	plan->at = 0;
}

static void each_kind(struct world *world)
{
	static const enum fault_kind kinds[] = { FAULT_WRITE, FAULT_SHORT, FAULT_OPEN,
						 FAULT_READ,  FAULT_NAME,  FAULT_SYNC,
						 FAULT_STAT,  FAULT_LOCK,  FAULT_MEMORY };
	struct fault_request expected;

	plan->at = 0;
	state_empty(world);
	work_put(world);
	assert_int_equal(drain(world, false), 0);
	assert_int_equal(files_left(world), 0);
	expected = arrived(world);
	assert_true(expected.count >= 10);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		each_call(world, kinds[i], &expected);
	free(expected.ids);
}

static void nothing_is_lost_on_the_way_to_a_file(void **state)
{
	each_kind(*state);
}

static void nothing_is_lost_on_the_way_to_a_receiver(void **state)
{
	struct world *world = *state;

	world->receiver = fault_receiver_create(NULL, 0);
	fault_receiver_start(world->receiver);
	each_kind(world);
}

#define world_test(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		world_test(nothing_is_lost_on_the_way_to_a_file),
		world_test(nothing_is_lost_on_the_way_to_a_receiver),
	};

	/* The keeper starts its own program anew as the sender. */
	if (argc > 1 && strcmp(argv[1], "sender") == 0)
		return lens_sender_main(argc - 1, argv + 1);
	preloaded_begin(argv);
	plan = ((faults_plan_fn *)preloaded_find(FAULTS_PLAN))();
	arm = (faults_arm_fn *)preloaded_find(FAULTS_ARM);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
