/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/script.h"

#include "lib/core/nodelist.h"
#include "lib/core/note.h"
#include "lib/core/number.h"
#include "lib/core/statedir.h"
#include "spank/agent.h"
#include "spank/context.h"
#include "spank/facts.h"
#include "spank/log.h"
#include "spank/optin.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint32_t env_number(const char *name, uint32_t fallback)
{
	uint32_t number;

	return lens_uint32_parse(getenv(name), &number) ? fallback : number;
}

static const char *env_text(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

/* 22.05 has the job's nodes in SLURM_NODELIST alone. */
static const char *node_list(void)
{
	const char *list = getenv("SLURM_JOB_NODELIST");

	return list ? list : getenv("SLURM_NODELIST");
}

/* Whether this node is the first of the list that Slurm gave. */
static bool is_first_of_list(void)
{
	char *first = lens_nodelist_first(node_list());
	bool same = first && strcmp(first, env_text("SLURMD_NODENAME")) == 0;

	free(first);
	return same;
}

/*
 * Whether this node is known to be the job's first: without PrologFlags=Alloc a prolog that a step set
 * off has the step's nodes as its list, so the list counts only when it is as long
 * as the job.
 */
static bool is_first_node(void)
{
	uint64_t nodes = env_number("SLURM_JOB_NUM_NODES", 0);

	return nodes && lens_nodelist_count(node_list()) == nodes && is_first_of_list();
}

/* The attempt as the environment of prolog and epilog has it. 0; -1 when Slurm names no
 * job or memory ran out. The caller clears NOTE. */
static int note_from_env(spank_t sp, const struct lens_config *config, struct lens_note *note)
{
	memset(note, 0, sizeof(*note));
	if (lens_facts_job(sp, &note->job))
		return -1;
	note->leader = env_number("SLURM_HET_JOB_ID", note->job);
	if (note->leader == 0)
		note->leader = note->job;
	note->attempt = env_number("SLURM_JOB_RESTART_COUNT", 0);
	if (lens_optin_read(note, config))
		return -1;
	note->cluster = strdup(env_text("SLURM_CLUSTER_NAME"));
	note->node = strdup(env_text("SLURMD_NODENAME"));
	note->sluid = strdup(env_text("SLURM_JOB_SLUID"));
	return note->cluster && note->node && note->sluid ? 0 : -1;
}

/* What prolog and epilog begin with: settings, state directory, the attempt. Returns the
 * open directory or -1. */
static int script_begin(spank_t sp, int argc, char **argv, struct lens_note *note)
{
	const struct lens_config *config;
	int directory;

	/* What is wrong with them slurmd said at its start and the job's steps will: here it
	 * would be two more lines for every job, whether or not it is lens's. */
	config = lens_context_load(argc, argv, NULL, NULL);
	if (!config)
		return -1;
	if (note_from_env(sp, config, note)) {
		lens_log(
			"Slurm did not name the job in the prolog or epilog; it gets no spans here");
		return -1;
	}
	directory = lens_statedir_open(config->state_dir, true, NULL);
	if (directory >= 0)
		lens_agent_ensure(directory, config, false);
	return directory;
}

void lens_script_prolog(spank_t sp, int argc, char **argv)
{
	struct lens_note note = { 0 };
	struct lens_error err = LENS_ERROR_INIT;
	int directory = script_begin(sp, argc, argv, &note);

	if (directory >= 0) {
		note.first = note.lens && is_first_node();
		if (lens_note_write(directory, &note, lens_context.config->max_notes, &err))
			lens_log("job %u: %s", note.job, err.text);
		close(directory);
	}
	lens_note_clear(&note);
	lens_context_clear();
}

static struct lens_carrier *epilog_record(const struct lens_note *note)
{
	struct lens_carrier *record = lens_record_create("epilog");

	if (!record || lens_carrier_set_number(record, "attempt", note->attempt) ||
	    lens_carrier_set(record, "nodes", getenv("SLURM_JOB_NUM_NODES")) ||
	    lens_carrier_set(record, "first", is_first_of_list() ? "1" : "0") ||
	    lens_carrier_publish(record, "nodelist", node_list())) {
		lens_carrier_destroy(record);
		return NULL;
	}
	return record;
}

void lens_script_epilog(spank_t sp, int argc, char **argv)
{
	struct lens_note note = { 0 };
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_carrier *record = NULL;
	int directory = script_begin(sp, argc, argv, &note);

	if (directory < 0)
		goto out;
	record = epilog_record(&note);
	if (!record)
		lens_log("job %u: its end was not noted: out of memory", note.job);
	else if (lens_note_end(directory, &note, note.lens, record, &err))
		lens_log("job %u: its end was not noted: %s", note.job, err.text);
	close(directory);
out:
	lens_carrier_destroy(record);
	lens_note_clear(&note);
	lens_context_clear();
}
