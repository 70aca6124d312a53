/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/settings.h"
#include "lib/core/choice.h"
#include "lib/core/env.h"
#include "lib/core/number.h"
#include "lib/core/show.h"

#include <stdlib.h>
#include <string.h>

/* The user's environment, and where to say what is wrong with it. */
struct source {
	char *const *env;
	lens_config_problem_fn *problem;
	void *context;
};

static void ignore(const struct source *source, const char *name, const char *value,
		   const char *takes)
{
	struct lens_error text = LENS_ERROR_INIT;
	struct lens_shown shown;

	if (source->problem == NULL)
		return;
	lens_error_set(&text, "%s=%s: not %s; ignored", name, lens_shown_value(&shown, value),
		       takes);
	source->problem(source->context, text.text);
}

static void resolve_opt_in(struct lens_settings *out, const struct lens_options *options,
			   const struct source *source, const struct lens_config *config)
{
	const char *text = lens_env_get_nonempty(source->env, "NEMO_LENS_ENABLED");
	bool yes = options->lens == LENS_OPTION_ON || options->any;
	bool no = options->lens == LENS_OPTION_OFF;
	bool enabled;

	if (text != NULL && lens_bool_parse(text, &enabled) != 0)
		ignore(source, "NEMO_LENS_ENABLED", text, LENS_TAKES_BOOL);
	else if (text != NULL && enabled)
		yes = true;
	else if (text != NULL)
		no = true;
	out->inject = (yes || config->inject == LENS_WHEN_ALWAYS) && !no &&
		      config->inject != LENS_WHEN_NEVER;
	/* Spans touch nothing of the job's: `always` means every job. */
	out->spans = config->job_spans == LENS_WHEN_ALWAYS ||
		     (config->job_spans == LENS_WHEN_OPTIN && out->inject);
}

/* A copy of GIVEN, else of variable NAME when it is valid, else of FALLBACK, in *OUT; NULL for
 * none. -1: no memory. */
static int resolve_text(char **out, const char *given, const struct source *source,
			const char *name, bool (*valid)(const char *value), const char *takes,
			const char *fallback)
{
	const char *value = given;

	if (value == NULL && name != NULL) {
		value = lens_env_get_nonempty(source->env, name);
		if (value != NULL && !valid(value)) {
			ignore(source, name, value, takes);
			value = NULL;
		}
	}
	if (value == NULL && fallback != NULL && *fallback != '\0')
		value = fallback;
	if (value == NULL)
		return 0;
	*out = strdup(value);
	return *out != NULL ? 0 : -1;
}

static int resolve_texts(struct lens_settings *out, const struct lens_options *options,
			 const struct source *source, const struct lens_config *config)
{
	if (resolve_text(&out->run_id, options->run_id, source, "NEMO_LENS_RUN_ID",
			 lens_run_id_valid, LENS_TAKES_RUN_ID, NULL) ||
	    resolve_text(&out->user, options->user, source, "NEMO_LENS_USER_ID", lens_run_id_valid,
			 LENS_TAKES_NAME, NULL) ||
	    resolve_text(&out->span_groups, options->span_groups, source, "NEMO_LENS_SPAN_GROUPS",
			 lens_groups_valid, LENS_TAKES_GROUPS, config->span_groups) ||
	    resolve_text(&out->service, options->service, source, NULL, NULL, NULL, NULL) ||
	    resolve_text(&out->attributes, options->attributes, source, NULL, NULL, NULL, NULL))
		return -1;
	return resolve_text(&out->endpoint, options->endpoint, source, NULL, NULL, NULL, NULL);
}

static void resolve_strategy(struct lens_strategy_choice *out, const struct lens_options *options,
			     const struct source *source)
{
	static const char strategy[] = "NEMO_LENS_EXPORT_STRATEGY";
	static const char rank[] = "NEMO_LENS_EXPORT_RANK";
	static const char rate[] = "NEMO_LENS_EXPORT_SAMPLE_RATE";
	const char *text;

	text = lens_env_get_nonempty(source->env, strategy);
	if (options->strategy_set)
		out->strategy = options->strategy.strategy;
	else if (text != NULL && lens_strategy_parse(text, &out->strategy) != 0)
		ignore(source, strategy, text, LENS_TAKES_STRATEGY);

	text = lens_env_get_nonempty(source->env, rank);
	if (options->rank_set)
		out->rank = options->strategy.rank;
	else if (text != NULL && lens_strategy_rank_parse(text, &out->rank) != 0)
		ignore(source, rank, text, LENS_TAKES_RANK);

	text = lens_env_get_nonempty(source->env, rate);
	if (options->rate_set)
		out->rate = options->strategy.rate;
	else if (text != NULL && lens_rate_parse(text, &out->rate) != 0)
		ignore(source, rate, text, LENS_TAKES_RATE);
}

int lens_settings_resolve(struct lens_settings *out, const struct lens_options *options,
			  char *const *env, const struct lens_config *config,
			  lens_config_problem_fn *problem, void *context)
{
	const struct source source = { .env = env, .problem = problem, .context = context };

	*out = (struct lens_settings){ .strategy = config->strategy };
	resolve_opt_in(out, options, &source, config);
	resolve_strategy(&out->strategy, options, &source);
	out->ranks = options->ranks_set ? options->ranks : config->ranks;
	out->outer = options->outer_set ? options->outer : config->outer;
	return resolve_texts(out, options, &source, config);
}

void lens_settings_clear(struct lens_settings *settings)
{
	free(settings->run_id);
	free(settings->user);
	free(settings->service);
	free(settings->attributes);
	free(settings->endpoint);
	free(settings->span_groups);
	*settings = (struct lens_settings){ 0 };
}
