/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/show_bar.h"

struct glyphs {
	const char *body, *left_half, *right_half, *sliver, *instant, *cut;
};

static const struct glyphs *glyphs_of(const struct terminal *terminal, enum show_bar style)
{
	static const struct glyphs ascii_full = { "=", "=", "=", "|", "+", "~" };
	static const struct glyphs ascii_light = { "-", "-", "-", "|", "+", "~" };
	/* Blocks, their halves, a thin block, a diamond, a shade. */
	static const struct glyphs full = { "\xe2\x96\x88", "\xe2\x96\x8c", "\xe2\x96\x90",
					    "\xe2\x96\x8f", "\xe2\x97\x86", "\xe2\x96\x92" };
	static const struct glyphs light = { "\xe2\x96\x91", "\xe2\x96\x91", "\xe2\x96\x91",
					     "\xe2\x96\x8f", "\xe2\x97\x86", "\xe2\x96\x92" };

	if (!terminal->utf8)
		return style == SHOW_BAR_FULL ? &ascii_full : &ascii_light;
	return style == SHOW_BAR_FULL ? &full : &light;
}

/* The half cell at which NS lies, at most 2 * cells. */
static size_t half_of(const struct show_axis *axis, uint64_t ns)
{
	double length = (double)(axis->end_ns - axis->start_ns);
	double at = ns > axis->start_ns ? (double)(ns - axis->start_ns) : 0;
	size_t halves = 2 * axis->cells, half;

	if (length <= 0)
		return 0;
	half = (size_t)(at / length * (double)halves + 0.5);
	return half < halves ? half : halves;
}

void show_bar_add(struct lens_text *out, const struct terminal *terminal,
		  const struct show_axis *axis, uint64_t start_ns, uint64_t end_ns,
		  enum show_bar style, bool instant, bool cut)
{
	const struct glyphs *glyphs = glyphs_of(terminal, style);
	size_t first = half_of(axis, start_ns), end = half_of(axis, end_ns);

	if (first >= 2 * axis->cells) {
		first = 2 * axis->cells - 1;
		end = first;
	}
	for (size_t cell = 0; cell < axis->cells; cell++) {
		bool left = first <= 2 * cell && end > 2 * cell;
		bool right = first <= 2 * cell + 1 && end > 2 * cell + 1;

		if (instant || end <= first)
			lens_text_adds(out, cell != first / 2 ? " "
					    : instant         ? glyphs->instant
					    : cut             ? glyphs->cut
							      : glyphs->sliver);
		else if (cut && cell == (end - 1) / 2)
			lens_text_adds(out, glyphs->cut);
		else
			lens_text_adds(out, left && right ? glyphs->body
					    : left        ? glyphs->left_half
					    : right       ? glyphs->right_half
							  : " ");
	}
}

void show_bar_runs_add(struct lens_text *out, const struct terminal *terminal,
		       const struct show_axis *axis, uint64_t start_ns, uint64_t end_ns,
		       uint64_t run_ns)
{
	const struct glyphs *runs = glyphs_of(terminal, SHOW_BAR_FULL);
	const struct glyphs *waits = glyphs_of(terminal, SHOW_BAR_LIGHT);
	size_t first = half_of(axis, start_ns) / 2, run = half_of(axis, run_ns) / 2;
	size_t end = (half_of(axis, end_ns) + 1) / 2;

	if (first >= axis->cells)
		first = axis->cells - 1;
	if (end <= first)
		end = first + 1;
	if (run >= end && run_ns < UINT64_MAX)
		run = end - 1; /* that it ran is seen */
	for (size_t cell = 0; cell < axis->cells; cell++)
		lens_text_adds(out, cell < first || cell >= end ? " "
				    : cell < run                ? waits->body
								: runs->body);
}
