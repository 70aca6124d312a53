/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/step_open.h"

#include "lib/core/env.h"
#include "lib/core/hash.h"
#include "lib/core/lock.h"
#include "lib/core/mark.h"
#include "lib/core/number.h"
#include "lib/core/statedir.h"
#include "lib/core/traceparent.h"
#include "spank/agent.h"
#include "spank/facts.h"
#include "spank/optin.h"
#include "spank/step_record.h"

#include <errno.h>
#include <inttypes.h>
#include <slurm/slurm.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POD_DIRECTORY "/var/run/secrets/kubernetes.io"

static enum lens_place place_of(uint32_t step)
{
	switch (step) {
	case SLURM_BATCH_SCRIPT:
		return LENS_PLACE_BATCH;
	case SLURM_INTERACTIVE_STEP:
		return LENS_PLACE_INTERACTIVE;
	default:
		return LENS_PLACE_STEP;
	}
}

/* The node's note of the attempt, the truth of attempt, cluster and het leader. */
static void read_note(struct lens_step *step, int directory)
{
	const char *node = getenv("SLURMD_NODENAME");
	struct lens_error err = LENS_ERROR_INIT;
	int rc;

	if (directory < 0 || !node)
		return;
	rc = lens_note_read(directory, step->launch.job, node, &step->note, &err);
	if (rc < 0)
		lens_log("job %u: %s", step->launch.job, err.text);
	step->noted = rc == 0 && !step->note.journal;
	/* The agent made it of a journal, which may be the attempt before's. */
	if (!step->noted)
		lens_note_clear(&step->note);
}

/* Whether the mark is an outer level's of this job; one of another job (sbatch or srun --jobid from
 * inside it) says that SLURM_ARRAY_* and SLURM_RESTART_COUNT may be that one's. */
static bool is_marked(const struct lens_step *step)
{
	return step->mark && lens_mark_job(step->mark) == step->launch.leader;
}

/* Without a note: the outer level's mark, when it is this job's, else the environment. */
static uint32_t guess_attempt(const struct lens_step *step, char *const *env)
{
	uint32_t attempt;

	if (is_marked(step))
		return lens_mark_attempt(step->mark);
	if (step->mark || lens_uint32_parse(lens_env_get(env, "SLURM_RESTART_COUNT"), &attempt))
		return 0;
	return attempt;
}

static bool is_array(spank_t sp, const struct lens_step *step)
{
	const char *known;

	/* A step's items come from its environment, which may be an outer array's: the
	 * batch step's word counts. */
	if (step->launch.place != LENS_PLACE_STEP || !step->mark)
		return lens_facts_is_array(sp);
	if (!is_marked(step))
		return false;
	known = lens_mark_fact(step->mark, "array");
	return known ? strcmp(known, "no") != 0 : lens_facts_is_array(sp);
}

/*
 * The submitter's TRACEPARENT where spans go into its trace, else NULL. The note has it, but not one
 * whose prolog a step set off (no PrologFlags=Alloc); the mark of the batch script and the word in
 * the job's environment have it everywhere.
 */
static const char *outer_of(const struct lens_step *step, const struct lens_env *clean)
{
	if (step->noted && *step->note.outer)
		return step->note.in_outer ? step->note.outer : NULL;
	if (is_marked(step))
		return lens_mark_fact(step->mark, "outer");
	if (step->word.in_outer)
		return step->word.outer;
	return !step->noted && step->settings.outer == LENS_OUTER_PARENT
		       ? lens_env_value(clean, "TRACEPARENT")
		       : NULL;
}

static void find_outer(struct lens_step *step, const struct lens_env *clean)
{
	struct lens_launch *launch = &step->launch;

	launch->in_outer = lens_traceparent_parse(&launch->outer, outer_of(step, clean)) == 0;
}

static bool find_launched(spank_t sp, const struct lens_step *step, char *const *env,
			  const struct lens_env *clean)
{
	char *const *argv;
	size_t argc = lens_facts_argv(sp, &argv);
	const struct lens_ranks_step asked = {
		.argv = argv,
		.argc = argc,
		.env = lens_env_array(clean),
		.tasks = lens_facts_tasks(sp, step->launch.step),
		.nodes = lens_facts_nodes(sp),
		.asked = lens_env_get(env, LENS_ASKED_NAME),
	};
	struct lens_error reason = LENS_ERROR_INIT;
	bool launched;

	if (step->launch.place != LENS_PLACE_STEP)
		return false;
	launched = lens_ranks_are_launched(step->settings.ranks, &asked, &reason);
	if (launched)
		lens_log("job %u step %u: %s", step->launch.job, step->launch.step, reason.text);
	else
		lens_log_debug("job %u step %u: %s", step->launch.job, step->launch.step,
			       reason.text);
	return launched;
}

static void launch_fill(spank_t sp, struct lens_step *step, char *const *env,
			const struct lens_env *clean)
{
	struct lens_launch *launch = &step->launch;

	if (step->noted) {
		launch->leader = step->note.leader;
		launch->attempt = step->note.attempt;
		launch->cluster = step->note.cluster;
		launch->sluid = step->note.sluid;
	} else {
		launch->attempt = guess_attempt(step, env);
		launch->cluster = step->note.cluster;
		step->guessed = !is_marked(step);
	}
	launch->array = is_array(sp, step);
	launch->launched = find_launched(sp, step, env, clean);
	find_outer(step, clean);
	/* In a nested job's batch step the environment still names the outer job's node here. */
	if (launch->place != LENS_PLACE_STEP)
		launch->head_node = getenv("SLURMD_NODENAME");
	else if (is_marked(step))
		launch->head_node = lens_mark_fact(step->mark, "head");
	if (gethostname(step->host, sizeof(step->host) - 1) == 0)
		launch->host = step->host;
	launch->daemon_env = environ;
	launch->in_pod = access(POD_DIRECTORY, F_OK) == 0;
}

/* The id that tasks see, which the environment has right in every hook. */
static uint32_t leader_from_env(char *const *env, uint32_t job)
{
	uint32_t leader;

	return lens_uint32_parse(lens_env_get(env, "SLURM_JOB_ID"), &leader) || leader == 0
		       ? job
		       : leader;
}

/* The agent keeps within MaxSpool; as long as there is none, nothing is added beyond it. */
static bool is_full(int directory, const struct lens_config *config)
{
	uint64_t bytes;

	return lens_lock_holder(directory, NULL) == 0 &&
	       lens_statedir_size_recent(directory, &bytes) == 0 && bytes >= config->max_spool;
}

static void open_journal(spank_t sp, struct lens_step *step, int directory,
			 const struct lens_config *config, const struct lens_env *clean)
{
	const char *node = getenv("SLURMD_NODENAME");
	struct lens_state_name name = {
		.kind = LENS_STATE_JOURNAL,
		.job = step->launch.job,
		.node = lens_name_number(node ? node : ""),
		.step = step->launch.step,
		.pid = (uint32_t)getpid(),
	};
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_carrier *record = NULL;

	if (directory < 0)
		return;
	if (is_full(directory, config)) {
		lens_log("job %u: no spans of step %u: StateDir holds MaxSpool=%" PRIu64
			 " bytes and no agent runs",
			 name.job, name.step, config->max_spool);
		return;
	}
	step->journal = lens_journal_create(directory, &name, &err);
	if (!step->journal) {
		lens_log("job %u: no spans of step %u: %s", name.job, name.step, err.text);
		return;
	}
	record = lens_record_create("step_open");
	if (record && lens_step_record_open(sp, record, step, config, clean) == 0)
		lens_step_append(step, record);
	else
		lens_log("job %u: no spans of step %u: out of memory", name.job, name.step);
	lens_carrier_destroy(record);
	if (step->noted && !step->note.lens &&
	    lens_note_optin(directory, step->launch.job, step->note.node, &err))
		lens_log("job %u: %s", name.job, err.text);
}

struct lens_step *lens_step_create(spank_t sp, const struct lens_config *config,
				   const struct lens_options *options,
				   struct lens_problems *problems)
{
	struct lens_step *step = calloc(1, sizeof(*step));
	char *const *env = lens_facts_env(sp);
	struct lens_env *clean = NULL;
	int directory = -1;
	bool kept = false;

	if (!step || lens_facts_job(sp, &step->launch.job) ||
	    lens_facts_step(sp, &step->launch.step))
		goto out;
	step->launch.place = place_of(step->launch.step);
	step->launch.leader = leader_from_env(env, step->launch.job);
	clean = lens_mark_clean(env, step->launch.leader, &step->mark);
	if (clean)
		step->cleaning = lens_cleaning_create(env, clean, step->mark);
	if (!clean || lens_settings_resolve(&step->settings, options, lens_env_array(clean), config,
					    lens_problems_add, problems)) {
		lens_log("job %u: out of memory, its tasks stay as they are", step->launch.job);
		goto out;
	}
	kept = step->settings.inject || step->settings.spans || step->mark;
	if (!step->settings.inject && !step->settings.spans)
		goto out;
	directory = lens_agent_state_open(config, false);
	read_note(step, directory);
	if (!step->noted)
		step->note.cluster = strdup(lens_env_get(env, "SLURM_CLUSTER_NAME") ?: "");
	lens_optin_recall(&step->word, env);
	launch_fill(sp, step, env, clean);
	if (step->settings.spans)
		open_journal(sp, step, directory, config, clean);
out:
	if (directory >= 0)
		close(directory);
	lens_env_destroy(clean);
	lens_fingerprints_settle();
	if (!kept) {
		lens_step_destroy(step);
		return NULL;
	}
	return step;
}

void lens_step_destroy(struct lens_step *step)
{
	if (!step)
		return;
	lens_journal_destroy(step->journal);
	lens_mark_destroy(step->mark);
	lens_cleaning_destroy(step->cleaning);
	lens_settings_clear(&step->settings);
	lens_note_clear(&step->note);
	lens_note_clear(&step->word);
	free(step);
}

bool lens_step_refine(struct lens_step *step, char *const *env)
{
	struct lens_launch *launch = &step->launch;
	const char *sluid = lens_env_get_nonempty(env, "SLURM_JOB_SLUID");

	if (step->noted)
		return false;
	if (sluid)
		launch->sluid = sluid;
	if (launch->place != LENS_PLACE_BATCH)
		return false;
	if (lens_uint32_parse(lens_env_get(env, "SLURM_RESTART_COUNT"), &launch->attempt))
		launch->attempt = 0;
	return true;
}

struct lens_env *lens_step_clean(const struct lens_step *step, char *const *env)
{
	struct lens_env *clean = lens_cleaning_repeat(step->cleaning, env);

	return clean ? clean : lens_mark_clean(env, step->launch.leader, NULL);
}

void lens_step_append(struct lens_step *step, const struct lens_carrier *record)
{
	if (!step->journal || lens_journal_append(step->journal, record) == 0 ||
	    step->append_failed)
		return;
	step->append_failed = true;
	lens_log("job %u: its journal could not be written (%s): spans of step %u may be missing",
		 step->launch.job, strerror(errno), step->launch.step);
}
