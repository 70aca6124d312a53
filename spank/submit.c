/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/submit.h"

#include "lib/core/env.h"
#include "lib/core/env_diff.h"
#include "lib/core/mark.h"
#include "lib/core/number.h"
#include "lib/core/settings.h"
#include "spank/asked.h"
#include "spank/context.h"
#include "spank/log.h"
#include "spank/optin.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What an outer job's environment would make a new job believe of itself. */
static const char *const outer_job_variables[] = {
	"SLURM_RESTART_COUNT",    "SLURM_ARRAY_JOB_ID",   "SLURM_ARRAY_TASK_ID",
	"SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_MIN",
	"SLURM_ARRAY_TASK_STEP",  "SLURM_JOB_ACCOUNT",    "SLURM_JOB_QOS",
	"SLURM_JOB_RESERVATION",  "SLURM_JOB_GPUS",
};

static int change_own(void *context, const char *name, const char *value)
{
	(void)context;
	return value ? setenv(name, value, 1) : unsetenv(name);
}

static uint32_t outer_job(void)
{
	uint32_t job;

	return lens_uint32_parse(getenv("SLURM_JOB_ID"), &job) ? 0 : job;
}

/* Before the environment is cleaned: inside a job the submitter is that job's span. A het job's
 * components come one after the other. */
static void remember_submitter(void)
{
	const char *parent = getenv("TRACEPARENT");

	if (!lens_context.submitter && parent)
		lens_context.submitter = strdup(parent);
}

void lens_submit_srun_init(void)
{
	struct lens_env *clean;

	if (!getenv(LENS_MARK_NAME))
		return;
	remember_submitter();
	clean = lens_mark_clean(environ, 0, NULL);
	/* The mark stays: it holds what only the outer level knows. */
	if (!clean || lens_env_set(clean, LENS_MARK_NAME, getenv(LENS_MARK_NAME)) ||
	    lens_env_diff(environ, lens_env_array(clean), change_own, NULL))
		lens_log("warning: out of memory, the environment is passed on as it is");
	lens_env_destroy(clean);
}

/*
 * A new job is made from an environment that may be another job's: that one's identity
 * stays behind.
 */
static void leave_outer_job(const struct lens_env *clean)
{
	if (!outer_job() && !getenv(LENS_MARK_NAME))
		return;
	if (lens_env_diff(environ, lens_env_array(clean), change_own, NULL))
		lens_log("warning: out of memory, an outer job's identity may be passed on");
	for (size_t i = 0; i < sizeof(outer_job_variables) / sizeof(char *); i++)
		unsetenv(outer_job_variables[i]);
}

/* srun inside an allocation runs a step of it; everything else here makes a job. */
static bool makes_job(void)
{
	return spank_context() == S_CTX_ALLOCATOR || outer_job() == 0;
}

/* An option that the strategy in force does not look at was meant to do something. */
static void warn_without_effect(const struct lens_options *options,
				const struct lens_strategy_choice *choice)
{
	const char *name = lens_strategy_name(choice->strategy);

	if (options->rate_set && choice->strategy != LENS_STRATEGY_SAMPLED)
		lens_log(
			"warning: --lens-sample-rate has no effect on %s: add --lens-strategy=sampled",
			name);
	if (options->rank_set && choice->strategy != LENS_STRATEGY_SINGLE_RANK)
		lens_log("warning: --lens-rank has no effect on %s", name);
}

void lens_submit_post_opt(spank_t sp, int argc, char **argv)
{
	struct lens_problems config_problems = { 0 };
	struct lens_problems problems = { 0 };
	struct lens_settings settings = { 0 };
	const struct lens_config *config;
	struct lens_env *clean = NULL;

	config = lens_context_load(argc, argv, lens_problems_add, &config_problems);
	clean = lens_mark_clean(environ, 0, NULL);
	if (!config || !clean ||
	    lens_settings_resolve(&settings, &lens_context.options, lens_env_array(clean), config,
				  lens_problems_add, &problems)) {
		lens_log("warning: out of memory, --lens is not handed on");
		goto out;
	}
	if (!settings.inject && !settings.spans)
		goto out;
	remember_submitter();
	if (settings.spans && settings.inject) {
		if (makes_job())
			lens_optin_hand_on(sp, &settings, lens_context.submitter);
		else
			lens_optin_pass_on(sp);
	}
	lens_context.inject = settings.inject;
	if (settings.inject) {
		lens_problems_log(&config_problems, "warning: ");
		lens_problems_log(&problems, "warning: ");
		warn_without_effect(&lens_context.options, &settings.strategy);
		if (makes_job())
			leave_outer_job(clean);
	}
out:
	lens_settings_clear(&settings);
	lens_env_destroy(clean);
}

void lens_submit_srun_launch(spank_t sp)
{
	if (lens_context.inject)
		lens_asked_hand_on(sp);
}

void lens_submit_exit(void)
{
	lens_context_clear();
}
