/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/terminal.h"

#include "lib/core/encoding.h"
#include "lib/core/number.h"

#include <langinfo.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#define WIDTH_DEFAULT 100
#define WIDTH_MIN     40 /* below it nothing can be read anyway */
#define WIDTH_MAX     1000

static size_t width_within(uint64_t width)
{
	return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : (size_t)width;
}

void terminal_find(struct terminal *out, enum terminal_color color, size_t width)
{
	const char *term = getenv("TERM"), *none = getenv("NO_COLOR");
	bool dumb = term == NULL || *term == '\0' || strcmp(term, "dumb") == 0;
	struct winsize size = { 0 };
	uint32_t columns = 0;

	*out = (struct terminal){ 0 };
	out->is_tty = isatty(STDOUT_FILENO) == 1;
	if (out->is_tty && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		out->height = size.ws_row;
	if (width == 0 && lens_uint32_parse(getenv("COLUMNS"), &columns) == 0)
		width = columns;
	if (width == 0)
		width = size.ws_col;
	out->width = width_within(width > 0 ? width : WIDTH_DEFAULT);
	out->color = color == TERMINAL_ALWAYS || (color == TERMINAL_AUTO && out->is_tty && !dumb &&
						  (none == NULL || *none == '\0'));
	out->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* The character of valid UTF-8 at TEXT; *LENGTH is set to its bytes. */
static uint32_t character_at(const char *text, size_t *length)
{
	const unsigned char *byte = (const unsigned char *)text;
	uint32_t code;

	*length = byte[0] < 0x80 ? 1 : byte[0] < 0xe0 ? 2 : byte[0] < 0xf0 ? 3 : 4;
	if (*length == 1)
		return byte[0];
	code = byte[0] & (0x7fu >> *length);
	for (size_t i = 1; i < *length; i++)
		code = (code << 6) | (byte[i] & 0x3fu);
	return code;
}

/* What a terminal acts on, or what makes text look like another: not to be written as it is. */
static bool is_hostile(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0xad || code == 0x61c ||
	       (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || code >= 0xe0000;
}

/* The character as it is to be written; the cells that it takes. */
static size_t character_show(char out[16], const struct terminal *terminal, uint32_t code,
			     const char *bytes, size_t length)
{
	int cells;

	if (is_hostile(code))
		return (size_t)snprintf(out, 16,
					code < 0x100     ? "\\x%02X"
					: code < 0x10000 ? "\\u%04X"
							 : "\\U%06X",
					code);
	if (code >= 0x80 && !terminal->utf8) {
		strcpy(out, "?");
		return 1;
	}
	memcpy(out, bytes, length);
	out[length] = '\0';
	/* -1: the C library does not know it yet; it takes a cell then, or looks wrong. */
	cells = wcwidth((wchar_t)code);
	return cells < 0 ? 1 : (size_t)cells;
}

size_t terminal_add(struct lens_text *out, const struct terminal *terminal, const char *text,
		    size_t cells)
{
	const char *more = terminal->utf8 ? "\xe2\x80\xa6" : "~";
	struct lens_text valid = LENS_TEXT_INIT;
	size_t used = 0, fits = out->length, fits_used = 0; /* with room for MORE behind it */
	bool cut = false;

	/* No character has less than a cell for long: what is far beyond is not looked at. */
	lens_utf8_add(&valid, text, strnlen(text, 8 * cells + 64));
	for (const char *at = valid.data; at != NULL && *at != '\0' && !cut;) {
		char shown[16];
		size_t length, takes;
		uint32_t code = character_at(at, &length);

		takes = character_show(shown, terminal, code, at, length);
		cut = used + takes > cells;
		if (!cut) {
			lens_text_adds(out, shown);
			used += takes;
			if (used < cells) {
				fits = out->length;
				fits_used = used;
			}
		}
		at += length;
	}
	if (cut && !out->failed) {
		out->length = fits;
		used = fits_used;
		if (used < cells) {
			lens_text_adds(out, more);
			used++;
		}
	}
	lens_text_clear(&valid);
	return used;
}

size_t terminal_cells(const struct terminal *terminal, const char *text)
{
	struct lens_text scratch = LENS_TEXT_INIT;
	size_t cells = terminal_add(&scratch, terminal, text, WIDTH_MAX);

	lens_text_clear(&scratch);
	return cells;
}
