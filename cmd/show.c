/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/command.h"
#include "cmd/show_html.h"
#include "cmd/show_list.h"
#include "cmd/show_run.h"
#include "cmd/show_text.h"
#include "cmd/site_arguments.h"

#include "lib/core/config.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void config_problem(void *context, const char *text)
{
	(void)context;
	fprintf(stderr, "slurm-lens show: %s\n", text);
}

/* The settings, for where the spans of a job are. NULL: no memory, or a file that was named
 * cannot be used; a line on standard error has said so. */
static struct lens_config *config_load(struct common_options *common)
{
	struct lens_config *config;

	if (site_config_load(&config, common, config_problem, NULL) == -1)
		config_problem(NULL, "out of memory");
	return config;
}

/* Why there may be nothing in the file. */
static void nothing_say(const struct show_run *run, const struct lens_config *config)
{
	const struct show_wish *wish = &run->options->wish;

	if (*wish->job != '\0')
		fprintf(stderr, "slurm-lens show: no span of job %s in %s\n", wish->job,
			run->where);
	else
		fprintf(stderr, "slurm-lens show: no such span in %s\n", run->where);
	if (config == NULL)
		return;
	if (lens_config_protocol(config) != LENS_PROTOCOL_FILE)
		fprintf(stderr, "The spans of this node go to %s: look there, or name a file.\n",
			config->endpoint);
	else
		fputs("Each node writes the spans of its own part; those of a job as a whole are on"
		      " its first node.\n",
		      stderr);
}

/* A page in the place of the spans that it is made of would be the end of them. */
static bool overwrites(const struct show_run *run)
{
	const char *path = run->options->html;
	struct stat status;

	if (path == NULL || strcmp(path, "-") == 0 || stat(path, &status) != 0 ||
	    !show_files_has(run->files, &status))
		return false;
	fprintf(stderr, "slurm-lens show: --html %s: the spans are read from that file\n", path);
	return true;
}

static int picture_put(struct show_run *run)
{
	const struct show_options *options = run->options;
	const struct lens_kept *kept = show_collect_kept(run->collect);
	struct show_picture *picture = show_picture_create(kept, !options->wish.has_trace);
	struct lens_text text = LENS_TEXT_INIT;
	int status;

	if (picture == NULL) {
		fputs("slurm-lens show: out of memory\n", stderr);
		return LENS_EXIT_ENVIRONMENT;
	}
	if (overwrites(run)) {
		status = LENS_EXIT_ENVIRONMENT;
	} else if (options->html != NULL) {
		status = show_html_write(picture, options->html);
	} else {
		show_text_add(&text, &run->terminal, picture, &options->limits);
		status = show_run_put(&text);
	}
	show_picture_destroy(picture);
	return status;
}

static int list_put(struct show_run *run)
{
	struct lens_text text = LENS_TEXT_INIT;
	int status;

	show_list_add(&text, &run->terminal, run->index);
	status = show_run_put(&text);
	fflush(stdout);
	if (run->options->html != NULL) {
		fputs("slurm-lens show: --html is of one job: name it with --job or --trace\n",
		      stderr);
		return LENS_EXIT_ENVIRONMENT;
	}
	fputs("slurm-lens show: there are several; --job ID or --trace ID shows one\n", stderr);
	return status;
}

static int show_once(struct show_run *run, const struct lens_config *config)
{
	struct show_index_sums sums;
	size_t first;
	int status;

	if (show_run_index(run, SHOW_READ_ALL) == -1)
		return LENS_EXIT_ENVIRONMENT;
	if (show_index_count(run->index) == 0) {
		show_run_skipped(run);
		nothing_say(run, config);
		return LENS_EXIT_NO;
	}
	if (show_run_choose(run, &first) == 0) {
		status = list_put(run);
		show_run_skipped(run);
		return status;
	}
	if (show_run_collect(run, first, SHOW_READ_ALL) == -1)
		return LENS_EXIT_ENVIRONMENT;
	if (lens_kept_count(show_collect_kept(run->collect)) == 0) {
		fprintf(stderr, "slurm-lens show: no span of that attempt in %s\n", run->where);
		return LENS_EXIT_NO;
	}
	status = picture_put(run);
	fflush(stdout);
	sums = show_index_sums(run->index);
	if (!run->options->wish.has_trace && sums.jobs == 1 && sums.traces > 0)
		fprintf(stderr,
			"slurm-lens show: %zu more traces name no job; --trace ID shows one\n",
			sums.traces);
	show_run_skipped(run);
	return status;
}

static int run_start(struct show_run *run)
{
	struct show_options *options = run->options;
	struct lens_config *config = NULL;
	struct lens_error err = LENS_ERROR_INIT;
	int status = LENS_EXIT_ENVIRONMENT;

	if (options->path == NULL) {
		config = config_load(&options->common);
		if (config == NULL)
			return status;
	}
	run->where = options->path == NULL             ? config->file
		     : strcmp(options->path, "-") == 0 ? "standard input"
						       : options->path;
	run->files = show_files_create();
	if (run->files == NULL)
		lens_error_set(&err, "out of memory");
	if (run->files == NULL ||
	    show_files_add(run->files, options->path == NULL ? config->file : options->path,
			   options->path == NULL || options->follow, &err) == -1)
		fprintf(stderr, "slurm-lens show: %s\n", err.text);
	else
		status = options->follow ? show_follow(run) : show_once(run, config);
	lens_config_destroy(config);
	return status;
}

int lens_show_main(int argc, char **argv)
{
	struct show_options options;
	struct show_run run = { .options = &options };
	int status;

	if (show_options_parse(&options, argc, argv) == -1) {
		show_options_clear(&options);
		return LENS_EXIT_ENVIRONMENT;
	}
	if (options.common.help) {
		show_help();
		show_options_clear(&options);
		return LENS_EXIT_OK;
	}
	/* Of the locale the characters alone: numbers stay as they are everywhere. */
	setlocale(LC_CTYPE, "");
	terminal_find(&run.terminal, options.color, options.width);
	status = run_start(&run);
	show_collect_destroy(run.collect);
	show_index_destroy(run.index);
	show_files_destroy(run.files);
	show_options_clear(&options);
	return status;
}
