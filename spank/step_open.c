/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/step_open.h"

#include "lib/core/boot.h"
#include "lib/core/env.h"
#include "lib/core/hash.h"
#include "lib/core/mark.h"
#include "lib/core/number.h"
#include "lib/core/statedir.h"
#include "lib/core/traceparent.h"
#include "spank/agent.h"
#include "spank/facts.h"

#include <errno.h>
#include <slurm/slurm.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POD_DIRECTORY "/var/run/secrets/kubernetes.io"

static const char *const kinds[] = {
	[LENS_PLACE_BATCH] = "batch",
	[LENS_PLACE_INTERACTIVE] = "interactive",
	[LENS_PLACE_STEP] = "step",
};

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
	step->noted = rc == 0;
}

/* Without a note: the outer level's mark, when it is this job's, else the environment. */
static uint32_t guess_attempt(const struct lens_step *step, char *const *env)
{
	uint32_t attempt;

	if (step->mark && lens_mark_job(step->mark) == step->launch.leader)
		return lens_mark_attempt(step->mark);
	if (lens_uint32_parse(lens_env_get(env, "SLURM_RESTART_COUNT"), &attempt))
		return 0;
	return attempt;
}

static bool is_array(spank_t sp, const struct lens_step *step)
{
	const char *known = NULL;

	/* A step's items come from its environment, which may be an outer array's: the
	 * batch step's word counts. */
	if (step->launch.place == LENS_PLACE_STEP && step->mark &&
	    lens_mark_job(step->mark) == step->launch.leader)
		known = lens_mark_fact(step->mark, "array");
	return known ? strcmp(known, "no") != 0 : lens_facts_is_array(sp);
}

/*
 * The submitter's TRACEPARENT: the note's; without one the outer level's word, else what the job
 * was submitted with. Only where spans go into its trace does a step need to know it.
 */
static void find_outer(struct lens_step *step, char *const *clean)
{
	struct lens_launch *launch = &step->launch;
	const char *text = NULL;

	if (step->noted)
		text = step->note.in_outer ? step->note.outer : NULL;
	else if (step->mark && lens_mark_job(step->mark) == launch->leader)
		text = lens_mark_fact(step->mark, "outer");
	else if (step->settings.outer == LENS_OUTER_PARENT)
		text = lens_env_get(clean, "TRACEPARENT");
	launch->in_outer = lens_traceparent_parse(&launch->outer, text) == 0;
}

static bool find_launched(spank_t sp, const struct lens_step *step, char *const *clean)
{
	const struct lens_ranks_step asked = {
		.argv = lens_facts_argv(sp),
		.env = clean,
		.tasks = lens_facts_tasks(sp, step->launch.step),
		.nodes = lens_facts_nodes(sp),
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

static void launch_fill(spank_t sp, struct lens_step *step, char *const *env, char *const *clean)
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
	}
	launch->array = is_array(sp, step);
	launch->launched = find_launched(sp, step, clean);
	find_outer(step, clean);
	if (step->mark && lens_mark_job(step->mark) == launch->leader)
		launch->head_node = lens_mark_fact(step->mark, "head");
	/* In a nested job's batch step the environment still names the outer job's node here. */
	if (launch->place != LENS_PLACE_STEP)
		launch->head_node = getenv("SLURMD_NODENAME");
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

/* Adds to RECORD the outer trace that the spans go into, if they do. */
static int add_outer(struct lens_carrier *record, const struct lens_launch *launch)
{
	char hex[LENS_TRACE_HEX];

	if (!launch->in_outer)
		return 0;
	lens_trace_id_hex(hex, &launch->outer.trace);
	return lens_carrier_set(record, "into", hex);
}

/* Adds to RECORD the span that the user's script opened around the srun, in the trace
 * that the job's spans go into: not the outer one itself, below which the whole job is. */
static int add_parent(struct lens_carrier *record, const struct lens_launch *launch,
		      const struct lens_trace_id *own, char *const *clean)
{
	const struct lens_trace_id *trace = launch->in_outer ? &launch->outer.trace : own;
	struct lens_traceparent parent;
	char hex[LENS_SPAN_HEX];

	if (launch->place != LENS_PLACE_STEP ||
	    lens_traceparent_parse(&parent, lens_env_get(clean, "TRACEPARENT")) ||
	    memcmp(&parent.trace, trace, sizeof(*trace)) != 0)
		return 0;
	if (launch->in_outer && memcmp(&parent.span, &launch->outer.span, sizeof(parent.span)) == 0)
		return 0;
	lens_span_id_hex(hex, &parent.span);
	return lens_carrier_set(record, "parent", hex);
}

static int add_resource(struct lens_carrier *record, const struct lens_step *step,
			const struct lens_config *config, char *const *clean)
{
	struct lens_carrier *resource =
		lens_launch_resource(clean, &step->launch, config, &step->settings);
	struct lens_text text = LENS_TEXT_INIT;
	int rc = -1;

	if (!resource)
		return -1;
	lens_carrier_format(resource, &text, NULL);
	if (!text.failed)
		rc = lens_carrier_set(record, "resource", text.data ? text.data : "");
	lens_text_clear(&text);
	lens_carrier_destroy(resource);
	return rc;
}

/* As accounting names it: the command's last part, `batch`, `interactive`. */
static const char *step_name(spank_t sp, enum lens_place place)
{
	char *const *argv = lens_facts_argv(sp);
	const char *command = argv ? argv[0] : NULL;
	const char *slash = command ? strrchr(command, '/') : NULL;

	if (place != LENS_PLACE_STEP)
		return kinds[place];
	return slash ? slash + 1 : command;
}

static int fill_step_record(spank_t sp, struct lens_carrier *record, const struct lens_step *step,
			    const struct lens_config *config, char *const *clean)
{
	const struct lens_launch *launch = &step->launch;
	struct lens_trace_id trace;
	char hex[LENS_TRACE_HEX];
	char boot[LENS_BOOT_ID];

	if (lens_launch_trace(&trace, launch, config->realm))
		return -1;
	lens_trace_id_hex(hex, &trace);
	if (lens_carrier_setf(record, "job", "%u", launch->job) ||
	    lens_carrier_setf(record, "leader", "%u", launch->leader) ||
	    lens_carrier_setf(record, "attempt", "%u", launch->attempt) ||
	    lens_carrier_set(record, "cluster", launch->cluster) ||
	    lens_carrier_set(record, "node", getenv("SLURMD_NODENAME")) ||
	    lens_carrier_setf(record, "step", "%u", launch->step) ||
	    lens_carrier_set(record, "kind", kinds[launch->place]) ||
	    lens_carrier_publish(record, "name", step_name(sp, launch->place)) ||
	    lens_carrier_setf(record, "tasks", "%u", lens_facts_tasks(sp, launch->step)) ||
	    lens_carrier_set(record, "trace", hex) ||
	    (!step->noted && lens_carrier_set(record, "inferred", "1")) ||
	    (lens_boot_id_get(boot) == 0 && lens_carrier_set(record, "boot", boot)) ||
	    add_outer(record, launch) || add_parent(record, launch, &trace, clean))
		return -1;
	return add_resource(record, step, config, clean);
}

static void open_journal(spank_t sp, struct lens_step *step, int directory,
			 const struct lens_config *config, char *const *clean)
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
	step->journal = lens_journal_create(directory, &name, &err);
	if (!step->journal) {
		lens_log("job %u: no spans of step %u: %s", name.job, name.step, err.text);
		return;
	}
	record = lens_record_create("step_open");
	if (record && fill_step_record(sp, record, step, config, clean) == 0)
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
	launch_fill(sp, step, env, lens_env_array(clean));
	if (step->settings.spans)
		open_journal(sp, step, directory, config, lens_env_array(clean));
out:
	if (directory >= 0)
		close(directory);
	lens_env_destroy(clean);
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
	lens_settings_clear(&step->settings);
	lens_note_clear(&step->note);
	free(step);
}

void lens_step_refine(struct lens_step *step, char *const *env)
{
	struct lens_launch *launch = &step->launch;
	const char *sluid = lens_env_get_nonempty(env, "SLURM_JOB_SLUID");

	if (step->noted)
		return;
	if (sluid)
		launch->sluid = sluid;
	if (launch->place == LENS_PLACE_BATCH &&
	    lens_uint32_parse(lens_env_get(env, "SLURM_RESTART_COUNT"), &launch->attempt))
		launch->attempt = 0;
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
