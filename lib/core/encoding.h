/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_ENCODING_H
#define LENS_CORE_ENCODING_H

#include "lib/core/text.h"

#include <stdbool.h>
#include <stddef.h>

/* The longest value that lens adds to a carrier, in bytes: a JavaScript SDK drops
 * every attribute when one value has more than 255 characters. */
#define LENS_VALUE_MAX 255

/*
 * Adds BYTES to OUT as valid UTF-8: each maximal subpart of an ill-formed
 * sequence (Unicode, chapter 3.9) becomes one U+FFFD.
 */
void lens_utf8_add(struct lens_text *out, const char *bytes, size_t length);

/* Whether BYTES are UTF-8 as they are. */
bool lens_utf8_valid(const char *bytes, size_t length);

/*
 * The largest length <= LIMIT at which STRING (valid UTF-8, LENGTH bytes) can be
 * cut without splitting a character.
 */
size_t lens_utf8_cut(const char *string, size_t length, size_t limit);

/*
 * VALUE as lens may publish it: valid UTF-8, at most LENS_VALUE_MAX bytes, cut on a
 * character boundary after the repair. The caller frees; NULL when memory ran out.
 */
char *lens_value_dup(const char *value);

/* Adds BYTES percent-encoded: all but A-Z a-z 0-9 - . _ ~, upper-case hex. */
void lens_percent_encode(struct lens_text *out, const char *bytes, size_t length);

/* Adds BYTES percent-decoded; a `%` without two hex digits stays as it is. */
void lens_percent_decode(struct lens_text *out, const char *bytes, size_t length);

/* Whether BYTES begin with a `%` and two hex digits of either case. */
bool lens_percent_escape(const char *bytes, size_t length);

/* LENGTH bytes as lower-case hex into OUT, which holds 2 * LENGTH + 1 bytes. */
void lens_hex_encode(char *out, const unsigned char *bytes, size_t length);

/* Reads 2 * LENGTH lower-case hex digits at HEX (NUL-terminated, may go on after them)
 * into LENGTH bytes. 0, or -1 with OUT undefined. */
int lens_hex_decode(unsigned char *out, size_t length, const char *hex);

#endif
