/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_TERMINAL_H
#define LENS_CMD_TERMINAL_H

#include "lib/core/text.h"

#include <stdbool.h>
#include <stddef.h>

/* How text reaches its reader. */
struct terminal {
	size_t width;  /* cells in a line */
	size_t height; /* lines; 0: no terminal */
	bool is_tty;
	bool color;
	bool utf8; /* characters beyond ASCII may be written */
};

enum terminal_color {
	TERMINAL_AUTO,
	TERMINAL_ALWAYS,
	TERMINAL_NEVER,
};

/*
 * How standard output is, by itself and the environment: COLUMNS, TERM, NO_COLOR (any value but
 * an empty one: no colour) and the locale, which main must have set. WIDTH 0: the terminal's,
 * else 100. AUTO is colour on a terminal that is not dumb; ALWAYS beats NO_COLOR.
 */
void terminal_find(struct terminal *out, enum terminal_color color, size_t width);

/*
 * Adds TEXT (any bytes) as at most CELLS cells, longer text cut with an ellipsis; control
 * characters, and those that reorder or hide text, as `\x1B`, `\u202E`; what is no UTF-8 as
 * U+FFFD; without utf8 all beyond ASCII as `?`. Returns the cells that it takes.
 */
size_t terminal_add(struct lens_text *out, const struct terminal *terminal, const char *text,
		    size_t cells);

/* The cells that terminal_add takes for TEXT when there is room. */
size_t terminal_cells(const struct terminal *terminal, const char *text);

#endif
