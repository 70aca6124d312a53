/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/site/plugstack.h"

#include "lib/core/show.h"
#include "lib/core/text.h"
#include "lib/site/file.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX   (1024 * 1024)
#define LINE_BYTES 4095 /* bytes that Slurm reads at once; the rest is a line of its own to it */
#define DEPTH_MAX  16   /* Slurm has no limit: a file that includes itself ends it */

static const char separators[] = " \t";

struct reading {
	struct lens_plugstack *out;
	lens_plugstack_problem_fn *problem;
	void *context;
	struct lens_error *err;
};

/* Where a line stands. */
struct place {
	const char *file;
	unsigned int line;
	unsigned int depth;
};

static int file_read(struct reading *reading, const char *path, unsigned int depth);

static void problem(const struct reading *reading, const struct place *place, const char *text)
{
	struct lens_error line;

	if (reading->problem == NULL)
		return;
	lens_error_set(&line, "%s:%u: %s", place->file, place->line, text);
	reading->problem(reading->context, line.text);
}

static int no_memory(const struct reading *reading)
{
	return lens_error_set(reading->err, "out of memory");
}

static void line_clear(struct lens_plugstack_line *line)
{
	for (size_t i = 0; i < line->argument_count; i++)
		free(line->arguments[i]);
	free(line->arguments);
	free(line->file);
	free(line->plugin);
}

static int argument_add(struct lens_plugstack_line *line, const char *word)
{
	char **longer =
		reallocarray(line->arguments, line->argument_count + 1, sizeof(*line->arguments));

	if (longer == NULL)
		return -1;
	line->arguments = longer;
	longer[line->argument_count] = strdup(word);
	if (longer[line->argument_count] == NULL)
		return -1;
	line->argument_count++;
	return 0;
}

static int plugin_add(struct reading *reading, const struct place *place, bool required,
		      const char *plugin, char **rest)
{
	struct lens_plugstack *out = reading->out;
	struct lens_plugstack_line *longer =
		reallocarray(out->lines, out->count + 1, sizeof(*out->lines));
	struct lens_plugstack_line line = { .number = place->line, .required = required };
	const char *word;
	bool failed;

	if (longer == NULL)
		return no_memory(reading);
	out->lines = longer;
	line.file = strdup(place->file);
	line.plugin = strdup(plugin);
	failed = line.file == NULL || line.plugin == NULL;
	while (!failed && (word = strtok_r(NULL, separators, rest)) != NULL)
		failed = argument_add(&line, word) != 0;
	if (failed) {
		line_clear(&line);
		return no_memory(reading);
	}
	longer[out->count++] = line;
	return 0;
}

/* PATTERN as seen from the directory of FILE; the caller frees. */
static char *pattern_resolve(const char *file, const char *pattern)
{
	const char *slash = strrchr(file, '/');
	struct lens_text path = LENS_TEXT_INIT;

	if (*pattern != '/' && slash != NULL)
		lens_text_add(&path, file, (size_t)(slash - file) + 1);
	lens_text_adds(&path, pattern);
	return lens_text_take(&path);
}

static int include_read(struct reading *reading, const struct place *place, const char *pattern)
{
	struct lens_error reason = LENS_ERROR_INIT, *err = reading->err;
	char *path = pattern_resolve(place->file, pattern);
	glob_t found = { 0 };
	int rc = 0;

	if (path == NULL)
		return no_memory(reading);
	if (place->depth == DEPTH_MAX) {
		problem(reading, place,
			"files include each other in a circle: Slurm would never end reading");
		free(path);
		return 0;
	}
	if (glob(path, 0, NULL, &found) == GLOB_NOSPACE)
		rc = no_memory(reading);
	reading->err = &reason;
	for (size_t i = 0; rc == 0 && i < found.gl_pathc; i++) {
		if (file_read(reading, found.gl_pathv[i], place->depth + 1) != 0)
			problem(reading, place, reason.text);
	}
	reading->err = err;
	globfree(&found);
	free(path);
	return rc;
}

static int line_read(struct reading *reading, const struct place *place, char *line)
{
	struct lens_shown shown;
	struct lens_error text;
	const char *kind, *word;
	char *rest;

	line[strcspn(line, "#")] = '\0';
	kind = strtok_r(line, separators, &rest);
	if (kind == NULL)
		return 0;
	if (strcmp(kind, "optional") != 0 && strcmp(kind, "required") != 0 &&
	    strcmp(kind, "include") != 0) {
		lens_error_set(&text,
			       "it begins with `%s`: Slurm leaves it out; write optional, "
			       "required or include",
			       lens_shown_value(&shown, kind));
		problem(reading, place, text.text);
		return 0;
	}
	word = strtok_r(NULL, separators, &rest);
	if (word == NULL) {
		lens_error_set(&text, "nothing stands after `%s`: Slurm leaves the line out", kind);
		problem(reading, place, text.text);
		return 0;
	}
	if (*kind == 'i')
		return include_read(reading, place, word);
	return plugin_add(reading, place, *kind == 'r', word, &rest);
}

static int lines_read(struct reading *reading, struct place *place, char *text)
{
	char *next;
	int rc = 0;

	for (; rc == 0 && text != NULL; text = next) {
		next = strchr(text, '\n');
		if (next != NULL)
			*next++ = '\0';
		place->line++;
		if (strlen(text) > LINE_BYTES)
			problem(reading, place,
				"it is longer than 4095 bytes: Slurm takes the rest of it as a "
				"line of its own");
		if (strchr(text, '\r') != NULL)
			problem(reading, place,
				"it ends in a carriage return, which Slurm takes as a part of "
				"the last word: save the file with Unix line ends");
		rc = line_read(reading, place, text);
	}
	return rc;
}

static int file_read(struct reading *reading, const char *path, unsigned int depth)
{
	struct place place = { .file = path, .depth = depth };
	struct lens_text text = LENS_TEXT_INIT;
	int rc = lens_file_read(&text, path, FILE_MAX, reading->err);

	if (rc == 0 && text.length > 0 && strlen(text.data) != text.length)
		rc = lens_error_set(reading->err, "%s is no text file (a NUL byte in it)", path);
	if (rc == 0 && text.length > 0)
		rc = lines_read(reading, &place, text.data);
	lens_text_clear(&text);
	return rc;
}

int lens_plugstack_read(struct lens_plugstack *out, const char *path,
			lens_plugstack_problem_fn *problem_fn, void *context,
			struct lens_error *err)
{
	struct reading reading = {
		.out = out, .problem = problem_fn, .context = context, .err = err
	};

	*out = (struct lens_plugstack){ 0 };
	return file_read(&reading, path, 0);
}

void lens_plugstack_clear(struct lens_plugstack *stack)
{
	for (size_t i = 0; i < stack->count; i++)
		line_clear(&stack->lines[i]);
	free(stack->lines);
	*stack = (struct lens_plugstack){ 0 };
}

char *lens_plugstack_find(const char *plugin, const char *plugin_dir)
{
	struct lens_text path = LENS_TEXT_INIT;
	char *found;
	size_t length;

	if (*plugin == '/')
		return access(plugin, F_OK) == 0 ? strdup(plugin) : NULL;
	while (*plugin_dir != '\0') {
		length = strcspn(plugin_dir, ":");
		lens_text_add(&path, plugin_dir, length);
		lens_text_addf(&path, "/%s", plugin);
		found = length > 0 ? lens_text_take(&path) : NULL;
		lens_text_clear(&path);
		if (found != NULL && access(found, F_OK) == 0)
			return found;
		free(found);
		plugin_dir += length + (plugin_dir[length] == ':');
	}
	return NULL;
}
