/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_SHOW_HTML_H
#define LENS_CMD_SHOW_HTML_H

#include "cmd/show_picture.h"

#include "lib/core/text.h"

/*
 * Writes PICTURE as one page that needs nothing else: show_page.html with the spans in it as
 * JSON. PATH `-` is standard output; a file that is there is replaced when the page is whole. An
 * enum lens_exit, after a line on standard error when it is not OK.
 */
int show_html_write(const struct show_picture *picture, const char *path);

/* The page itself, added to OUT. */
void show_html_add(struct lens_text *out, const struct show_picture *picture);

/* show_data.c: the spans as JSON that is safe inside a script element. */
void show_data_add(struct lens_text *out, const struct show_picture *picture);

#endif
