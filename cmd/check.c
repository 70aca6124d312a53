/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/check.h"

#include "cmd/command.h"
#include "cmd/usage.h"

#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

static const char help_text[] =
	"Usage: slurm-lens check [OPTION...]\n"
	"\n"
	"Looks at all that a site needs before it goes live, as this user sees it from this\n"
	"machine: the plugin and the Slurm it is for, plugstack.conf, lens.conf, PrologFlags, the\n"
	"state directory, the agent, the receivers (which get an empty request), the clock, and\n"
	"what was left to its default. Root of a compute node sees the most.\n"
	"\n"
	"  --job FILE          read the #SBATCH lines of a script too, and say what lens would do\n"
	"  --format text|json  text is the default\n"
	"  --json              as --format json\n"
	"  --plugstack FILE    plugstack.conf (default: the one that Slurm reads)\n"
	"  --config FILE       lens.conf (default: as the plugin finds it)\n"
	"  --set KEY=VALUE     a setting, as an argument in plugstack.conf; lens.conf beats it\n"
	"  --state-dir DIR     the state directory, whatever the settings say\n"
	"  --help              say this\n"
	"\n"
	"Exit status: 0 ok, perhaps with warnings; 1 something fails; 2 usage or environment.\n";

enum { OPTION_PLUGSTACK = COMMON_OPTION_OWN, OPTION_JOB };

static int option_take(struct check *check, int option, char *const *argv)
{
	switch (option) {
	case OPTION_PLUGSTACK:
		check->plugstack = optarg;
		return 0;
	case OPTION_JOB:
		check->job = optarg;
		return 0;
	default:
		return common_options_take(&check->options, "check", option, argv);
	}
}

static int options_parse(struct check *check, int argc, char **argv)
{
	static const struct option options[] = {
		COMMON_OPTIONS_SETTINGS,
		COMMON_OPTIONS_STATE_DIR,
		{ "plugstack", required_argument, NULL, OPTION_PLUGSTACK },
		{ "job", required_argument, NULL, OPTION_JOB },
		COMMON_OPTIONS_FORMAT,
		COMMON_OPTIONS_HELP,
		{ 0 },
	};
	int option;

	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (option_take(check, option, argv) == -1)
			return -1;
	}
	return usage_words_none("check", argc, argv);
}

static int out_of_memory(void)
{
	fputs("slurm-lens check: out of memory\n", stderr);
	return LENS_EXIT_ENVIRONMENT;
}

static int check_run(struct check *check)
{
	check_environment(check);
	check_slurm(check);
	check_plugin(check);
	if (check_settings(check) != 0)
		return out_of_memory();
	check_state(check);
	check_receiver(check);
	check_clock(check);
	check_choices(check);
	if (check->job != NULL)
		check_job(check);
	if (check->rows.failed)
		return out_of_memory();
	if (!check->options.json)
		check_rows_show(&check->rows);
	else if (check_rows_show_json(&check->rows) != 0)
		return out_of_memory();
	return check_count(&check->rows, CHECK_FAIL) > 0 ? LENS_EXIT_NO : LENS_EXIT_OK;
}

int lens_check_main(int argc, char **argv)
{
	struct check check = { .root = geteuid() == 0 };
	int status = LENS_EXIT_ENVIRONMENT;

	if (options_parse(&check, argc, argv) != 0)
		goto out;
	if (check.options.help) {
		fputs(help_text, stdout);
		status = LENS_EXIT_OK;
		goto out;
	}
	if (check.job != NULL && access(check.job, R_OK) != 0) {
		fprintf(stderr, "slurm-lens check: --job %s: %m\n", check.job);
		goto out;
	}
	status = check_run(&check);
out:
	check_rows_clear(&check.rows);
	lens_config_destroy(check.config);
	lens_plugstack_clear(&check.stack);
	lens_site_clear(&check.site);
	common_options_clear(&check.options);
	return status;
}
