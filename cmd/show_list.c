/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/show_list.h"

#include "cmd/show_words.h"

#include <inttypes.h>
#include <string.h>

enum {
	COLUMN_JOB,
	COLUMN_NAME,
	COLUMN_USER,
	COLUMN_CLUSTER,
	COLUMN_ATTEMPTS,
	COLUMN_STATE,
	COLUMN_BEGAN,
	COLUMN_LASTED,
	COLUMNS
};

static const char *const headings[COLUMNS] = { "JOB",      "NAME",  "USER",  "CLUSTER",
					       "ATTEMPTS", "STATE", "BEGAN", "LASTED" };
static const size_t most[COLUMNS] = { 32, 24, 16, 16, 8, 13, 25, 12 };

/* What a row says in COLUMN; COUNT entries from FIRST on are of one job. */
static void cell_fill(struct lens_text *out, const struct show_index *index, size_t first,
		      size_t count, int column)
{
	const struct show_entry *begin = show_index_at(index, first);
	const struct show_entry *last = begin;
	uint64_t end = 0;
	const char *name = "", *user = "";

	for (size_t i = first; i < first + count; i++) {
		const struct show_entry *entry = show_index_at(index, i);

		last = entry->attempts >= last->attempts ? entry : last;
		end = entry->end_ns > end ? entry->end_ns : end;
		name = entry->name[0] != '\0' ? entry->name : name;
		user = entry->user[0] != '\0' ? entry->user : user;
	}
	switch (column) {
	case COLUMN_JOB:
		lens_text_adds(out, begin->job);
		break;
	case COLUMN_NAME:
		lens_text_adds(out, name);
		break;
	case COLUMN_USER:
		lens_text_adds(out, user);
		break;
	case COLUMN_CLUSTER:
		lens_text_adds(out, begin->cluster);
		break;
	case COLUMN_ATTEMPTS:
		lens_text_addf(out, "%" PRId64, last->attempts);
		break;
	case COLUMN_STATE:
		lens_text_adds(out, last->state[0] != '\0' ? last->state
				    : last->over           ? "over"
							   : "not over");
		break;
	case COLUMN_BEGAN:
		show_time_add(out, begin->start_ns);
		break;
	default:
		show_duration_add(out, end - begin->start_ns);
	}
}

static void widths_find(size_t widths[COLUMNS], const struct terminal *terminal,
			const struct show_index *index)
{
	struct lens_text text = LENS_TEXT_INIT;

	for (int column = 0; column < COLUMNS; column++) {
		widths[column] = strlen(headings[column]);
		for (size_t i = 0; i < show_index_count(index); i += show_index_group(index, i)) {
			size_t cells;

			if (show_index_at(index, i)->job[0] == '\0')
				continue;
			cell_fill(&text, index, i, show_index_group(index, i), column);
			cells = text.data != NULL ? terminal_cells(terminal, text.data) : 0;
			cells = cells < most[column] ? cells : most[column];
			widths[column] = cells > widths[column] ? cells : widths[column];
			lens_text_clear(&text);
		}
	}
}

static void cell_add(struct lens_text *out, const struct terminal *terminal, const char *text,
		     size_t width, int column)
{
	size_t used = terminal_add(out, terminal, text, width);

	if (column + 1 < COLUMNS)
		lens_text_addf(out, "%*s", (int)(width - used + 2), "");
	else
		lens_text_adds(out, "\n");
}

static void traces_add(struct lens_text *out, const struct terminal *terminal,
		       const struct show_index *index)
{
	for (size_t i = 0; i < show_index_count(index); i++) {
		const struct show_entry *entry = show_index_at(index, i);
		char hex[LENS_TRACE_HEX];

		if (entry->job[0] != '\0')
			continue;
		lens_trace_id_hex(hex, &entry->trace);
		lens_text_addf(out, "trace %s, no job, service ", hex);
		terminal_add(out, terminal, entry->service[0] != '\0' ? entry->service : "unknown",
			     24);
		lens_text_adds(out, ", ");
		show_time_add(out, entry->start_ns);
		lens_text_adds(out, ", ");
		show_duration_add(out, entry->end_ns - entry->start_ns);
		lens_text_adds(out, "\n");
	}
}

void show_list_add(struct lens_text *out, const struct terminal *terminal,
		   const struct show_index *index)
{
	size_t widths[COLUMNS], jobs = 0;
	struct lens_text text = LENS_TEXT_INIT;

	widths_find(widths, terminal, index);
	for (size_t i = 0; i < show_index_count(index); i += show_index_group(index, i)) {
		if (show_index_at(index, i)->job[0] == '\0')
			continue;
		for (int column = 0; jobs == 0 && column < COLUMNS; column++)
			cell_add(out, terminal, headings[column], widths[column], column);
		jobs++;
		for (int column = 0; column < COLUMNS; column++) {
			cell_fill(&text, index, i, show_index_group(index, i), column);
			cell_add(out, terminal, text.data != NULL ? text.data : "", widths[column],
				 column);
			out->failed = out->failed || text.failed;
			lens_text_clear(&text);
		}
	}
	traces_add(out, terminal, index);
}
