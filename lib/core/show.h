/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_SHOW_H
#define LENS_CORE_SHOW_H

#include <stdbool.h>

/* A value from outside, made fit for one line of a message. */
struct lens_shown {
	char text[96];
};

/*
 * VALUE with control characters as `\xNN` and U+FFFD for what is no UTF-8, cut to fit
 * with `...` at the end. Returns OUT->text.
 */
const char *lens_shown_value(struct lens_shown *out, const char *value);

/* Whether VALUE is UTF-8 without control characters (C0, DEL, C1). */
bool lens_value_printable(const char *value);

#endif
