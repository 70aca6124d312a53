/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_TEXT_H
#define LENS_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A growing run of bytes. When memory runs out, `failed` is set and stays set:
 * adding goes on doing nothing, so a caller checks once, at the end.
 */
struct lens_text {
	char *data;    /* NUL-terminated once anything was added; else NULL */
	size_t length; /* bytes, without the NUL */
	size_t capacity;
	bool failed;
};

#define LENS_TEXT_INIT ((struct lens_text){ 0 })

void lens_text_add(struct lens_text *text, const char *bytes, size_t length);
void lens_text_adds(struct lens_text *text, const char *string);
void lens_text_add_number(struct lens_text *text, int64_t number);
void lens_text_addf(struct lens_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Hands the bytes over as a C string ("" when nothing was added) and leaves
 * TEXT empty. NULL when memory ran out; TEXT is then empty too. The caller frees.
 */
char *lens_text_take(struct lens_text *text);

/* Frees the bytes and leaves TEXT empty and usable. Keeps errno. */
void lens_text_clear(struct lens_text *text);

#endif
