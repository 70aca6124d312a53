/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/status.h"

#include "cmd/agent_settings.h"
#include "cmd/command.h"
#include "cmd/site_arguments.h"
#include "cmd/usage.h"
#include "lib/core/lock.h"
#include "lib/core/statedir.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char help_text[] =
	"Usage: slurm-lens status [OPTION...]\n"
	"\n"
	"Says how the agent of this node is, what waits to be sent, and what was lost. For root.\n"
	"\n"
	"  --format text|json  text is the default\n"
	"  --json              as --format json\n"
	"  --config FILE       lens.conf (default: the plugin's)\n"
	"  --set KEY=VALUE     a setting, as an argument in plugstack.conf; lens.conf beats it\n"
	"  --state-dir DIR     the state directory, whatever the settings say\n"
	"  --help              say this\n"
	"\n"
	"Exit status: 0 ok; 1 a person is needed, the output says for what; 2 usage or\n"
	"environment.\n";

/* What waits longer than this without an agent needs a person; seconds. The next job's prolog
 * would start one. */
#define ORPHAN_S 60

/* A receiver that takes nothing for so long is no restart any more; seconds. */
#define FAILING_S 600

/* 0; -1 after a line on standard error. */
static int options_parse(struct common_options *out, int argc, char **argv)
{
	static const struct option options[] = {
		COMMON_OPTIONS_SETTINGS,
		COMMON_OPTIONS_STATE_DIR,
		COMMON_OPTIONS_FORMAT,
		COMMON_OPTIONS_HELP,
		{ 0 },
	};
	int option;

	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (common_options_take(out, "status", option, argv) == -1)
			return -1;
	}
	return usage_words_none("status", argc, argv);
}

static void problem(struct status_view *view, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void problem(struct status_view *view, const char *format, ...)
{
	va_list arguments;

	if (view->problem_count == STATUS_PROBLEMS)
		return;
	va_start(arguments, format);
	vsnprintf(view->problems[view->problem_count++], sizeof(view->problems[0]), format,
		  arguments);
	va_end(arguments);
}

void status_problems_find(struct status_view *view, const struct lens_config *config)
{
	const struct lens_status *status = &view->status;
	const struct lens_waiting *waiting = &view->waiting;

	if (view->holder == 0 && waiting->oldest != 0 && view->now - waiting->oldest > ORPHAN_S)
		problem(view, "spans wait and no agent runs: %s",
			config->agent == LENS_AGENT_AUTO
				? "restart slurmd, or look into its log for why it starts none"
				: "Agent in lens.conf leaves it to you to start one");
	if (status->dropped > 0)
		problem(view, "%" PRIu64 " spans are lost since this agent began: %s",
			status->dropped, status->dropped_why);
	if (view->holder != 0 && status->failing_since != 0 &&
	    view->now - status->failing_since > FAILING_S)
		problem(view, "nothing was sent for %" PRId64 " minutes: %s",
			(view->now - status->failing_since) / 60, status->error);
}

int status_view_fill(struct status_view *view, int directory, struct lens_error *err)
{
	int rc;

	view->now = (int64_t)time(NULL);
	view->holder = lens_lock_holder(directory, err);
	if (view->holder == -1 || lens_waiting_count(directory, &view->waiting, err) == -1)
		return -1;
	rc = lens_status_read(directory, &view->status, err);
	if (rc == -1)
		return -1;
	view->known = rc == 0;
	/* A new agent that has told nothing yet is not the old one. */
	if (view->holder != 0 && view->status.pid != (uint32_t)view->holder) {
		view->known = false;
		memset(&view->status, 0, sizeof(view->status));
	}
	return 0;
}

/* The open state directory, or -1 after a line on standard error. */
static int directory_open(const struct lens_config *config)
{
	struct lens_error err = LENS_ERROR_INIT;
	int directory;

	if (geteuid() != 0 && access(config->state_dir, R_OK | X_OK) != 0 && errno == EACCES) {
		fprintf(stderr, "slurm-lens status: only root can look into %s: run it as root\n",
			config->state_dir);
		return -1;
	}
	directory = lens_statedir_open(config->state_dir, false, &err);
	if (directory == -1)
		fprintf(stderr, "slurm-lens status: %s\n", err.text);
	return directory;
}

static int status_run(const struct lens_config *config, bool json)
{
	struct status_view view = { .state_dir = config->state_dir };
	struct lens_error err = LENS_ERROR_INIT;
	int directory = directory_open(config);
	int rc;

	if (directory == -1)
		return LENS_EXIT_ENVIRONMENT;
	rc = status_view_fill(&view, directory, &err);
	close(directory);
	if (rc == -1) {
		fprintf(stderr, "slurm-lens status: %s\n", err.text);
		return LENS_EXIT_ENVIRONMENT;
	}
	status_problems_find(&view, config);
	if (!json) {
		status_show_text(&view);
	} else if (status_show_json(&view) == -1) {
		fputs("slurm-lens status: its settings could not be read whole: out of memory or "
		      "descriptors, or the disk fails\n",
		      stderr);
		return LENS_EXIT_ENVIRONMENT;
	}
	return view.problem_count > 0 ? LENS_EXIT_NO : LENS_EXIT_OK;
}

int lens_status_main(int argc, char **argv)
{
	struct common_options options = { 0 };
	struct agent_log *log = agent_log_create("status");
	struct lens_config *config = NULL;
	int status = LENS_EXIT_ENVIRONMENT;

	if (log == NULL || options_parse(&options, argc, argv) == -1)
		goto out;
	if (options.help) {
		fputs(help_text, stdout);
		status = LENS_EXIT_OK;
		goto out;
	}
	if (site_arguments_add(&options) == 0)
		config = agent_settings_load(&options, log);
	if (config == NULL)
		fputs("slurm-lens status: out of memory\n", stderr);
	else
		status = status_run(config, options.json);
out:
	lens_config_destroy(config);
	common_options_clear(&options);
	agent_log_destroy(log);
	return status;
}
