/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/result.h"

#include "lib/core/encoding.h"

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
