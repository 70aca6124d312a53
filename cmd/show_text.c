/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/show_text.h"

#include "cmd/show_bar.h"
#include "cmd/show_words.h"

#include <inttypes.h>
#include <string.h>

#define DURATION_CELLS 11 /* `12 min 05 s` */
#define BAR_MIN        10
#define NARROW         80 /* below it each column counts */
#define LABEL_NARROW   28 /* `  | |-slurm.task rank 12 n12` */
#define GUIDES_MAX     12 /* levels that are drawn; a deeper one stands at the last */

/* How a line is divided. */
struct layout {
	size_t label, duration, outcome;
	struct show_axis axis;
};

void show_paint_add(struct lens_text *out, const struct terminal *terminal, enum show_paint paint)
{
	static const char *const codes[] = { "0", "1", "2", "32", "34", "36", "33", "1;31" };

	if (terminal->color)
		lens_text_addf(out, "\033[%sm", codes[paint]);
}

enum show_paint show_paint_of(const struct show_span *span)
{
	if (span->kept->status == LENS_STATUS_ERROR)
		return SHOW_RED;
	switch (span->kind) {
	case SHOW_WAIT:
		return SHOW_YELLOW;
	case SHOW_EDGE:
		return SHOW_BLUE;
	case SHOW_OTHER:
		return SHOW_CYAN;
	default:
		return SHOW_GREEN;
	}
}

/* The lines that lead to ROW from those above it, of MOST levels: which of them go on is in
 * GOES_ON. */
static size_t guides_add(struct lens_text *out, const struct terminal *terminal,
			 const struct show_row *row, const bool goes_on[GUIDES_MAX], size_t most)
{
	/* A line and blanks, a branch, the last branch. */
	const char *through = terminal->utf8 ? "\xe2\x94\x82 " : "| ";
	const char *branch = terminal->utf8 ? "\xe2\x94\x9c " : "|-";
	const char *end = terminal->utf8 ? "\xe2\x94\x94 " : "`-";
	size_t depth = row->depth < most ? row->depth : most;

	if (depth == 0)
		return 0;
	show_paint_add(out, terminal, SHOW_DIM);
	for (size_t level = 1; level < depth; level++)
		lens_text_adds(out, goes_on[level] ? through : "  ");
	lens_text_adds(out, row->last ? end : branch);
	show_paint_add(out, terminal, SHOW_PLAIN);
	return 2 * depth;
}

/* The text of ROW's label, unescaped. */
static void row_label_add(struct lens_text *out, const struct terminal *terminal,
			  const struct show_row *row)
{
	if (row->span != NULL) {
		show_label_add(out, row->span);
		if (row->hidden > 0)
			lens_text_addf(out, " (+%zu)", row->hidden);
		return;
	}
	lens_text_addf(out, "%s %zu more", terminal->utf8 ? "\xe2\x80\xa6" : "...", row->count);
	if (row->name != NULL)
		lens_text_addf(out, " %s", row->name);
	if (row->below > 0)
		lens_text_addf(out, " (+%zu)", row->below);
}

static void row_outcome_add(struct lens_text *out, const struct show_row *row)
{
	if (row->span != NULL)
		show_outcome_add(out, row->span);
	else if (row->errors > 0)
		lens_text_addf(out, "%zu ERROR", row->errors);
}

static void row_duration_add(struct lens_text *out, const struct show_row *row)
{
	if (row->span != NULL && row->span->kind != SHOW_INSTANT)
		show_duration_add(out, row->span->kept->end_ns - row->span->kept->start_ns);
}

static void blanks_add(struct lens_text *out, size_t count)
{
	lens_text_addf(out, "%*s", (int)count, "");
}

/* TEXT in CELLS, blanks behind it; leaves TEXT empty. */
static void padded_add(struct lens_text *out, const struct terminal *terminal,
		       struct lens_text *text, size_t cells)
{
	size_t used = text->data != NULL ? terminal_add(out, terminal, text->data, cells) : 0;

	out->failed = out->failed || text->failed;
	blanks_add(out, cells - used);
	lens_text_clear(text);
}

static void widths_note(struct layout *layout, const struct terminal *terminal,
			const struct show_rows *rows)
{
	struct lens_text text = LENS_TEXT_INIT;
	size_t cells;

	for (size_t i = 0; i < rows->count; i++) {
		size_t depth = rows->rows[i].depth < GUIDES_MAX ? rows->rows[i].depth : GUIDES_MAX;

		row_label_add(&text, terminal, &rows->rows[i]);
		cells = 2 * depth + (text.data != NULL ? terminal_cells(terminal, text.data) : 0);
		layout->label = cells > layout->label ? cells : layout->label;
		lens_text_clear(&text);
		row_outcome_add(&text, &rows->rows[i]);
		cells = text.data != NULL ? terminal_cells(terminal, text.data) : 0;
		layout->outcome = cells > layout->outcome ? cells : layout->outcome;
		lens_text_clear(&text);
		row_duration_add(&text, &rows->rows[i]);
		layout->duration = text.length > layout->duration ? text.length : layout->duration;
		lens_text_clear(&text);
	}
}

/* Labels get what they need up to two fifths, outcomes up to a quarter, bars the rest. Where it is
 * narrow, labels that say rank and node go before bars. */
static void layout_divide(struct layout *layout, const struct terminal *terminal)
{
	size_t width = terminal->width, label_max = width * 2 / 5, outcome_max = width / 4;
	size_t rest;

	if (width >= NARROW) {
		layout->duration = DURATION_CELLS;
	} else {
		rest = width - layout->duration - 2 - BAR_MIN;
		rest = rest < LABEL_NARROW ? rest : LABEL_NARROW;
		label_max = rest > label_max ? rest : label_max;
	}
	layout->label = layout->label < label_max ? layout->label : label_max;
	layout->outcome = layout->outcome < outcome_max ? layout->outcome : outcome_max;
	/* A blank on either side of the bar, and two before the outcome. */
	rest = width - layout->label - layout->duration - 2;
	if (layout->outcome + 2 + BAR_MIN > rest)
		layout->outcome = rest > BAR_MIN + 2 ? rest - BAR_MIN - 2 : 0;
	if (layout->outcome > 0)
		rest -= layout->outcome + 2;
	layout->axis.cells = rest > 0 ? rest : 1;
}

static bool is_light(const struct show_row *row)
{
	return row->span == NULL || row->span->kind == SHOW_WAIT;
}

static void row_bar_add(struct lens_text *out, const struct terminal *terminal,
			const struct show_axis *axis, const struct show_row *row)
{
	const struct show_span *span = row->span;
	uint64_t start = span != NULL ? span->kept->start_ns : row->start_ns;
	uint64_t end = span != NULL ? span->kept->end_ns : row->end_ns;

	show_paint_add(out, terminal,
		       span != NULL      ? show_paint_of(span)
		       : row->errors > 0 ? SHOW_RED
					 : SHOW_DIM);
	show_bar_add(out, terminal, axis, start, end,
		     is_light(row) ? SHOW_BAR_LIGHT : SHOW_BAR_FULL,
		     span != NULL && span->kind == SHOW_INSTANT, span != NULL && span->truncated);
	show_paint_add(out, terminal, SHOW_PLAIN);
}

static void trim_end(struct lens_text *out)
{
	while (out->length > 0 && out->data[out->length - 1] == ' ')
		out->length--;
	lens_text_adds(out, "\n");
}

static void row_add(struct lens_text *out, const struct terminal *terminal,
		    const struct layout *layout, const struct show_row *row,
		    const bool goes_on[GUIDES_MAX])
{
	struct lens_text text = LENS_TEXT_INIT;
	size_t most = layout->label / 4 < GUIDES_MAX ? layout->label / 4 : GUIDES_MAX;
	size_t guides = guides_add(out, terminal, row, goes_on, most);
	bool error = row->errors > 0 ||
		     (row->span != NULL && row->span->kept->status == LENS_STATUS_ERROR);

	row_label_add(&text, terminal, row);
	if (row->span == NULL)
		show_paint_add(out, terminal, SHOW_DIM);
	padded_add(out, terminal, &text, layout->label > guides ? layout->label - guides : 0);
	if (row->span == NULL)
		show_paint_add(out, terminal, SHOW_PLAIN);
	lens_text_adds(out, " ");
	row_bar_add(out, terminal, &layout->axis, row);
	row_duration_add(&text, row);
	lens_text_addf(out, " %*s", (int)layout->duration, text.data != NULL ? text.data : "");
	lens_text_clear(&text);
	row_outcome_add(&text, row);
	if (text.length > 0 && layout->outcome > 0) {
		lens_text_adds(out, "  ");
		show_paint_add(out, terminal, error ? SHOW_RED : SHOW_PLAIN);
		terminal_add(out, terminal, text.data, layout->outcome);
		show_paint_add(out, terminal, SHOW_PLAIN);
	}
	lens_text_clear(&text);
	trim_end(out);
}

static void rows_add(struct lens_text *out, const struct terminal *terminal,
		     const struct layout *layout, const struct show_rows *rows)
{
	bool goes_on[GUIDES_MAX] = { false };

	for (size_t i = 0; i < rows->count; i++) {
		const struct show_row *row = &rows->rows[i];

		row_add(out, terminal, layout, row, goes_on);
		if (row->depth < GUIDES_MAX)
			goes_on[row->depth] = !row->last;
	}
}

/* TEXT as a line of its own; leaves it empty. */
static void line_add(struct lens_text *out, const struct terminal *terminal, enum show_paint paint,
		     struct lens_text *text)
{
	out->failed = out->failed || text->failed;
	show_paint_add(out, terminal, paint);
	if (text->data != NULL)
		terminal_add(out, terminal, text->data, terminal->width);
	show_paint_add(out, terminal, SHOW_PLAIN);
	lens_text_adds(out, "\n");
	lens_text_clear(text);
}

/* `attempt 1, COMPLETED, 8.73 s`, and when and where to find it elsewhere. */
static void heading_add(struct lens_text *out, const struct terminal *terminal,
			const struct show_section *section)
{
	struct lens_text text = LENS_TEXT_INIT;
	char trace[LENS_TRACE_HEX];

	show_section_add(&text, section);
	line_add(out, terminal, SHOW_BOLD, &text);
	lens_trace_id_hex(trace, &section->trace);
	lens_text_addf(&text, "trace %s", trace);
	if (terminal->width < NARROW)
		line_add(out, terminal, SHOW_DIM, &text);
	else
		lens_text_adds(&text, ", ");
	lens_text_adds(&text, "from ");
	show_time_add(&text, section->start_ns);
	line_add(out, terminal, SHOW_DIM, &text);
}

static void section_add(struct lens_text *out, const struct terminal *terminal,
			const struct show_section *section, const struct show_limits *limits)
{
	struct layout layout = {
		.axis = { .start_ns = section->start_ns, .end_ns = section->end_ns },
	};
	struct show_rows rows = { 0 };

	if (show_rows_make(&rows, section, limits) == -1)
		out->failed = true;
	widths_note(&layout, terminal, &rows);
	layout_divide(&layout, terminal);
	heading_add(out, terminal, section);
	rows_add(out, terminal, &layout, &rows);
	show_rows_clear(&rows);
}

/* LABEL, or what SECTION's needs, up to MOST. */
static size_t label_grown(size_t label, size_t most, const struct terminal *terminal,
			  const struct show_section *section)
{
	struct lens_text text = LENS_TEXT_INIT;
	size_t cells;

	show_section_add(&text, section);
	cells = text.data != NULL ? terminal_cells(terminal, text.data) : 0;
	lens_text_clear(&text);
	cells = cells < most ? cells : most;
	return cells > label ? cells : label;
}

/* All attempts on one axis: where each waited, ran, and where nothing was. */
static void overview_add(struct lens_text *out, const struct terminal *terminal,
			 const struct show_picture *picture)
{
	struct show_axis axis = { .start_ns = UINT64_MAX };
	size_t label = terminal->width * 2 / 5, most = terminal->width - 1 - 2 * BAR_MIN;

	for (size_t i = 0; i < picture->section_count; i++) {
		const struct show_section *section = &picture->sections[i];

		axis.start_ns =
			section->start_ns < axis.start_ns ? section->start_ns : axis.start_ns;
		axis.end_ns = section->end_ns > axis.end_ns ? section->end_ns : axis.end_ns;
		label = label_grown(label, most, terminal, section);
	}
	axis.cells = terminal->width - label - 1;
	for (size_t i = 0; i < picture->section_count; i++) {
		const struct show_section *section = &picture->sections[i];
		struct lens_text text = LENS_TEXT_INIT;

		show_section_add(&text, section);
		padded_add(out, terminal, &text, label);
		lens_text_adds(out, " ");
		show_paint_add(out, terminal, show_section_failed(section) ? SHOW_RED : SHOW_GREEN);
		show_bar_runs_add(out, terminal, &axis, section->start_ns, section->end_ns,
				  section->run_ns);
		show_paint_add(out, terminal, SHOW_PLAIN);
		trim_end(out);
	}
}

void show_text_add(struct lens_text *out, const struct terminal *terminal,
		   const struct show_picture *picture, const struct show_limits *limits)
{
	struct lens_text text = LENS_TEXT_INIT;

	show_title_add(&text, picture);
	line_add(out, terminal, SHOW_BOLD, &text);
	if (picture->section_count > 1)
		overview_add(out, terminal, picture);
	for (size_t i = 0; i < picture->section_count; i++) {
		lens_text_adds(out, "\n");
		section_add(out, terminal, &picture->sections[i], limits);
	}
}
