/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/show_scan.h"

#include "lib/core/show.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Whether WORD is in LINE, not as a part of a longer one: digits are part of any time and id. */
static bool word_found(const char *word, const struct lens_line *line)
{
	const char *at = line->bytes, *end = line->bytes + line->length;
	size_t length = strlen(word);

	while ((at = memmem(at, (size_t)(end - at), word, length)) != NULL) {
		if ((at == line->bytes || !in_word(at[-1])) && !in_word(at[length]))
			return true;
		at++;
	}
	return false;
}

static bool needle_found(const struct show_needles *needles, const struct lens_line *line)
{
	if (needles->count == 0)
		return true;
	for (size_t i = 0; i < needles->count; i++)
		if (word_found(needles->texts[i], line))
			return true;
	return false;
}

/* Whether LINE, which is not looked into, seems whole. */
static bool looks_whole(const struct lens_line *line)
{
	const char *last = line->bytes + line->length;

	while (last > line->bytes && strchr(" \t\r", last[-1]) != NULL)
		last--;
	return last == line->bytes || (line->bytes[0] == '{' && last[-1] == '}');
}

static void broken_count(struct show_scan *scan, const char *name, uint64_t number, const char *why)
{
	struct lens_shown shown;

	if (scan->skipped.lines++ > 0)
		return;
	lens_error_set(&scan->skipped.first, "%s, line %" PRIu64 ": %s",
		       lens_shown_value(&shown, name), number, why);
}

static int line_scan(void *context, const char *name, uint64_t number, const struct lens_line *line)
{
	struct show_scan *scan = context;
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_read_counts counts = { 0 };
	int rc;

	if (line->too_long) {
		broken_count(scan, name, number, "it is longer than 64 MiB");
		return 0;
	}
	if (!line->whole && line->length == 0) {
		broken_count(scan, name, number, "the packed file is cut");
		return 0;
	}
	if (!needle_found(&scan->needles, line)) {
		if (!looks_whole(line))
			broken_count(scan, name, number, "it is no whole JSON object");
		return 0;
	}
	rc = lens_read_line(line->bytes, line->length, scan->fn, scan->context, &counts, &err);
	scan->skipped.spans += counts.bad;
	if (rc == -1 && err.text[0] != '\0') {
		broken_count(scan, name, number, err.text);
		return 0;
	}
	return rc;
}

int show_scan_files(struct show_scan *scan, struct show_files *files, enum show_read how,
		    struct progress *progress, struct lens_error *err)
{
	return show_files_read(files, how, line_scan, scan, progress, err);
}
