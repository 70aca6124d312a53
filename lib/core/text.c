/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/text.h"

#include "lib/core/number.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for EXTRA bytes and a NUL; false, with `failed` set, when there is none. */
static bool text_reserve(struct lens_text *text, size_t extra)
{
	size_t needed, capacity;
	char *data;

	if (text->failed)
		return false;
	if (__builtin_add_overflow(text->length, extra, &needed) ||
	    __builtin_add_overflow(needed, (size_t)1, &needed))
		goto failed;
	if (needed <= text->capacity)
		return true;
	capacity = text->capacity < 64 ? 64 : text->capacity;
	while (capacity < needed)
		capacity = capacity > SIZE_MAX / 2 ? needed : capacity * 2;
	data = realloc(text->data, capacity);
	if (!data)
		goto failed;
	text->data = data;
	text->capacity = capacity;
	return true;
failed:
	text->failed = true;
	return false;
}

void lens_text_add(struct lens_text *text, const char *bytes, size_t length)
{
	if (!text_reserve(text, length))
		return;
	if (length > 0)
		memcpy(text->data + text->length, bytes, length);
	text->length += length;
	text->data[text->length] = '\0';
}

void lens_text_adds(struct lens_text *text, const char *string)
{
	lens_text_add(text, string, strlen(string));
}

void lens_text_add_number(struct lens_text *text, int64_t number)
{
	char digits[LENS_INT64_TEXT];

	lens_int64_format(digits, number);
	lens_text_adds(text, digits);
}

void lens_text_addf(struct lens_text *text, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length < 0) {
		text->failed = true;
		return;
	}
	if (!text_reserve(text, (size_t)length))
		return;
	va_start(arguments, format);
	vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
	va_end(arguments);
	text->length += (size_t)length;
}

char *lens_text_take(struct lens_text *text)
{
	char *data;

	lens_text_add(text, "", 0);
	if (text->failed) {
		lens_text_clear(text);
		return NULL;
	}
	data = text->data;
	*text = (struct lens_text)LENS_TEXT_INIT;
	return data;
}

void lens_text_clear(struct lens_text *text)
{
	int saved = errno;

	free(text->data);
	*text = (struct lens_text)LENS_TEXT_INIT;
	errno = saved;
}
