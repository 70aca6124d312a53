/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/show_run.h"

#include "cmd/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int no_memory(void)
{
	fputs("slurm-lens show: out of memory\n", stderr);
	return -1;
}

/* What was wrong with the files, and what to do where they are the agent's. */
static void error_say(const struct show_run *run, const struct lens_error *err)
{
	fprintf(stderr, "slurm-lens show: %s\n", err->text);
	if (run->options->path == NULL && access(run->where, R_OK) == -1 && errno == EACCES)
		fputs("The agent's file is root's: run this as root, or name another one.\n",
		      stderr);
}

/* One reading of all; keeps count of what was skipped. */
static int scan(struct show_run *run, struct show_scan *scan, enum show_read how)
{
	struct progress *progress = progress_create("reading");
	struct lens_error err = LENS_ERROR_INIT;
	int rc = show_scan_files(scan, run->files, how, progress, &err);

	progress_destroy(progress);
	/* The same lines are read twice, but not looked into for the same. */
	if (scan->skipped.lines > run->skipped.lines) {
		run->skipped.lines = scan->skipped.lines;
		run->skipped.first = scan->skipped.first;
	}
	if (scan->skipped.spans > run->skipped.spans)
		run->skipped.spans = scan->skipped.spans;
	if (rc == -1)
		error_say(run, &err);
	else if (rc != 0)
		no_memory();
	return rc == 0 ? 0 : -1;
}

int show_run_index(struct show_run *run, enum show_read how)
{
	struct show_scan all = { .fn = show_index_add };
	const struct show_wish *wish = &run->options->wish;

	if (run->index == NULL)
		run->index = show_index_create(wish);
	if (run->index == NULL)
		return no_memory();
	all.context = run->index;
	if (*wish->job != '\0' && strlen(wish->job) < sizeof(all.needles.texts[0]))
		strcpy(all.needles.texts[all.needles.count++], wish->job);
	if (scan(run, &all, how) == -1)
		return -1;
	show_index_finish(run->index);
	return 0;
}

int show_run_choose(const struct show_run *run, size_t *first)
{
	struct show_index_sums sums = show_index_sums(run->index);

	*first = 0;
	/* Jobs come first, so that 0 is the one, or the trace where there is no job. */
	return run->options->wish.has_trace
		       ? show_index_count(run->index) > 0
		       : sums.jobs == 1 || (sums.jobs == 0 && sums.traces == 1);
}

int show_run_collect(struct show_run *run, size_t first, enum show_read how)
{
	struct show_scan all = { .fn = show_collect_add };
	size_t count = run->options->wish.has_trace ? show_index_count(run->index)
						    : show_index_group(run->index, first);

	if (run->collect == NULL)
		run->collect = show_collect_create(&run->options->wish);
	if (run->collect == NULL || show_collect_aim(run->collect, run->index, first, count) == -1)
		return no_memory();
	all.context = run->collect;
	show_collect_needles(run->collect, &all.needles);
	return scan(run, &all, how);
}

int show_run_put(struct lens_text *text)
{
	int status = LENS_EXIT_OK;

	if (text->failed) {
		no_memory();
		status = LENS_EXIT_ENVIRONMENT;
	} else if (text->length > 0) {
		fwrite(text->data, 1, text->length, stdout);
	}
	lens_text_clear(text);
	return status;
}

void show_run_skipped(const struct show_run *run)
{
	const struct show_skipped *skipped = &run->skipped;

	if (skipped->lines > 0)
		fprintf(stderr, "slurm-lens show: %" PRIu64 " %s skipped, the first: %s\n",
			skipped->lines, skipped->lines == 1 ? "line was" : "lines were",
			skipped->first.text);
	if (skipped->spans > 0)
		fprintf(stderr,
			"slurm-lens show: %" PRIu64 " %s skipped: no valid id or no start\n",
			skipped->spans, skipped->spans == 1 ? "span was" : "spans were");
}
