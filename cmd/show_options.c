/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/show_options.h"

#include "cmd/usage.h"
#include "lib/core/number.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPTION_JOB = COMMON_OPTION_OWN,
	OPTION_ATTEMPT,
	OPTION_CLUSTER,
	OPTION_TRACE,
	OPTION_ALL,
	OPTION_DEPTH,
	OPTION_WIDTH,
	OPTION_COLOR,
	OPTION_FOLLOW,
	OPTION_HTML,
};

static const char help_text[] =
	"Usage: slurm-lens show FILE|DIR|JOBID [OPTION...]\n"
	"\n"
	"Shows a job as a waterfall of its spans, each attempt below the other.\n"
	"\n"
	"  FILE                OTLP/JSON lines, with what it was rotated into; - reads standard input\n"
	"  DIR                 all *.jsonl files in it\n"
	"  JOBID               36, or 36_3 of an array: looked for in File of lens.conf\n"
	"\n"
	"Which spans:\n"
	"  --job ID            of this job; with several jobs and no --job they are listed\n"
	"  --attempt N         of this attempt alone; the first is 0\n"
	"  --cluster NAME      of jobs of this cluster\n"
	"  --trace ID          of this trace, whatever the job\n"
	"\n"
	"How:\n"
	"  --all               all spans; else of more than 16 alike the failed and the longest\n"
	"  --depth N           N levels of the tree\n"
	"  --width N           characters in a line (default: the terminal's, else 100)\n"
	"  --color WHEN        auto (the default), always, never; NO_COLOR is honoured\n"
	"  --follow            show it again as spans come, until the job is over or Ctrl-C\n"
	"  --html OUT          write a page of its own for a browser; - is standard output\n"
	"\n"
	"  --config FILE       lens.conf (default: the plugin's), for its File\n"
	"  --set KEY=VALUE     a setting, as an argument in plugstack.conf; lens.conf beats it\n"
	"  --help              say this\n"
	"\n"
	"Exit status: 0 shown; 1 there are no such spans; 2 usage or environment.\n";

void show_help(void)
{
	fputs(help_text, stdout);
}

static int usage(const char *what, const char *why)
{
	return usage_wrong("show", "%s: %s", what, why);
}

/* `36`, `36_3`, `36+1` (a component of a het job, which its leader stands for). */
static bool is_job(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	if (digits == 0)
		return false;
	if (text[digits] == '\0')
		return true;
	return (text[digits] == '_' || text[digits] == '+') &&
	       isdigit((unsigned char)text[digits + 1]) &&
	       strspn(text + digits + 1, "0123456789") == strlen(text + digits + 1);
}

static int job_set(struct show_options *out, const char *what, char *text)
{
	if (!is_job(text))
		return usage(what, "no job id; it is 36, or 36_3 of an array");
	text[strcspn(text, "+")] = '\0';
	out->wish.job = text;
	return 0;
}

static int trace_set(struct show_options *out, const char *text)
{
	char hex[LENS_TRACE_HEX] = "";

	for (size_t i = 0; strlen(text) == sizeof(hex) - 1 && i < sizeof(hex); i++)
		hex[i] = (char)tolower((unsigned char)text[i]);
	out->wish.has_trace = lens_trace_id_parse(&out->wish.trace, hex) == 0;
	return out->wish.has_trace ? 0 : usage("--trace", "takes the 32 hex digits of a trace id");
}

static int color_set(struct show_options *out, const char *text)
{
	if (strcmp(text, "auto") == 0)
		out->color = TERMINAL_AUTO;
	else if (strcmp(text, "always") == 0)
		out->color = TERMINAL_ALWAYS;
	else if (strcmp(text, "never") == 0)
		out->color = TERMINAL_NEVER;
	else
		return usage("--color", "takes auto, always or never");
	return 0;
}

static int number_set(const char *what, const char *text, uint32_t least, uint32_t *out)
{
	if (lens_uint32_parse(text, out) == 0 && *out >= least && *out < 1000000)
		return 0;
	return usage(what, least > 0 ? "takes a number above 0" : "takes a number");
}

static int option_take(struct show_options *out, int option, char *const *argv)
{
	uint32_t number = 0;
	int rc = 0;

	switch (option) {
	case OPTION_JOB:
		return job_set(out, "--job", optarg);
	case OPTION_ATTEMPT:
		rc = number_set("--attempt", optarg, 0, &number);
		out->wish.attempt = number;
		return rc;
	case OPTION_CLUSTER:
		out->wish.cluster = optarg;
		return 0;
	case OPTION_TRACE:
		return trace_set(out, optarg);
	case OPTION_ALL:
		out->limits.all = true;
		return 0;
	case OPTION_DEPTH:
		rc = number_set("--depth", optarg, 1, &number);
		out->limits.depth = number;
		return rc;
	case OPTION_WIDTH:
		rc = number_set("--width", optarg, 1, &number);
		out->width = number;
		return rc;
	case OPTION_COLOR:
		return color_set(out, optarg);
	case OPTION_FOLLOW:
		out->follow = true;
		return 0;
	case OPTION_HTML:
		out->html = optarg;
		return 0;
	default:
		return common_options_take(&out->common, "show", option, argv);
	}
}

/* What is to be shown, and where it is. */
static int words_take(struct show_options *out, int argc, char **argv)
{
	if (optind == argc)
		return usage("FILE, DIR or JOBID", "one of them is needed");
	if (optind + 1 < argc)
		return usage(argv[optind + 1], "one FILE, DIR or JOBID, not more");
	if (is_job(argv[optind])) {
		if (*out->wish.job != '\0')
			return usage("--job", "the job is named already");
		return job_set(out, argv[optind], argv[optind]);
	}
	out->path = argv[optind];
	return *out->path != '\0' ? 0 : usage("FILE", "it is empty");
}

int show_options_parse(struct show_options *out, int argc, char **argv)
{
	static const struct option options[] = {
		{ "job", required_argument, NULL, OPTION_JOB },
		{ "attempt", required_argument, NULL, OPTION_ATTEMPT },
		{ "cluster", required_argument, NULL, OPTION_CLUSTER },
		{ "trace", required_argument, NULL, OPTION_TRACE },
		{ "all", no_argument, NULL, OPTION_ALL },
		{ "depth", required_argument, NULL, OPTION_DEPTH },
		{ "width", required_argument, NULL, OPTION_WIDTH },
		{ "color", required_argument, NULL, OPTION_COLOR },
		{ "follow", no_argument, NULL, OPTION_FOLLOW },
		{ "html", required_argument, NULL, OPTION_HTML },
		COMMON_OPTIONS_SETTINGS,
		COMMON_OPTIONS_HELP,
		{ 0 },
	};
	int option;

	*out = (struct show_options){ .wish = { .job = "", .cluster = "", .attempt = -1 } };
	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1)
		if (option_take(out, option, argv) != 0)
			return -1;
	if (out->common.help)
		return 0;
	if (words_take(out, argc, argv) == -1)
		return -1;
	if (out->wish.has_trace && *out->wish.job != '\0')
		return usage("--trace", "it is a job or a trace, not both");
	if (out->follow && out->html != NULL)
		return usage("--follow", "it does not go with --html");
	return 0;
}

void show_options_clear(struct show_options *options)
{
	common_options_clear(&options->common);
}
