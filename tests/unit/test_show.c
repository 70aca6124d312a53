/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/show.h"
#include "lib/core/boot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void values_become_one_line(void **state)
{
	struct lens_shown shown;

	(void)state;
	assert_string_equal(lens_shown_value(&shown, ""), "");
	assert_string_equal(lens_shown_value(&shown, "caf\xc3\xa9 1.5"), "caf\xc3\xa9 1.5");
	assert_string_equal(lens_shown_value(&shown, "a\nb\x1b[31m\x7f"), "a\\x0Ab\\x1B[31m\\x7F");
	assert_string_equal(lens_shown_value(&shown, "\xc2\x9b"
						     "31m"),
			    "\\xC2\\x9B31m");
	assert_string_equal(lens_shown_value(&shown, "\xff"), "\xef\xbf\xbd");
}

static void long_values_are_cut_between_characters(void **state)
{
	struct lens_shown shown;
	char value[4097];

	(void)state;
	memset(value, 'x', sizeof(value));
	value[92] = '\0';
	assert_string_equal(lens_shown_value(&shown, value), value);
	value[92] = 'x';
	value[sizeof(value) - 1] = '\0';
	assert_int_equal(strlen(lens_shown_value(&shown, value)), 95);
	assert_string_equal(shown.text + 90, "xx...");
	for (size_t i = 0; i + 2 < sizeof(value); i += 2)
		memcpy(value + i, "\xc3\xa9", 2);
	value[4096] = '\0';
	lens_shown_value(&shown, value);
	assert_int_equal(strlen(shown.text), 95);
	memmove(value + 1, value, 4000);
	value[0] = 'x';
	lens_shown_value(&shown, value);
	assert_int_equal(strlen(shown.text), 94);
	assert_string_equal(shown.text + 89, "\xc3\xa9...");
	memset(value, '\n', sizeof(value) - 1);
	assert_true(strlen(lens_shown_value(&shown, value)) < sizeof(shown.text));
}

static void printable_is_utf8_without_controls(void **state)
{
	(void)state;
	assert_true(lens_value_printable(""));
	assert_true(lens_value_printable("a b=c,\xf0\x9f\x98\x80"));
	assert_true(lens_value_printable("\xef\xbf\xbd"));
	assert_false(lens_value_printable("a\tb"));
	assert_false(lens_value_printable("\x7f"));
	assert_false(lens_value_printable("\xc2\x85"));
	assert_false(lens_value_printable("\xc3"));
	assert_false(lens_value_printable("\xed\xa0\x80"));
}

static void the_boot_has_an_id(void **state)
{
	char first[LENS_BOOT_ID], second[LENS_BOOT_ID];

	(void)state;
	if (lens_boot_id_get(first) != 0)
		skip();
	assert_int_equal(strspn(first, "0123456789abcdef"), 8);
	assert_int_equal(lens_boot_id_get(second), 0);
	assert_string_equal(first, second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_become_one_line),
		cmocka_unit_test(long_values_are_cut_between_characters),
		cmocka_unit_test(printable_is_utf8_without_controls),
		cmocka_unit_test(the_boot_has_an_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
