/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/result.h"

#include "lib/core/encoding.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void lens_result_message(struct lens_export_result *result, const char *format, ...)
{
	char text[sizeof(result->message) + 512];
	size_t length;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	length = lens_utf8_cut(text, strlen(text), sizeof(result->message) - 1);
	memcpy(result->message, text, length);
	result->message[length] = '\0';
}

void lens_result_words(char out[LENS_RESULT_WORDS], const char *said)
{
	struct lens_text text = LENS_TEXT_INIT;
	size_t length = 0;
	char *c;

	lens_utf8_add(&text, said, strlen(said));
	if (text.data && !text.failed) {
		for (c = text.data; *c; c++)
			if ((unsigned char)*c < ' ' || *c == 0x7f)
				*c = ' ';
		length = lens_utf8_cut(text.data, text.length, LENS_RESULT_WORDS - 1);
		memcpy(out, text.data, length);
	}
	out[length] = '\0';
	lens_text_clear(&text);
}

void lens_result_done(struct lens_export_result *result, const char *shown, const char *what,
		      const struct lens_partial_success *partial)
{
	result->verdict = LENS_VERDICT_DONE;
	if (!partial) {
		lens_result_message(result, "%s: %s, but what follows is unreadable", shown, what);
		return;
	}
	result->rejected = partial->rejected;
	if (partial->rejected > 0)
		lens_result_message(result, "%s: %" PRIu64 " spans rejected%s%s", shown,
				    partial->rejected, partial->message[0] ? ": " : "",
				    partial->message);
	else if (partial->message[0])
		lens_result_message(result, "%s: accepted with a warning: %s", shown,
				    partial->message);
}
