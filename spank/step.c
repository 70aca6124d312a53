/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/step.h"

#include "lib/core/cgroup.h"
#include "lib/core/env_diff.h"
#include "lib/core/inject.h"
#include "lib/core/journal.h"
#include "lib/core/mark.h"
#include "lib/core/number.h"
#include "lib/core/record.h"
#include "spank/context.h"
#include "spank/extern.h"
#include "spank/facts.h"
#include "spank/log.h"
#include "spank/options.h"
#include "spank/step_open.h"
#include "spank/step_record.h"

#include <slurm/slurm.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void lens_step_open(spank_t sp, int argc, char **argv)
{
	struct lens_problems problems = { 0 };
	const struct lens_config *config;
	char *const *env = lens_facts_env(sp);
	uint32_t step;

	if (lens_facts_step(sp, &step))
		return;
	if (step == SLURM_EXTERN_CONT) {
		lens_extern_open(sp, argc, argv);
		return;
	}
	config = lens_context_load(argc, argv, lens_problems_add, &problems);
	if (!config)
		return;
	lens_options_recover(env);
	lens_context.step = lens_step_create(sp, config, &lens_context.options, &problems);
	if (lens_context.step)
		lens_problems_log(&problems, "");
}

/* The numbers of the task whose environment ENV is. 0; -1 when Slurm did not give them. */
static int rank_from_env(struct lens_rank *rank, char *const *env)
{
	if (lens_uint32_parse(lens_env_get(env, "SLURM_PROCID"), &rank->rank) ||
	    lens_uint32_parse(lens_env_get(env, "SLURM_LOCALID"), &rank->local))
		return -1;
	if (lens_uint32_parse(lens_env_get(env, "SLURM_NTASKS"), &rank->world) || rank->world == 0)
		rank->world = rank->rank + 1;
	return 0;
}

static int change_task(void *context, const char *name, const char *value)
{
	spank_t sp = context;
	spank_err_t rc = value ? spank_setenv(sp, name, value, 1) : spank_unsetenv(sp, name);

	return rc == ESPANK_SUCCESS ? 0 : -1;
}

/* Makes the environment the task's own; says whether the task exports. */
static bool inject_task(spank_t sp, struct lens_step *step, char *const *env,
			const struct lens_rank *rank)
{
	struct lens_problems problems = { 0 };
	struct lens_injection injection = { 0 };
	struct lens_env *clean;

	if (!step->settings.inject && !lens_env_get(env, LENS_MARK_NAME))
		return false;
	clean = lens_step_clean(step, env);
	if (!clean ||
	    lens_inject(&injection, clean, &step->launch, rank, lens_context.config,
			&step->settings, lens_problems_add, &problems) ||
	    lens_env_diff(env, lens_env_array(injection.env), change_task, sp))
		lens_log("job %u: rank %u did not get its whole identity: out of memory",
			 step->launch.job, rank->rank);
	/* What is wrong with one task's environment is wrong with all: once a node. */
	if (rank->local == 0)
		lens_problems_log(&problems, "");
	lens_env_destroy(injection.env);
	return injection.exports;
}

static void journal_task_open(struct lens_step *step, char *const *env,
			      const struct lens_rank *rank, bool exports)
{
	struct lens_carrier *record;
	uint32_t nodeid = 0;

	if (!step->journal)
		return;
	record = lens_record_create("task_open");
	lens_uint32_parse(lens_env_get(env, "SLURM_NODEID"), &nodeid);
	if (step->launch.place != LENS_PLACE_STEP)
		nodeid = 0;
	if (record && lens_carrier_set_number(record, "rank", rank->rank) == 0 &&
	    lens_carrier_set_number(record, "local", rank->local) == 0 &&
	    lens_carrier_set_number(record, "nodeid", nodeid) == 0 &&
	    lens_carrier_set_number(record, "world", rank->world) == 0 &&
	    lens_carrier_set_number(record, "pid", getpid()) == 0 &&
	    lens_carrier_set(record, "ranks", lens_launch_has_ranks(&step->launch) ? "1" : "0") ==
		    0 &&
	    lens_carrier_set(record, "export", exports ? "1" : "0") == 0)
		lens_step_append(step, record);
	lens_carrier_destroy(record);
}

/* Corrects what step_open said of the attempt; ENV is the task's before lens changed it. */
static void journal_amend(struct lens_step *step, char *const *env)
{
	struct lens_carrier *record = lens_record_create("amend");
	struct lens_env *clean = lens_step_clean(step, env);

	if (record && clean &&
	    lens_step_record_amend(record, step, lens_context.config, clean) == 0)
		lens_step_append(step, record);
	lens_env_destroy(clean);
	lens_carrier_destroy(record);
}

void lens_step_task_init(spank_t sp)
{
	struct lens_step *step = lens_context.step;
	char *const *env = lens_facts_env(sp);
	struct lens_rank rank = { .world = 1 };
	bool exports;

	if (!step || !env)
		return;
	if (step->launch.place == LENS_PLACE_STEP && rank_from_env(&rank, env)) {
		lens_log("job %u: Slurm gave a task no SLURM_PROCID; it stays as it is",
			 step->launch.job);
		return;
	}
	if (lens_step_refine(step, env) && step->journal)
		journal_amend(step, env);
	exports = inject_task(sp, step, env, &rank);
	/* inject_task may have moved the environment */
	journal_task_open(step, lens_facts_env(sp), &rank, exports);
}

/*
 * Whether the task that ended with STATUS was killed for want of memory: it, or what it ran
 * and waited for as a shell does, ended by SIGKILL, and the step's cgroup counted a kill that no
 * task before had.
 */
static bool is_oom_killed(struct lens_step *step, int status)
{
	bool killed = (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ||
		      (WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGKILL);
	uint64_t kills;

	if (!killed || lens_cgroup_oom_kills(&kills, step->launch.job) || kills <= step->oom_told)
		return false;
	step->oom_told++;
	return true;
}

void lens_step_task_exit(spank_t sp)
{
	struct lens_step *step = lens_context.step;
	struct lens_carrier *record;
	uint32_t rank = 0, local = 0;
	int status = 0, pid = 0;

	if (!step || !step->journal)
		return;
	if (step->launch.place == LENS_PLACE_STEP && lens_facts_exit_rank(sp, &rank))
		return;
	lens_facts_local_rank(sp, &local);
	record = lens_record_create("task_end");
	/* One without the status would tell of a task that went well. */
	if (record && lens_carrier_set_number(record, "rank", rank) == 0 &&
	    lens_carrier_set_number(record, "local", local) == 0 &&
	    (lens_facts_exit_status(sp, &status) ||
	     lens_carrier_set_number(record, "status", status) == 0) &&
	    (!is_oom_killed(step, status) || lens_carrier_set(record, "oom", "1") == 0) &&
	    (lens_facts_task_pid(sp, &pid) || lens_carrier_set_number(record, "pid", pid) == 0))
		lens_step_append(step, record);
	lens_carrier_destroy(record);
}

void lens_step_close(void)
{
	struct lens_step *step = lens_context.step;
	struct lens_carrier *record;

	lens_extern_close();
	if (step && step->journal) {
		record = lens_record_create("step_end");
		if (record)
			lens_step_append(step, record);
		lens_carrier_destroy(record);
	}
	lens_step_destroy(step);
	lens_context.step = NULL;
	lens_context_clear();
}
