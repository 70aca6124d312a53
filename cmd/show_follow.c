/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/show_run.h"

#include "cmd/command.h"
#include "cmd/show_text.h"
#include "cmd/show_watch.h"
#include "cmd/show_words.h"

#include <stdio.h>
#include <string.h>

/* The name of what is followed, once it is known: a job that begins later in the file is
 * another one. */
struct target {
	char job[64], cluster[64];
};

struct follow {
	struct show_run *run;
	struct show_watch *watch;
	struct target target;
	size_t printed; /* spans, where lines are appended */
	bool drawn;     /* the other screen of the terminal is in use */
};

static void wish_narrow(struct follow *follow, size_t first)
{
	const struct show_entry *entry = show_index_at(follow->run->index, first);
	struct show_wish *wish = &follow->run->options->wish;

	if (wish->has_trace)
		return;
	strcpy(follow->target.job, entry->job);
	strcpy(follow->target.cluster, entry->cluster);
	wish->job = follow->target.job;
	wish->cluster = follow->target.cluster;
	if (entry->job[0] == '\0') {
		wish->has_trace = true;
		wish->trace = entry->trace;
	}
}

/* Both, so that an attempt that begins is seen. */
static int span_take(void *context, const struct lens_read_span *span)
{
	struct show_run *run = context;

	if (show_index_add(run->index, span) != 0)
		return 1;
	return run->collect != NULL ? show_collect_add(run->collect, span) : 0;
}

/* What came. 0; -1 after a line on standard error. */
static int fresh_read(struct show_run *run)
{
	struct show_scan fresh = { .fn = span_take, .context = run };
	struct lens_error err = LENS_ERROR_INIT;
	int rc = show_scan_files(&fresh, run->files, SHOW_READ_FRESH, NULL, &err);

	if (rc != 0) {
		fprintf(stderr, "slurm-lens show: %s\n", rc == -1 ? err.text : "out of memory");
		return -1;
	}
	run->skipped.lines += fresh.skipped.lines;
	run->skipped.spans += fresh.skipped.spans;
	if (run->skipped.first.text[0] == '\0')
		run->skipped.first = fresh.skipped.first;
	show_index_finish(run->index);
	return 0;
}

/* Aims at the group of the wish, once for each number of its traces. 0; -1. */
static int aim(struct follow *follow)
{
	struct show_run *run = follow->run;
	size_t first;

	if (show_run_choose(run, &first) == 0)
		return 0;
	if (run->collect != NULL &&
	    show_collect_entries(run->collect) == show_index_count(run->index))
		return 0;
	if (run->collect == NULL) {
		wish_narrow(follow, first);
		/* Anew, without what is of others. */
		show_index_destroy(run->index);
		run->index = NULL;
		if (show_run_index(run, SHOW_READ_WHOLE) == -1)
			return -1;
	}
	return show_run_collect(run, 0, SHOW_READ_WHOLE);
}

static void screen_leave(struct follow *follow)
{
	if (follow->drawn)
		fputs("\033[?1049l", stdout);
	follow->drawn = false;
}

/* Where the last COUNT lines of TEXT begin. */
static const char *tail_of(const struct lens_text *text, size_t count)
{
	const char *at = text->data + text->length;

	/* The newline at the end ends the last one. */
	for (count++; at > text->data; at--)
		if (at[-1] == '\n' && --count == 0)
			break;
	return at;
}

/* As many lines as the terminal has, what came last, and below them where one stands. */
static void screen_draw(struct follow *follow, const struct lens_text *text)
{
	size_t height = follow->run->terminal.height > 3 ? follow->run->terminal.height : 24;
	const char *begin = tail_of(text, height - 1), *end = text->data + text->length;

	fputs(follow->drawn ? "\033[H" : "\033[?1049h\033[H", stdout);
	follow->drawn = true;
	for (const char *at = begin; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((newline != NULL ? newline : end) - at);

		fwrite(at, 1, length, stdout);
		fputs("\033[K\n", stdout);
		at += length + 1;
	}
	fputs("\033[J", stdout);
	fputs(begin > text->data ? "There is more above. Ctrl-C shows all and ends."
				 : "Following. Ctrl-C ends.",
	      stdout);
}

/* A line for a span that came: when it began, how long it was, what it is. */
static void line_add(struct lens_text *out, const struct terminal *terminal,
		     const struct show_span *span)
{
	struct lens_text text = LENS_TEXT_INIT;

	show_time_add(out, span->kept->start_ns);
	show_duration_add(&text, span->kept->end_ns - span->kept->start_ns);
	lens_text_addf(out, " %11s  ", text.data != NULL ? text.data : "");
	lens_text_clear(&text);
	show_label_add(&text, span);
	if (text.data != NULL)
		terminal_add(out, terminal, text.data, 60);
	lens_text_clear(&text);
	show_outcome_add(&text, span);
	if (text.data != NULL) {
		lens_text_adds(out, "  ");
		show_paint_add(out, terminal, show_paint_of(span));
		terminal_add(out, terminal, text.data, 60);
		show_paint_add(out, terminal, SHOW_PLAIN);
	}
	lens_text_adds(out, "\n");
	lens_text_clear(&text);
}

static void lines_append(struct follow *follow, const struct show_picture *picture,
			 struct lens_text *out)
{
	const struct lens_kept *kept = show_collect_kept(follow->run->collect);

	for (; follow->printed < lens_kept_count(kept); follow->printed++) {
		const struct lens_kept_span *wanted = lens_kept_at(kept, follow->printed);

		/* Newer ones stand towards the end. */
		for (size_t i = picture->span_count; i > 0; i--) {
			if (picture->spans[i - 1].kept == wanted) {
				line_add(out, &follow->run->terminal, &picture->spans[i - 1]);
				break;
			}
		}
	}
}

static bool is_over(const struct follow *follow, const struct show_picture *picture)
{
	if (follow->run->options->wish.attempt == -1)
		return picture->over;
	return picture->section_count > 0 && picture->sections[0].whole != NULL;
}

/* Shows what there is. 1 when it is all that will come, 0 when not, -1 after a line. FINALLY:
 * as it stays. */
static int draw(struct follow *follow, bool finally)
{
	struct show_run *run = follow->run;
	struct show_options *options = run->options;
	struct show_picture *picture;
	struct lens_text text = LENS_TEXT_INIT;
	bool live = run->terminal.is_tty && run->terminal.height > 0;
	int over;

	if (run->collect == NULL)
		return 0;
	picture = show_picture_create(show_collect_kept(run->collect), !options->wish.has_trace);
	if (picture == NULL) {
		fputs("slurm-lens show: out of memory\n", stderr);
		return -1;
	}
	over = is_over(follow, picture);
	if (finally)
		screen_leave(follow);
	if (!live && !finally)
		lines_append(follow, picture, &text);
	else if (live)
		show_text_add(&text, &run->terminal, picture, &options->limits);
	if (live && !finally && text.data != NULL && !text.failed) {
		screen_draw(follow, &text);
		lens_text_clear(&text);
	} else if (show_run_put(&text) != LENS_EXIT_OK) {
		over = -1;
	}
	fflush(stdout);
	show_picture_destroy(picture);
	return over;
}

/* Not before all was read once: a signal ends the program as it is used to until then. */
static int watch_start(struct follow *follow)
{
	if (follow->watch == NULL)
		follow->watch = show_watch_create(show_files_directory(follow->run->files));
	if (follow->watch != NULL)
		return 0;
	fputs("slurm-lens show: out of memory or of file descriptors\n", stderr);
	return -1;
}

static int follow_loop(struct follow *follow)
{
	struct show_run *run = follow->run;
	size_t first;
	int over;

	if (show_run_index(run, SHOW_READ_WHOLE) == -1)
		return LENS_EXIT_ENVIRONMENT;
	for (;;) {
		if (run->collect == NULL && show_index_count(run->index) > 0 &&
		    show_run_choose(run, &first) == 0) {
			fputs("slurm-lens show: --follow is of one job, and there are several: name"
			      " it with --job or --trace\n",
			      stderr);
			return LENS_EXIT_ENVIRONMENT;
		}
		if (aim(follow) == -1)
			return LENS_EXIT_ENVIRONMENT;
		over = draw(follow, false);
		if (over != 0)
			return over == 1 ? LENS_EXIT_OK : LENS_EXIT_ENVIRONMENT;
		if (watch_start(follow) == -1)
			return LENS_EXIT_ENVIRONMENT;
		switch (show_watch_wait(follow->watch)) {
		case SHOW_WATCH_CHANGED:
			break;
		case SHOW_WATCH_RESIZED:
			terminal_find(&run->terminal, run->options->color, run->options->width);
			break;
		default:
			return LENS_EXIT_OK;
		}
		if (fresh_read(run) == -1)
			return LENS_EXIT_ENVIRONMENT;
	}
}

int show_follow(struct show_run *run)
{
	struct follow follow = { .run = run };
	int status;

	if (show_files_directory(run->files) == NULL) {
		fputs("slurm-lens show: --follow needs a file or a directory, no pipe\n", stderr);
		return LENS_EXIT_ENVIRONMENT;
	}
	status = follow_loop(&follow);
	if (status == LENS_EXIT_OK && run->collect == NULL) {
		fprintf(stderr, "slurm-lens show: no such span came in %s\n", run->where);
		status = LENS_EXIT_NO;
	} else if (status == LENS_EXIT_OK && draw(&follow, true) == -1) {
		status = LENS_EXIT_ENVIRONMENT;
	}
	screen_leave(&follow);
	show_run_skipped(run);
	show_watch_destroy(follow.watch);
	return status;
}
