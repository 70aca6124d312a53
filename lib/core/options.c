/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/options.h"
#include "lib/core/choice.h"
#include "lib/core/number.h"
#include "lib/core/show.h"

#include <stdlib.h>
#include <string.h>

/* In the order of `sbatch --help`, which prints each help text as it is. */
const struct lens_option_spec lens_option_specs[] = {
	{ "lens", "on|off", "tag the job's tasks and trace the job; to switch off: --lens=off", true },
	{ "lens-run-id", "ID", "name of the run in the telemetry; default: the job id", false },
	{ "lens-strategy", "NAME",
	  "which ranks export: single_rank, all_ranks, sampled, first_rank_per_node", false },
	{ "lens-rank", "N", "the rank that single_rank picks; default: -1, the last", false },
	{ "lens-sample-rate", "F", "the share of ranks that sampled picks, 0.0 to 1.0", false },
};

const size_t lens_option_count = sizeof(lens_option_specs) / sizeof(lens_option_specs[0]);

void lens_options_init(struct lens_options *options)
{
	*options = (struct lens_options){ .lens = LENS_OPTION_UNSET };
}

void lens_options_clear(struct lens_options *options)
{
	free(options->run_id);
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

static int set_run_id(struct lens_options *options, const char *name, const char *value,
		      struct lens_error *err)
{
	char *copy;

	if (!lens_run_id_valid(value))
		return refuse(name, value, LENS_TAKES_RUN_ID, err);
	copy = strdup(value);
	if (copy == NULL)
		return lens_error_set(err, "--%s: no memory", name);
	free(options->run_id);
	options->run_id = copy;
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

int lens_options_set(struct lens_options *options, const char *name, const char *value,
		     struct lens_error *err)
{
	static const struct {
		const char *name;
		int (*set)(struct lens_options *options, const char *name, const char *value,
			   struct lens_error *err);
	} setters[] = {
		{ "lens-run-id", set_run_id },
		{ "lens-strategy", set_strategy },
		{ "lens-rank", set_rank },
		{ "lens-sample-rate", set_rate },
	};

	if (strcmp(name, "lens") == 0)
		return set_lens(options, name, value, err);
	for (size_t i = 0; i < sizeof(setters) / sizeof(setters[0]); i++) {
		if (strcmp(name, setters[i].name) != 0)
			continue;
		if (value == NULL || *value == '\0')
			return lens_error_set(err, "--%s needs a value: --%s=...", name, name);
		if (setters[i].set(options, name, value, err) != 0)
			return -1;
		options->any = true;
		return 0;
	}
	return lens_error_set(err, "--%s is no option of lens", name);
}
