/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/encoding.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

/* How many continuation bytes follow LEAD, and what the first of them may be (Unicode,
 * table 3-7); 0 for a byte that begins no sequence of several bytes. */
static size_t utf8_sequence(unsigned char lead, unsigned char *low, unsigned char *high)
{
	*low = 0x80;
	*high = 0xBF;
	if (lead >= 0xC2 && lead <= 0xDF)
		return 1;
	if (lead >= 0xE0 && lead <= 0xEF) {
		if (lead == 0xE0)
			*low = 0xA0;
		if (lead == 0xED)
			*high = 0x9F;
		return 2;
	}
	if (lead >= 0xF0 && lead <= 0xF4) {
		if (lead == 0xF0)
			*low = 0x90;
		if (lead == 0xF4)
			*high = 0x8F;
		return 3;
	}
	return 0;
}

/* The length of the character, or of the maximal subpart of one, at BYTES; *GOOD says
 * which. LENGTH is at least 1. */
static size_t utf8_step(const unsigned char *bytes, size_t length, bool *good)
{
	unsigned char low, high;
	size_t more, i;

	*good = bytes[0] < 0x80;
	if (*good)
		return 1;
	more = utf8_sequence(bytes[0], &low, &high);
	if (more == 0)
		return 1;
	for (i = 1; i <= more; i++) {
		if (i == length || bytes[i] < low || bytes[i] > high)
			return i;
		low = 0x80;
		high = 0xBF;
	}
	*good = true;
	return i;
}

/* How many of the bytes, from the first on, are ASCII: most texts are nothing else. */
static size_t ascii_run(const char *bytes, size_t length)
{
	uint64_t eight;
	size_t run = 0;

	for (; length - run >= sizeof(eight); run += sizeof(eight)) {
		memcpy(&eight, bytes + run, sizeof(eight));
		if (eight & UINT64_C(0x8080808080808080))
			break;
	}
	while (run < length && (unsigned char)bytes[run] < 0x80)
		run++;
	return run;
}

void lens_utf8_add(struct lens_text *out, const char *bytes, size_t length)
{
	size_t start = 0, position = ascii_run(bytes, length);

	while (position < length) {
		bool good;
		size_t step = utf8_step((const unsigned char *)bytes + position, length - position,
					&good);

		if (!good) {
			lens_text_add(out, bytes + start, position - start);
			lens_text_adds(out, REPLACEMENT);
			start = position + step;
		}
		position += step;
	}
	lens_text_add(out, bytes + start, length - start);
}

bool lens_utf8_valid(const char *bytes, size_t length)
{
	bool good = true;

	for (size_t at = ascii_run(bytes, length); good && at < length;)
		at += utf8_step((const unsigned char *)bytes + at, length - at, &good);
	return good;
}

size_t lens_utf8_cut(const char *string, size_t length, size_t limit)
{
	if (length <= limit)
		return length;
	while (limit > 0 && ((unsigned char)string[limit] & 0xC0) == 0x80)
		limit--;
	return limit;
}

char *lens_value_dup(const char *value)
{
	struct lens_text text = LENS_TEXT_INIT;

	/* Repaired first: U+FFFD is longer than the byte it stands for. */
	lens_utf8_add(&text, value, strlen(value));
	if (!text.failed) {
		text.length = lens_utf8_cut(text.data, text.length, LENS_VALUE_MAX);
		text.data[text.length] = '\0';
	}
	return lens_text_take(&text);
}

static bool is_unreserved(unsigned char byte)
{
	return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
	       (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == '_' ||
	       byte == '~';
}

void lens_percent_encode(struct lens_text *out, const char *bytes, size_t length)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t start = 0;

	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)bytes[i];
		char escape[3];

		if (is_unreserved(byte))
			continue;
		escape[0] = '%';
		escape[1] = digits[byte >> 4];
		escape[2] = digits[byte & 15];
		lens_text_add(out, bytes + start, i - start);
		lens_text_add(out, escape, sizeof(escape));
		start = i + 1;
	}
	lens_text_add(out, bytes + start, length - start);
}

/* The value of a hex digit, or -1. */
static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool lens_percent_escape(const char *bytes, size_t length)
{
	return length >= 3 && bytes[0] == '%' && hex_digit(bytes[1]) >= 0 &&
	       hex_digit(bytes[2]) >= 0;
}

void lens_percent_decode(struct lens_text *out, const char *bytes, size_t length)
{
	size_t start = 0, i = 0;

	while (i < length) {
		char byte;

		if (!lens_percent_escape(bytes + i, length - i)) {
			i++;
			continue;
		}
		byte = (char)(hex_digit(bytes[i + 1]) * 16 + hex_digit(bytes[i + 2]));
		lens_text_add(out, bytes + start, i - start);
		lens_text_add(out, &byte, 1);
		i += 3;
		start = i;
	}
	lens_text_add(out, bytes + start, length - start);
}

void lens_hex_encode(char *out, const unsigned char *bytes, size_t length)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < length; i++) {
		*out++ = digits[bytes[i] >> 4];
		*out++ = digits[bytes[i] & 15];
	}
	*out = '\0';
}

int lens_hex_decode(unsigned char *out, size_t length, const char *hex)
{
	for (size_t i = 0; i < 2 * length; i++) {
		int digit = hex[i] >= 'A' && hex[i] <= 'F' ? -1 : hex_digit(hex[i]);

		if (digit < 0)
			return -1;
		if (i % 2 == 0)
			out[i / 2] = (unsigned char)(digit << 4);
		else
			out[i / 2] = (unsigned char)(out[i / 2] | digit);
	}
	return 0;
}
