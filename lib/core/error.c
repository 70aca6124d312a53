/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* LENGTH, or less where TEXT (which was cut there) ends in a piece of a UTF-8 character. */
static size_t whole_characters(const char *text, size_t length)
{
	size_t start = length, needed;
	unsigned char lead;

	while (start > 0 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
		start--;
	if (start == 0)
		return length;
	start--;
	lead = (unsigned char)text[start];
	needed = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
	return length - start < needed ? start : length;
}

#undef lens_error_set /* LENS_ANALYZE */
int lens_error_set(struct lens_error *err, const char *format, ...)
{
	/* Not err->text itself: it may be among the arguments, when a caller adds to it. */
	char text[LENS_ERROR_TEXT];
	int saved = errno;
	size_t length;
	va_list arguments;
	int written;

	if (!err)
		return -1;
	va_start(arguments, format);
	written = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (written < 0)
		strcpy(text, "an error whose text could not be formatted");
	length = strlen(text);
	if (written >= (int)sizeof(text))
		length = whole_characters(text, length);
	while (length > 0 && text[length - 1] == '\n')
		length--;
	memcpy(err->text, text, length);
	err->text[length] = '\0';
	errno = saved;
	return -1;
}
