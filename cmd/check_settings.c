/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/check.h"

#include "lib/core/env.h"
#include "lib/core/number.h"
#include "lib/core/settings.h"
#include "lib/core/show.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARGUMENTS "plugstack.conf: " /* what a problem of an argument begins with */

/* The problems of one loading. */
struct loading {
	struct check *check;
	bool arguments, file; /* there were some of these */
};

static void problem_add(void *context, const char *text)
{
	struct loading *loading = context;
	struct check *check = loading->check;

	if (strncmp(text, ARGUMENTS, strlen(ARGUMENTS)) != 0) {
		loading->file = true;
		check_add(check, CHECK_FAIL, "lens.conf", "%s", text);
		check_remedy(check, "set it right; lens.conf(5) lists the keys and what they take");
		return;
	}
	loading->arguments = true;
	text += strlen(ARGUMENTS);
	if (check->line != NULL && check->options.argument_count == 0)
		check_add(check, CHECK_FAIL, "arguments", "%s:%u: %s", check->line->file,
			  check->line->number, text);
	else
		check_add(check, CHECK_FAIL, "arguments", "plugstack.conf or --set: %s", text);
	check_remedy(check, "set it right; lens.conf(5) lists the keys and what they take");
}

/* The arguments of lens's line, then those of the command line; their strings are borrowed. */
static char **arguments_join(const struct check *check, size_t *count)
{
	size_t line = check->line != NULL ? check->line->argument_count : 0, i;
	char **all = calloc(line + check->options.argument_count + 1, sizeof(*all));

	*count = line + check->options.argument_count;
	for (i = 0; all != NULL && i < *count; i++)
		all[i] = i < line ? check->line->arguments[i] : check->options.arguments[i - line];
	return all;
}

/* What users' sbatch and the daemons need of the file. MISSED: a row says already what is wrong. */
static void file_check(struct check *check, bool missed)
{
	const char *path = check->config->config_path;
	struct stat status;

	if (stat(path, &status) != 0) {
		if (errno == ENOENT && !missed)
			check_add(check, CHECK_OK, "lens.conf",
				  "there is no %s: arguments and defaults hold", path);
		return;
	}
	if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
		check_add(check, CHECK_FAIL, "lens.conf",
			  "%s can be written by others (mode %04o), and root reads it", path,
			  (unsigned int)(status.st_mode & 07777));
		check_remedy(check, "chmod go-w %s", path);
	}
	if ((status.st_mode & S_IROTH) == 0) {
		check_add(check, CHECK_FAIL, "lens.conf",
			  "%s cannot be read by users (mode %04o): their sbatch and srun do", path,
			  (unsigned int)(status.st_mode & 07777));
		check_remedy(check, "chmod 0644 %s; secrets belong in the files that it names",
			     path);
	}
}

int check_settings(struct check *check)
{
	struct loading loading = { .check = check };
	char *path = lens_config_default_path();
	struct lens_error err = LENS_ERROR_INIT;
	size_t count, before;
	char **arguments = arguments_join(check, &count);
	int rc = -1;

	check->config = lens_config_create();
	if (check->config == NULL || path == NULL || arguments == NULL)
		goto out;
	check->config->problem_max = UINT_MAX;
	lens_config_load(check->config, (int)count, arguments, path, problem_add, &loading);
	if (check->options.state_dir != NULL &&
	    lens_config_set(check->config, "StateDir", check->options.state_dir, &err) != 0)
		check_add(check, CHECK_FAIL, "arguments", "--state-dir: %s", err.text);
	if (count > 0 && !loading.arguments)
		check_add(check, CHECK_OK, "arguments", "%zu of plugstack.conf or --set are valid",
			  count);
	before = check->rows.count;
	file_check(check, loading.file);
	if (before == check->rows.count && !loading.file)
		check_add(check, CHECK_OK, "lens.conf", "%s is valid", check->config->config_path);
	rc = 0;
out:
	free(arguments);
	free(path);
	return rc;
}

static void switches_check(struct check *check)
{
	if (check->config->inject == LENS_WHEN_NEVER) {
		check_add(check, CHECK_WARNING, "switches",
			  "Inject=never: no task is told anything, whatever a user asks for");
		check_remedy(check, "Inject=optin, the default, leaves it to --lens");
	}
	if (check->config->job_spans == LENS_WHEN_NEVER) {
		check_add(check, CHECK_WARNING, "switches", "JobSpans=never: no job gets spans");
		check_remedy(check, "JobSpans=optin, the default, makes those of jobs with --lens");
	}
}

static void strategy_check(struct check *check)
{
	const struct lens_strategy_choice *choice = &check->config->strategy;
	char rate[LENS_RATE_TEXT];

	lens_rate_format(rate, choice->rate);
	if (!check->config->strategy_set) {
		check_add(check, CHECK_WARNING, "strategy",
			  "Strategy is not set. The default is single_rank: of each step the last "
			  "rank alone exports, so that a slow or hanging node is not seen");
		check_remedy(check,
			     "choose one in lens.conf: single_rank if that is meant, "
			     "first_rank_per_node to tell nodes apart, sampled for a large fleet, "
			     "all_ranks to find a fault");
		return;
	}
	switch (choice->strategy) {
	case LENS_STRATEGY_SINGLE_RANK:
		if (choice->rank < 0)
			check_add(check, CHECK_OK, "strategy",
				  "single_rank: the last rank of each step exports");
		else
			check_add(check, CHECK_OK, "strategy",
				  "single_rank: rank %lld of each step exports",
				  (long long)choice->rank);
		break;
	case LENS_STRATEGY_ALL_RANKS:
		check_add(check, CHECK_OK, "strategy",
			  "all_ranks: every rank exports; the receiver must take them all");
		break;
	case LENS_STRATEGY_FIRST_RANK_PER_NODE:
		check_add(check, CHECK_OK, "strategy",
			  "first_rank_per_node: one rank of each node exports");
		break;
	case LENS_STRATEGY_SAMPLED:
		check_add(check, choice->rate < 1.0 ? CHECK_OK : CHECK_WARNING, "strategy",
			  "sampled: a share of %s of the ranks exports", rate);
		if (choice->rate >= 1.0)
			check_remedy(check,
				     "set SampleRate below 1.0, or Strategy=all_ranks if all are "
				     "meant");
		break;
	}
}

static void run_check(struct check *check)
{
	const char *run = lens_env_get_nonempty(environ, "NEMO_LENS_RUN_ID");
	struct lens_shown shown;

	if (run == NULL) {
		check_add(check, CHECK_OK, "run id",
			  "nemo.run.id is the job's id, unless --lens-run-id or NEMO_LENS_RUN_ID "
			  "gives a run a name that is easier to find");
	} else if (lens_run_id_valid(run)) {
		check_add(check, CHECK_OK, "run id",
			  "NEMO_LENS_RUN_ID=%s: all that is submitted from this shell is one run",
			  lens_shown_value(&shown, run));
	} else {
		check_add(check, CHECK_FAIL, "run id",
			  "NEMO_LENS_RUN_ID=%s is ignored: it is not " LENS_TAKES_RUN_ID,
			  lens_shown_value(&shown, run));
		check_remedy(check, "set it right or unset it");
	}
}

static void cluster_check(struct check *check)
{
	if (!check->site_known)
		return;
	if (*check->site.cluster == '\0') {
		check_add(check, CHECK_FAIL, "identity",
			  "the cluster has no name: its jobs cannot be told from another's");
		check_remedy(check, "ClusterName in slurm.conf");
		return;
	}
	check_add(check, CHECK_OK, "identity", "cluster %s, %s%s, %s%s", check->site.cluster,
		  *check->config->realm != '\0' ? "Realm " : "no Realm", check->config->realm,
		  *check->config->environment != '\0' ? "Environment " : "no Environment",
		  check->config->environment);
}

void check_choices(struct check *check)
{
	cluster_check(check);
	switches_check(check);
	strategy_check(check);
	run_check(check);
}
