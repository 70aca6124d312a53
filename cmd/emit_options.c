/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/emit.h"

#include "cmd/common_options.h"
#include "cmd/usage.h"
#include "lib/core/number.h"

#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPTION_SERVICE = COMMON_OPTION_OWN,
	OPTION_SPAN,
	OPTION_FILE,
	OPTION_NAME,
	OPTION_ATTR,
	OPTION_SPAN_ATTR,
	OPTION_KIND,
	OPTION_STATUS,
	OPTION_SPAN_STATUS,
	OPTION_COMMAND_ARGS,
	OPTION_TIMEOUT,
	OPTION_DRY_RUN,
	OPTION_VERBOSE,
};

static const struct option long_options[] = {
	{ "service", required_argument, NULL, OPTION_SERVICE },
	{ "span", required_argument, NULL, OPTION_SPAN },
	{ "file", required_argument, NULL, OPTION_FILE },
	{ "name", required_argument, NULL, OPTION_NAME },
	{ "attr", required_argument, NULL, OPTION_ATTR },
	{ "span-attr", required_argument, NULL, OPTION_SPAN_ATTR },
	{ "kind", required_argument, NULL, OPTION_KIND },
	{ "status", required_argument, NULL, OPTION_STATUS },
	{ "span-status", required_argument, NULL, OPTION_SPAN_STATUS },
	{ "command-args", no_argument, NULL, OPTION_COMMAND_ARGS },
	{ "timeout", required_argument, NULL, OPTION_TIMEOUT },
	{ "dry-run", no_argument, NULL, OPTION_DRY_RUN },
	{ "verbose", no_argument, NULL, OPTION_VERBOSE },
	COMMON_OPTIONS_HELP,
	{ 0 },
};

static int refuse(const char *option, const char *takes)
{
	return usage_refuse("emit", option, optarg, takes);
}

static int word_add(struct emit_words *words, const char *word)
{
	const char **items = reallocarray(words->items, words->count + 1, sizeof(*items));

	if (items == NULL)
		return usage_wrong("emit", "out of memory");
	words->items = items;
	words->items[words->count++] = word;
	return 0;
}

static int name_take(const char **out, const char *option)
{
	*out = optarg;
	return *optarg != '\0' ? 0 : refuse(option, "a name");
}

/* What belongs to an interval is tried on one. */
static int kind_take(struct emit_options *out)
{
	struct lens_interval trial = { 0 };

	out->kind = optarg;
	return lens_interval_kind(&trial, optarg) == 0 ? 0 : refuse("kind", LENS_TAKES_KIND);
}

static int status_take(struct emit_options *out)
{
	struct lens_interval trial = { 0 };
	int rc = lens_interval_status(&trial, optarg);

	free(trial.message);
	out->status = optarg;
	return rc == 0 ? 0 : refuse("status", LENS_TAKES_STATUS);
}

static int attribute_take(struct emit_options *out)
{
	const char *equals = strchr(optarg, '=');

	if (equals == NULL || equals == optarg)
		return refuse("attr", "KEY=VALUE");
	return word_add(&out->attributes, optarg);
}

static int timeout_take(struct emit_options *out)
{
	uint32_t ms;

	if (lens_uint32_parse(optarg, &ms) == -1 || ms > INT_MAX)
		return refuse("timeout", "a number of milliseconds");
	out->timeout_set = true;
	out->timeout_ms = ms;
	return 0;
}

static int option_take(struct emit_options *out, int option, char *const *argv)
{
	switch (option) {
	case OPTION_SERVICE:
		return name_take(&out->service, "service");
	case OPTION_NAME:
		return name_take(&out->name, "name");
	case OPTION_SPAN:
		return word_add(&out->spans, optarg);
	case OPTION_FILE:
		return word_add(&out->files, optarg);
	case OPTION_ATTR:
		return attribute_take(out);
	case OPTION_SPAN_ATTR:
		return word_add(&out->span_attributes, optarg);
	case OPTION_KIND:
		return kind_take(out);
	case OPTION_STATUS:
		return status_take(out);
	case OPTION_SPAN_STATUS:
		return word_add(&out->span_statuses, optarg);
	case OPTION_COMMAND_ARGS:
		out->command_args = true;
		return 0;
	case OPTION_TIMEOUT:
		return timeout_take(out);
	case OPTION_DRY_RUN:
		out->dry_run = true;
		return 0;
	case OPTION_VERBOSE:
	case 'v':
		out->verbose = true;
		return 0;
	default:
		return common_options_take(&out->common, "emit", option, argv);
	}
}

/* What goes with a command, and what with intervals. */
static int forms_check(const struct emit_options *options)
{
	bool intervals = options->spans.count > 0 || options->files.count > 0;

	if (options->command == NULL && !intervals)
		return usage_wrong(
			"emit", "nothing to send: give --span or --file, or a command behind `--`");
	if (options->command == NULL && (options->name != NULL || options->command_args))
		return usage_wrong("emit", "%s goes with a command, behind `--`",
				   options->name != NULL ? "--name" : "--command-args");
	if (options->command == NULL)
		return 0;
	if (intervals || options->span_attributes.count > 0 || options->span_statuses.count > 0 ||
	    options->status != NULL || options->dry_run)
		return usage_wrong(
			"emit", "a command does not go with --span, --file, --span-attr, --status, "
				"--span-status or --dry-run");
	return 0;
}

int emit_options_parse(struct emit_options *out, int argc, char **argv)
{
	int option;

	*out = (struct emit_options){ 0 };
	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, "+:v", long_options, NULL)) != -1) {
		if (option_take(out, option, argv) == -1)
			return -1;
	}
	if (out->common.help)
		return 0;
	if (optind > 1 && strcmp(argv[optind - 1], "--") == 0) {
		if (optind == argc)
			return usage_wrong("emit", "the command behind `--` is missing");
		out->command = argv + optind;
	} else if (optind < argc) {
		return usage_wrong("emit", "%s: not expected here; a command stands behind `--`",
				   argv[optind]);
	}
	return forms_check(out);
}

void emit_options_clear(struct emit_options *options)
{
	common_options_clear(&options->common);
	free(options->spans.items);
	free(options->files.items);
	free(options->attributes.items);
	free(options->span_attributes.items);
	free(options->span_statuses.items);
	*options = (struct emit_options){ 0 };
}
