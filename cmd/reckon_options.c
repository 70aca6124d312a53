/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cmd/reckon.h"

#include "cmd/usage.h"
#include "lib/core/number.h"
#include "lib/core/show.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPTION_FROM = COMMON_OPTION_OWN,
	OPTION_ATTEMPT,
	OPTION_CLUSTER,
	OPTION_REALM,
	OPTION_FILE,
	OPTION_SEND,
};

static const struct option long_options[] = {
	{ "from", required_argument, NULL, OPTION_FROM },
	{ "attempt", required_argument, NULL, OPTION_ATTEMPT },
	{ "cluster", required_argument, NULL, OPTION_CLUSTER },
	{ "realm", required_argument, NULL, OPTION_REALM },
	{ "file", required_argument, NULL, OPTION_FILE },
	{ "send", no_argument, NULL, OPTION_SEND },
	COMMON_OPTIONS_SETTINGS,
	COMMON_OPTIONS_HELP,
	{ 0 },
};

static const char help_text[] =
	"Usage: slurm-lens reckon [OPTION...] JOBID...\n"
	"       slurm-lens reckon --from FILE [OPTION...] [JOBID...]\n"
	"\n"
	"Makes the spans of jobs from Slurm's accounting: of a job that ran without the\n"
	"plugin, or on a node that never came back. Names and ids are the plugin's: a\n"
	"receiver that has a span already keeps one copy. JOBID is 36, 36_3 (an element of\n"
	"an array) or 50+1 (a component of a het job); 36 is also all of an array or a\n"
	"het job.\n"
	"\n"
	"  --from FILE       a saved output of sacct, - for standard input, instead of\n"
	"                    running it; without JOBID all jobs in it. It is made by\n"
	"                    SLURM_TIME_FORMAT=%s sacct -a -D -P --delimiter='~' -j JOBID "
	"--format=" LENS_ACCOUNTING_COLUMNS "\n"
	"                    and ,Restarts,SLUID behind it where sacct has them\n"
	"  --attempt N       the oldest record is attempt N, from 0; where Slurm does not\n"
	"                    number them (22.05) and may have purged the first\n"
	"  --cluster NAME    of that cluster\n"
	"  --realm TEXT      a part of every id; default: Realm of lens.conf\n"
	"  --file FILE       append to FILE instead of printing; its directory has to be there\n"
	"  --send            send instead of printing: where OTEL_EXPORTER_OTLP_ENDPOINT and\n"
	"                    the like say, else to the Endpoint of lens.conf\n"
	"  --config FILE     lens.conf (default: the plugin's)\n"
	"  --set KEY=VALUE   a setting, where the file has none\n"
	"  --help            say this\n"
	"\n"
	"Prints OTLP/JSON, a line for every few spans.\n"
	"Exit status: 0 the spans are out; 1 not all of them: no such job, nothing complete\n"
	"yet, attempts that cannot be numbered, a receiver that refuses; 2 usage or\n"
	"environment.\n";

const char *reckon_options_help(void)
{
	return help_text;
}

static int option_take(struct reckon_options *out, int option, char *const *argv)
{
	struct lens_shown shown;

	switch (option) {
	case OPTION_FROM:
		out->from = optarg;
		return 0;
	case OPTION_CLUSTER:
		out->cluster = optarg;
		return *optarg != '\0' ? 0 : usage_wrong("reckon", "--cluster: a name is missing");
	case OPTION_REALM:
		out->realm = optarg;
		return 0;
	case OPTION_FILE:
		out->file = optarg;
		return 0;
	case OPTION_SEND:
		out->send = true;
		return 0;
	case OPTION_ATTEMPT:
		if (lens_uint32_parse(optarg, &out->attempt) == 0 &&
		    out->attempt != LENS_RECORD_NONE)
			return 0;
		return usage_refuse("reckon", "attempt", lens_shown_value(&shown, optarg),
				    "a number from 0 on");
	default:
		return common_options_take(&out->common, "reckon", option, argv);
	}
}

static int jobs_take(struct reckon_options *out, char **words, size_t count)
{
	struct lens_shown shown;

	out->words = (const char *const *)words;
	out->wishes = calloc(count > 0 ? count : 1, sizeof(*out->wishes));
	if (out->wishes == NULL)
		return usage_wrong("reckon", "out of memory");
	for (size_t i = 0; i < count; i++) {
		if (lens_account_wish_parse(&out->wishes[i], words[i]) == -1)
			return usage_wrong("reckon", "`%s`: not a job as 36, 36_3 or 50+1",
					   lens_shown_value(&shown, words[i]));
	}
	out->wish_count = count;
	return 0;
}

int reckon_options_parse(struct reckon_options *out, int argc, char **argv)
{
	int option;

	*out = (struct reckon_options){ .attempt = LENS_RECORD_NONE };
	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
		if (option_take(out, option, argv) == -1)
			return -1;
	}
	if (out->common.help)
		return 0;
	if (out->send && out->file != NULL)
		return usage_wrong("reckon", "--send and --file do not go together");
	if (optind == argc && out->from == NULL)
		return usage_wrong("reckon", "which job?");
	return jobs_take(out, argv + optind, (size_t)(argc - optind));
}

void reckon_options_clear(struct reckon_options *options)
{
	common_options_clear(&options->common);
	free(options->wishes);
	*options = (struct reckon_options){ 0 };
}
