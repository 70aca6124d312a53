/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/check.h"

#include "lib/core/settings.h"
#include "lib/core/show.h"
#include "lib/core/text.h"
#include "lib/site/file.h"
#include "lib/site/script.h"
#include "lib/site/script_options.h"

#include <inttypes.h>
#include <slurm/slurm_version.h>
#include <string.h>
#include <unistd.h>

#define SCRIPT_MAX (16 * 1024 * 1024)

/* Ranks that are counted one by one; more are not what a script is checked for. */
#define COUNT_MAX 1000000

static void option_problem(void *context, unsigned int line, const char *text)
{
	struct check *check = context;

	check_add(check, CHECK_FAIL, "job", "%s:%u: %s", check->job, line, text);
	check_remedy(check, "set it right: sbatch takes no job with it");
}

static void environment_problem(void *context, const char *text)
{
	struct check *check = context;

	check_add(check, CHECK_WARNING, "job", "%s", text);
	check_remedy(check, "set the variable right or unset it");
}

/* The local number of RANK where NODES get their tasks in blocks, as srun does; the first ones get
 * one more when they do not divide. */
static uint32_t local_rank(uint32_t rank, uint32_t tasks, uint32_t nodes)
{
	uint32_t few = tasks / nodes, larger = tasks % nodes;
	uint32_t in_larger = larger * (few + 1);

	return rank < in_larger ? rank % (few + 1) : few > 0 ? (rank - in_larger) % few : 0;
}

static void ranks_say(struct check *check, const struct lens_settings *settings,
		      const struct lens_script_options *options)
{
	const struct lens_strategy_choice *choice = &settings->strategy;
	const char *name = lens_strategy_name(choice->strategy);
	bool by_node = choice->strategy == LENS_STRATEGY_FIRST_RANK_PER_NODE;
	uint32_t count = 0, first = 0;

	if (settings->ranks == LENS_RANKS_LAUNCHER) {
		check_add(check, CHECK_OK, "job",
			  "a task is a launcher: %s is passed on, its library picks the ranks",
			  name);
		return;
	}
	if (options->tasks == 0 || options->tasks > COUNT_MAX || (by_node && options->nodes == 0)) {
		check_add(check, CHECK_OK, "job",
			  "%s; how many ranks that is depends on the nodes that Slurm gives", name);
		return;
	}
	for (uint32_t rank = 0; rank < options->tasks; rank++) {
		uint32_t local = by_node ? local_rank(rank, options->tasks, options->nodes) : rank;

		if (!lens_strategy_exports(choice, rank, options->tasks, local))
			continue;
		first = count++ == 0 ? rank : first;
	}
	if (count == 0) {
		check_add(check, CHECK_WARNING, "job", "%s: none of %" PRIu32 " ranks exports",
			  name, options->tasks);
		check_remedy(check,
			     "choose a rank below %" PRIu32 " (ranks count from 0), or a larger "
			     "sample rate",
			     options->tasks);
		return;
	}
	check_add(check, CHECK_OK, "job",
		  "%s: %" PRIu32 " of %" PRIu32 " ranks of an srun without sizes of its own "
		  "export, the first is rank %" PRIu32,
		  name, count, options->tasks, first);
}

static void settings_say(struct check *check, const struct lens_settings *settings,
			 const struct lens_script_options *options)
{
	struct lens_shown shown;

	if (!settings->inject) {
		check_add(check, options->given ? CHECK_WARNING : CHECK_OK, "job",
			  "lens leaves its tasks alone: %s%s",
			  check->config->inject == LENS_WHEN_NEVER
				  ? "Inject=never"
				  : (options->given ? "NEMO_LENS_ENABLED or --lens=off"
						    : "nobody asked for it"),
			  settings->spans ? "; the job gets spans" : "");
		if (!options->given && check->config->inject != LENS_WHEN_NEVER)
			check_remedy(check, "add `#SBATCH --lens` if it should not");
		return;
	}
	if (settings->run_id != NULL) {
		check_add(check, CHECK_OK, "job", "its run id is %s",
			  lens_shown_value(&shown, settings->run_id));
	} else {
		check_add(check, CHECK_WARNING, "job", "its run id is the job's id");
		check_remedy(check, "--lens-run-id=NAME gives the run a name that people find, and "
				    "that a resubmission keeps");
	}
	ranks_say(check, settings, options);
}

static void job_check(struct check *check, const struct lens_script *script)
{
	struct lens_script_options options;
	struct lens_settings settings = { 0 };

	if (script->late_line != 0) {
		check_add(check, CHECK_FAIL, "job",
			  "%s:%u: sbatch does not read this line: it stands below the first "
			  "command",
			  check->job, script->late_line);
		check_remedy(check, "move it up to the other #SBATCH lines");
	}
	if (lens_script_options_read(&options, script, option_problem, check) == 0) {
		if (lens_settings_resolve(&settings, &options.lens, environ, check->config,
					  environment_problem, check) != 0)
			check->rows.failed = true;
		else
			settings_say(check, &settings, &options);
	}
	lens_settings_clear(&settings);
	lens_script_options_clear(&options);
}

void check_job(struct check *check)
{
	struct lens_text text = LENS_TEXT_INIT;
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_script script = { 0 };

	if (lens_file_read(&text, check->job, SCRIPT_MAX, &err) != 0) {
		check_add(check, CHECK_FAIL, "job", "%s", err.text);
		goto out;
	}
	if (text.data == NULL || strlen(text.data) != text.length ||
	    strncmp(text.data, "#!", 2) != 0) {
		check_add(check, CHECK_FAIL, "job", "%s is no script: sbatch wants `#!` first",
			  check->job);
		goto out;
	}
	if (lens_script_read(&script, text.data,
			     check->slurm != 0 ? check->slurm : SLURM_VERSION_NUMBER, &err) != 0) {
		check_add(check, CHECK_FAIL, "job", "%s: %s", check->job, err.text);
		check_remedy(check, "close the quote");
		goto out;
	}
	job_check(check, &script);
out:
	lens_script_clear(&script);
	lens_text_clear(&text);
}
