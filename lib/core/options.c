/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/options.h"
#include "lib/core/choice.h"
#include "lib/core/number.h"
#include "lib/core/show.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* In the order of `sbatch --help`, which prints each help text as it is. */
const struct lens_option_spec lens_option_specs[] = {
	{ "lens", "on|off", "tag the job's tasks and trace the job; to switch off: --lens=off",
	  true },
	{ "lens-run-id", "ID", "name of the run in the telemetry; default: the job id", false },
	{ "lens-strategy", "NAME",
	  "which ranks export: single_rank, all_ranks, sampled, first_rank_per_node", false },
	{ "lens-rank", "N", "the rank that single_rank picks; default: -1, the last", false },
	{ "lens-sample-rate", "F", "share of ranks for sampled, 0.0 to 1.0", false },
	{ "lens-ranks", "auto|task|launcher",
	  "what a task is: a rank, or a launcher of ranks; default: auto", false },
	{ "lens-user", "NAME", "nemo.user.id in the telemetry", false },
	{ "lens-service", "NAME", "service.name of the tasks", false },
	{ "lens-span-groups", "LIST", "span groups for the tasks' library, like default,step",
	  false },
	{ "lens-attr", "K=V[,K=V]", "more resource attributes for the tasks", false },
	{ "lens-endpoint", "URL", "where tasks export to", false },
	{ "lens-traceparent", "link|parent|off",
	  "what the TRACEPARENT of this shell means to the job's trace; default: link", false },
};

const size_t lens_option_count = sizeof(lens_option_specs) / sizeof(lens_option_specs[0]);

void lens_options_init(struct lens_options *options)
{
	*options = (struct lens_options){ .lens = LENS_OPTION_UNSET };
}

void lens_options_clear(struct lens_options *options)
{
	free(options->run_id);
	free(options->user);
	free(options->service);
	free(options->span_groups);
	free(options->attributes);
	free(options->endpoint);
	lens_options_init(options);
}

static int refuse(const char *name, const char *value, const char *takes, struct lens_error *err)
{
	struct lens_shown shown;

	return lens_error_set(err, "--%s=%s: not %s", name, lens_shown_value(&shown, value), takes);
}

static int set_lens(struct lens_options *options, const char *name, const char *value,
		    struct lens_error *err)
{
	bool on = true;

	if (value != NULL && *value != '\0' && strcmp(value, "(null)") != 0 &&
	    lens_bool_parse(value, &on) != 0)
		return refuse(name, value, "on or off", err);
	options->lens = on ? LENS_OPTION_ON : LENS_OPTION_OFF;
	return 0;
}

/* The options that are text of a certain form. */
static const struct text_option {
	const char *name;
	size_t offset;
	bool (*valid)(const char *value);
	const char *takes;
} text_options[] = {
	{ "lens-run-id", offsetof(struct lens_options, run_id), lens_run_id_valid,
	  LENS_TAKES_RUN_ID },
	{ "lens-user", offsetof(struct lens_options, user), lens_run_id_valid, LENS_TAKES_NAME },
	{ "lens-service", offsetof(struct lens_options, service), lens_run_id_valid,
	  LENS_TAKES_NAME },
	{ "lens-span-groups", offsetof(struct lens_options, span_groups), lens_groups_valid,
	  LENS_TAKES_GROUPS },
	{ "lens-attr", offsetof(struct lens_options, attributes), lens_attributes_valid,
	  LENS_TAKES_ATTRIBUTES },
	{ "lens-endpoint", offsetof(struct lens_options, endpoint), lens_url_valid,
	  LENS_TAKES_URL },
};

static const struct text_option *find_text_option(const char *name)
{
	for (size_t i = 0; i < sizeof(text_options) / sizeof(text_options[0]); i++)
		if (strcmp(name, text_options[i].name) == 0)
			return &text_options[i];
	return NULL;
}

static int set_text(struct lens_options *options, const struct text_option *option,
		    const char *value, struct lens_error *err)
{
	char **field = (char **)((char *)options + option->offset);
	char *copy;

	if (!option->valid(value)) {
		if (option->valid == lens_url_valid)
			return lens_error_set(err, "--%s: its value is not %s", option->name,
					      option->takes);
		return refuse(option->name, value, option->takes, err);
	}
	copy = strdup(value);
	if (copy == NULL)
		return lens_error_set(err, "--%s: no memory", option->name);
	free(*field);
	*field = copy;
	return 0;
}

static int set_strategy(struct lens_options *options, const char *name, const char *value,
			struct lens_error *err)
{
	if (lens_strategy_parse(value, &options->strategy.strategy) != 0)
		return refuse(name, value, "one of " LENS_TAKES_STRATEGY, err);
	options->strategy_set = true;
	return 0;
}

static int set_rank(struct lens_options *options, const char *name, const char *value,
		    struct lens_error *err)
{
	if (lens_strategy_rank_parse(value, &options->strategy.rank) != 0)
		return refuse(name, value, LENS_TAKES_RANK, err);
	options->rank_set = true;
	return 0;
}

static int set_rate(struct lens_options *options, const char *name, const char *value,
		    struct lens_error *err)
{
	if (lens_rate_parse(value, &options->strategy.rate) != 0)
		return refuse(name, value, LENS_TAKES_RATE, err);
	options->rate_set = true;
	return 0;
}

static int set_ranks(struct lens_options *options, const char *name, const char *value,
		     struct lens_error *err)
{
	if (lens_ranks_parse(value, &options->ranks) != 0)
		return refuse(name, value, LENS_TAKES_RANKS, err);
	options->ranks_set = true;
	return 0;
}

static int set_outer(struct lens_options *options, const char *name, const char *value,
		     struct lens_error *err)
{
	if (lens_outer_parse(value, &options->outer) != 0)
		return refuse(name, value, LENS_TAKES_OUTER, err);
	options->outer_set = true;
	return 0;
}

/* The options that are a choice or a number. 1 when NAME is none of them. */
static int set_choice(struct lens_options *options, const char *name, const char *value,
		      struct lens_error *err)
{
	static const struct {
		const char *name;
		int (*set)(struct lens_options *options, const char *name, const char *value,
			   struct lens_error *err);
	} setters[] = {
		{ "lens-strategy", set_strategy }, { "lens-rank", set_rank },
		{ "lens-sample-rate", set_rate },  { "lens-ranks", set_ranks },
		{ "lens-traceparent", set_outer },
	};

	for (size_t i = 0; i < sizeof(setters) / sizeof(setters[0]); i++)
		if (strcmp(name, setters[i].name) == 0)
			return setters[i].set(options, name, value, err);
	return 1;
}

int lens_options_set(struct lens_options *options, const char *name, const char *value,
		     struct lens_error *err)
{
	const struct text_option *text = find_text_option(name);
	int rc;

	if (strcmp(name, "lens") == 0)
		return set_lens(options, name, value, err);
	if (value == NULL || *value == '\0')
		return lens_error_set(err, "--%s needs a value: --%s=...", name, name);
	rc = text ? set_text(options, text, value, err) : set_choice(options, name, value, err);
	if (rc > 0)
		return lens_error_set(err, "--%s is no option of lens", name);
	if (rc == 0)
		options->any = true;
	return rc;
}
