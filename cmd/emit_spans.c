/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/emit.h"

#include "cmd/command.h"
#include "lib/core/clock.h"
#include "lib/core/show.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of what is wrong with the spans, so much is said. */
#define PROBLEMS_SHOWN 20

struct reading {
	struct lens_intervals list;
	int64_t now_ns;
	size_t problems;
};

static void problem_count(struct reading *reading, const char *text)
{
	if (reading->problems++ < PROBLEMS_SHOWN)
		emit_say("%s", text);
}

static void problem_say(void *context, bool fatal, const char *text)
{
	if (fatal)
		problem_count(context, text);
	else
		emit_say("%s", text);
}

static void line_read(struct reading *reading, const char *file, size_t number, const char *line,
		      size_t length)
{
	struct lens_error why, text;

	if (strspn(line, " \t\r\n") == length)
		return;
	if (lens_intervals_add_json(&reading->list, line, length, reading->now_ns, &why) == 0)
		return;
	lens_error_set(&text, "%s:%zu: %s", file, number, why.text);
	problem_count(reading, text.text);
}

/* 0, or -1 after a line on standard error: the file cannot be read. */
static int file_read(struct reading *reading, const char *path)
{
	bool standard = strcmp(path, "-") == 0;
	FILE *file = standard ? stdin : fopen(path, "re");
	size_t capacity = 0;
	char *line = NULL;
	ssize_t length;
	int rc = 0;

	if (file == NULL) {
		emit_say("%s: %m", path);
		return -1;
	}
	errno = 0;
	for (size_t number = 1; (length = getline(&line, &capacity, file)) != -1; number++)
		line_read(reading, standard ? "standard input" : path, number, line,
			  (size_t)length);
	if (!feof(file)) {
		emit_say("%s: %m", standard ? "standard input" : path);
		rc = -1;
	}
	free(line);
	if (!standard)
		fclose(file);
	return rc;
}

static int intervals_read(struct reading *reading, const struct emit_options *options)
{
	struct lens_error why, text;
	struct lens_shown shown;

	for (size_t i = 0; i < options->spans.count; i++) {
		if (lens_intervals_add(&reading->list, options->spans.items[i], reading->now_ns,
				       &why) == 0)
			continue;
		lens_error_set(&text, "--span=%s: %s",
			       lens_shown_value(&shown, options->spans.items[i]), why.text);
		problem_count(reading, text.text);
	}
	for (size_t i = 0; i < options->files.count; i++) {
		if (file_read(reading, options->files.items[i]) == -1)
			return -1;
	}
	return 0;
}

/* The interval whose name WORD begins with, before a `:`; the longest one, for a name may hold a
 * `:` itself. *REST is what follows. */
static struct lens_interval *named_find(struct lens_intervals *list, const char *word,
					const char **rest)
{
	struct lens_interval *found = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < list->count; i++) {
		size_t length = strlen(list->items[i].name);

		if (length < longest || strncmp(word, list->items[i].name, length) != 0 ||
		    word[length] != ':')
			continue;
		found = &list->items[i];
		longest = length;
		*rest = word + length + 1;
	}
	return found;
}

static int named_set(struct lens_intervals *list, const struct emit_words *words, bool status)
{
	const char *option = status ? "span-status" : "span-attr";

	for (size_t i = 0; i < words->count; i++) {
		const char *rest = NULL;
		struct lens_interval *interval = named_find(list, words->items[i], &rest);

		if (interval == NULL) {
			emit_say("--%s=%s: it does not begin with a span's name and a `:`", option,
				 words->items[i]);
			return -1;
		}
		if ((status ? lens_interval_status(interval, rest)
			    : emit_attribute_set(interval, rest, true)) == 0)
			continue;
		emit_say("--%s=%s: not NAME:%s", option, words->items[i],
			 status ? "STATUS, which is " LENS_TAKES_STATUS : "KEY=VALUE");
		return -1;
	}
	return 0;
}

/* What the options say of the spans; what is said of one of them wins. 0, or -1 after a line on
 * standard error. */
static int options_apply(struct lens_intervals *list, const struct emit_options *options)
{
	if (named_set(list, &options->span_attributes, false) == -1 ||
	    named_set(list, &options->span_statuses, true) == -1)
		return -1;
	for (size_t i = 0; i < list->count; i++) {
		struct lens_interval *interval = &list->items[i];
		int rc = 0;

		if (options->kind != NULL && !interval->kind_set)
			rc = lens_interval_kind(interval, options->kind);
		if (options->status != NULL && !interval->status_set)
			rc = lens_interval_status(interval, options->status);
		for (size_t j = 0; j < options->attributes.count && rc == 0; j++)
			rc = emit_attribute_set(interval, options->attributes.items[j], false);
		if (rc == -1) {
			emit_say("out of memory");
			return -1;
		}
	}
	return 0;
}

/* Whether all is well with the spans; LENS_EXIT_OK, or what to exit with. */
static int intervals_make(struct reading *reading, const struct emit_options *options)
{
	if (intervals_read(reading, options) == -1)
		return LENS_EXIT_ENVIRONMENT;
	if (lens_intervals_check(&reading->list, problem_say, reading) == -1) {
		emit_say("out of memory");
		return LENS_EXIT_ENVIRONMENT;
	}
	if (reading->problems > PROBLEMS_SHOWN)
		emit_say("and %zu more", reading->problems - PROBLEMS_SHOWN);
	if (reading->problems > 0 || reading->list.count == 0) {
		emit_say("nothing was sent: %s",
			 reading->problems > 0 ? "the spans are not valid" : "there are no spans");
		return LENS_EXIT_NO;
	}
	return options_apply(&reading->list, options) == 0 ? LENS_EXIT_OK : LENS_EXIT_ENVIRONMENT;
}

static int intervals_send(const struct lens_intervals *list, const struct emit_options *options)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct emit_settings settings;
	struct lens_span_id *ids = emit_ids(list->count);
	int status = LENS_EXIT_ENVIRONMENT;

	if (ids == NULL)
		return status;
	if (emit_settings_read(&settings, options, environ, &err) == -1) {
		emit_say("%s", err.text);
		goto out;
	}
	if (options->dry_run) {
		settings.console = true;
		settings.otlp = false;
	} else if (settings.off[0] != '\0') {
		if (options->verbose)
			emit_say("nothing was sent: %s", settings.off);
		status = LENS_EXIT_OK;
		goto out;
	}
	status = emit_send(&settings, options->verbose, list, ids, NULL, stdout);
out:
	emit_settings_clear(&settings);
	free(ids);
	return status;
}

int emit_spans(const struct emit_options *options)
{
	struct reading reading = { .now_ns = lens_clock_ns(CLOCK_REALTIME) };
	int status = intervals_make(&reading, options);

	if (status == LENS_EXIT_OK)
		status = intervals_send(&reading.list, options);
	lens_intervals_clear(&reading.list);
	return status;
}
