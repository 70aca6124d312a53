/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/encoding.h"

#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define FFFD "\xEF\xBF\xBD"

static char *repaired(const char *bytes, size_t length)
{
	struct lens_text text = LENS_TEXT_INIT;
	char *result;

	lens_utf8_add(&text, bytes, length);
	result = lens_text_take(&text);
	assert_non_null(result);
	return result;
}

static void repairs_each_maximal_subpart(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "", "" },
		{ "plain", "plain" },
		{ "caf\xE9", "caf" FFFD },
		{ "\xC3\xA9\xE6\x97\xA5\xF0\x9F\x9A\x80", "\xC3\xA9\xE6\x97\xA5\xF0\x9F\x9A\x80" },
		{ "\xEF\xBF\xBF\xF4\x8F\xBF\xBF", "\xEF\xBF\xBF\xF4\x8F\xBF\xBF" },
		{ "\x80", FFFD },
		{ "\xC0\xAF", FFFD FFFD },
		{ "\xC1\xBF", FFFD FFFD },
		{ "\xC2", FFFD },
		{ "\xC2"
		  "A",
		  FFFD "A" },
		{ "\xE0\x80\xAF", FFFD FFFD FFFD },
		{ "\xE0\xA0", FFFD },
		{ "\xE2\x82"
		  "x",
		  FFFD "x" },
		{ "\xED\xA0\x80", FFFD FFFD FFFD },
		{ "\xED\x9F\xBF", "\xED\x9F\xBF" },
		{ "\xF0\x80\x80\xAF", FFFD FFFD FFFD FFFD },
		{ "\xF0\x9F\x9A", FFFD },
		{ "\xF0\x9F\x9A\xC3\xA9", FFFD "\xC3\xA9" },
		{ "\xF4\x90\x80\x80", FFFD FFFD FFFD FFFD },
		{ "\xF4\x91\x92\x93\xFF"
		  "A\x80\xBF"
		  "B",
		  FFFD FFFD FFFD FFFD FFFD "A" FFFD FFFD "B" },
		{ "\xF5\xFE\xFF", FFFD FFFD FFFD },
		/* The example of Unicode, chapter 3.9, table 3-11. */
		{ "\xE1\x80\xE2\xF0\x91\x92\xF1\xBF"
		  "A",
		  FFFD FFFD FFFD FFFD "A" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *out = repaired(cases[i].in, strlen(cases[i].in));

		assert_string_equal(out, cases[i].out);
		free(out);
	}
}

/* Whether the C library turns BYTES into UTF-16, which has no place for what UTF-8 may not
 * hold. */
static bool libc_accepts(iconv_t converter, const char *bytes)
{
	char copy[32], out[64];
	char *from = copy, *to = out;
	size_t from_left = strlen(bytes), to_left = sizeof(out);

	assert_true(from_left < sizeof(copy));
	memcpy(copy, bytes, from_left);
	iconv(converter, NULL, NULL, NULL, NULL);
	return iconv(converter, &from, &from_left, &to, &to_left) == 0 && from_left == 0;
}

static void any_bytes_become_what_the_c_library_reads(void **state)
{
	/* The bytes at which the rules change. */
	static const char edges[] = "A\x7F\x80\x8F\x90\x9F\xA0\xBF\xC0\xC1\xC2\xDF\xE0\xE1\xEC\xED"
				    "\xEE\xEF\xF0\xF1\xF3\xF4\xF5\xFF";
	const size_t count = sizeof(edges) - 1;
	iconv_t converter = iconv_open("UTF-16LE", "UTF-8");
	size_t accepted = 0;

	(void)state;
	assert_true(converter != (iconv_t)-1);
	for (size_t n = 0; n < count * count * count * count; n++) {
		char in[5] = { edges[n % count], edges[n / count % count],
			       edges[n / count / count % count], edges[n / count / count / count] };
		char *out = repaired(in, 4);

		assert_true(libc_accepts(converter, out));
		if (libc_accepts(converter, in)) {
			accepted++;
			assert_string_equal(out, in);
		} else {
			assert_non_null(strstr(out, FFFD));
		}
		free(out);
	}
	assert_true(accepted > 100);
	iconv_close(converter);
}

static void cuts_between_characters(void **state)
{
	static const char text[] = "a\xC3\xA9\xF0\x9F\x9A\x80z"; /* 1 + 2 + 4 + 1 bytes */
	static const size_t expected[] = { 0, 1, 1, 3, 3, 3, 3, 7, 8, 8 };

	(void)state;
	for (size_t limit = 0; limit < sizeof(expected) / sizeof(expected[0]); limit++)
		assert_int_equal(lens_utf8_cut(text, 8, limit), expected[limit]);
	assert_int_equal(lens_utf8_cut("", 0, 0), 0);
}

/* What lens_value_dup makes of COUNT times UNIT. */
static char *value_of(const char *unit, size_t count)
{
	struct lens_text text = LENS_TEXT_INIT;
	char *in, *out;

	while (count-- > 0)
		lens_text_adds(&text, unit);
	in = lens_text_take(&text);
	out = lens_value_dup(in);
	assert_non_null(out);
	free(in);
	return out;
}

static void values_fit_every_sdk(void **state)
{
	static const struct {
		const char *unit;
		size_t count, length;
	} cases[] = {
		{ "a", 0, 0 },
		{ "a", 255, 255 },
		{ "a", 256, 255 },
		{ "\xC3\xA9", 200, 254 },
		{ "\xF0\x9F\x9A\x80", 64, 252 },
		{ "\xE9", 300, 255 }, /* three bytes each once repaired */
		{ "\xE9", 84, 252 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *out = value_of(cases[i].unit, cases[i].count);
		char *again = repaired(out, strlen(out));

		assert_int_equal(strlen(out), cases[i].length);
		assert_string_equal(again, out);
		free(again);
		free(out);
	}
}

static char *encoded(const char *bytes, size_t length)
{
	struct lens_text text = LENS_TEXT_INIT;

	lens_percent_encode(&text, bytes, length);
	return lens_text_take(&text);
}

static void percent_encodes_all_but_the_unreserved(void **state)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
	char *out = encoded(plain, strlen(plain));

	(void)state;
	assert_string_equal(out, plain);
	free(out);
	for (int byte = 0; byte < 256; byte++) {
		char c = (char)byte, expected[4];

		if (byte != 0 && strchr(plain, c))
			continue;
		snprintf(expected, sizeof(expected), "%%%02X", (unsigned int)byte);
		out = encoded(&c, 1);
		assert_string_equal(out, expected);
		free(out);
	}
	out = encoded("a b/\xC3\xA9", 6);
	assert_string_equal(out, "a%20b%2F%C3%A9");
	free(out);
}

static void percent_decodes_what_is_an_escape(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "", "" },
		{ "a+b", "a+b" },
		{ "%41%6a%6A", "Ajj" },
		{ "%", "%" },
		{ "%4", "%4" },
		{ "%zz", "%zz" },
		{ "%4g%41", "%4gA" },
		{ "%%41", "%A" },
		{ "%2541", "%41" },
		{ "%C3%A9", "\xC3\xA9" },
		{ "x%2Cy%", "x,y%" },
		{ "%+1", "%+1" },
	};
	struct lens_text text = LENS_TEXT_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *out;

		lens_percent_decode(&text, cases[i].in, strlen(cases[i].in));
		out = lens_text_take(&text);
		assert_string_equal(out, cases[i].out);
		free(out);
	}
	/* What is beyond the length is not read. */
	lens_percent_decode(&text, "%41", 2);
	assert_string_equal(text.data, "%4");
	lens_text_clear(&text);
	lens_percent_decode(&text, "a%00b", 5);
	assert_int_equal(text.length, 3);
	assert_memory_equal(text.data, "a\0b", 3);
	lens_text_clear(&text);
}

static void hex_goes_there_and_back(void **state)
{
	static const unsigned char bytes[] = { 0x00, 0x0f, 0xa0, 0xff };
	unsigned char back[4];
	char hex[9];

	(void)state;
	lens_hex_encode(hex, bytes, 4);
	assert_string_equal(hex, "000fa0ff");
	assert_int_equal(lens_hex_decode(back, 4, "000fa0ff-more"), 0);
	assert_memory_equal(back, bytes, 4);
	assert_int_equal(lens_hex_decode(back, 4, "000fa0f"), -1);
	assert_int_equal(lens_hex_decode(back, 4, "000FA0FF"), -1);
	assert_int_equal(lens_hex_decode(back, 4, "000fa0fg"), -1);
	assert_int_equal(lens_hex_decode(back, 4, ""), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(repairs_each_maximal_subpart),
		cmocka_unit_test(any_bytes_become_what_the_c_library_reads),
		cmocka_unit_test(cuts_between_characters),
		cmocka_unit_test(values_fit_every_sdk),
		cmocka_unit_test(percent_encodes_all_but_the_unreserved),
		cmocka_unit_test(percent_decodes_what_is_an_escape),
		cmocka_unit_test(hex_goes_there_and_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
