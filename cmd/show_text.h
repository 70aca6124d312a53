/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_SHOW_TEXT_H
#define LENS_CMD_SHOW_TEXT_H

#include "cmd/show_picture.h"
#include "cmd/show_rows.h"
#include "cmd/terminal.h"

/*
 * Adds PICTURE as a waterfall: a title; with several attempts first all of them on one axis; then
 * each with an axis of its own. OUT tells whether memory ran out.
 */
void show_text_add(struct lens_text *out, const struct terminal *terminal,
		   const struct show_picture *picture, const struct show_limits *limits);

/* Colours, nothing where there is none. */
enum show_paint {
	SHOW_PLAIN,
	SHOW_BOLD,
	SHOW_DIM,
	SHOW_GREEN,
	SHOW_BLUE,
	SHOW_CYAN,
	SHOW_YELLOW,
	SHOW_RED,
};
void show_paint_add(struct lens_text *out, const struct terminal *terminal, enum show_paint paint);
enum show_paint show_paint_of(const struct show_span *span);

#endif
