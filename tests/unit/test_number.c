/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/number.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/vectors.h"

static void int64_takes_what_an_identity_key_may_be(void **state)
{
	json_object *file = vectors_load("strict_int.json"), *cases;
	size_t count = vectors_array(file, NULL, &cases);
	int64_t value = 77;

	(void)state;
	for (size_t i = 0; i < count; i++) {
		json_object *entry = json_object_array_get_idx(cases, i);
		json_object *expected = vectors_get(entry, "out");
		int rc;

		value = 77;
		rc = lens_int64_parse(vectors_string(entry, "in"), &value);
		assert_int_equal(rc, expected ? 0 : -1);
		assert_true(value == (expected ? json_object_get_int64(expected) : 77));
	}
	json_object_put(file);
	assert_int_equal(lens_int64_parse(NULL, &value), -1);
	assert_int_equal(lens_int64_parse("-9223372036854775809", &value), -1);
	assert_int_equal(lens_int64_parse("99999999999999999999999", &value), -1);
	assert_int_equal(lens_int64_parse("+-1", &value), -1);
}

static void unsigned_takes_digits_alone(void **state)
{
	static const char *const bad[] = { "", "+1", "-1", "-0", " 1", "1 ", "1.0", "0x1", "a" };
	uint32_t small = 7;
	uint64_t large = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(lens_uint32_parse(bad[i], &small), -1);
		assert_int_equal(lens_uint64_parse(bad[i], &large), -1);
	}
	assert_int_equal(lens_uint32_parse(NULL, &small), -1);
	assert_int_equal(lens_uint64_parse(NULL, &large), -1);
	assert_int_equal(lens_uint32_parse("4294967296", &small), -1);
	assert_int_equal(lens_uint64_parse("18446744073709551616", &large), -1);
	assert_int_equal(small, 7);
	assert_int_equal(large, 7);
	assert_int_equal(lens_uint32_parse("4294967295", &small), 0);
	assert_true(small == UINT32_MAX);
	assert_int_equal(lens_uint64_parse("18446744073709551615", &large), 0);
	assert_true(large == UINT64_MAX);
	assert_int_equal(lens_uint32_parse("007", &small), 0);
	assert_int_equal(small, 7);
}

static void check_rates(void)
{
	static const struct {
		const char *text;
		double value;
	} good[] = {
		{ "0", 0.0 },      { "1", 1.0 },     { "0.0", 0.0 },     { "1.0", 1.0 },
		{ "0.1", 0.1 },    { "0.25", 0.25 }, { ".5", 0.5 },      { "1.", 1.0 },
		{ "1e-3", 0.001 }, { "5E-1", 0.5 },  { "0.01e+2", 1.0 }, { "1e-9999", 0.0 },
	};
	static const char *const bad[] = {
		"",    "1.5",     "-0.1", "-0",     "+0.5", "nan",    "NaN",  "inf",
		"0,5", " 0.5",    "0.5 ", "0x1p-1", "1e",   "1e+",    ".",    "e1",
		"1e1", "1.00001", "2",    "0.1.2",  "half", "1e9999", "0.5%", "0.5\n",
	};
	double value = 7.0;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(lens_rate_parse(bad[i], &value), -1);
	assert_int_equal(lens_rate_parse(NULL, &value), -1);
	assert_true(value == 7.0);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(lens_rate_parse(good[i].text, &value), 0);
		assert_true(value == good[i].value);
	}
}

static void rate_takes_a_decimal_with_a_point(void **state)
{
	(void)state;
	check_rates();
}

/* Turns to a locale whose decimal point is a comma; made below DIRECTORY when the system
 * has none. False when it cannot be made. */
static bool comma_locale(const char *directory)
{
	static const char *const names[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "pt_BR.UTF-8" };
	char command[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (setlocale(LC_ALL, names[i]))
			return true;
	}
	snprintf(command, sizeof(command),
		 "localedef --no-archive -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1",
		 directory);
	if (system(command) != 0)
		return false;
	setenv("LOCPATH", directory, 1);
	return setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
}

static void rate_is_the_same_where_the_point_is_a_comma(void **state)
{
	char directory[] = "/tmp/lens-locale-XXXXXX", command[64];
	bool made;

	(void)state;
	assert_non_null(mkdtemp(directory));
	made = comma_locale(directory);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	assert_int_equal(system(command), 0);
	if (!made)
		skip();
	assert_true(strtod("0,5", NULL) == 0.5);
	check_rates();
	setlocale(LC_ALL, "C");
	unsetenv("LOCPATH");
}

static void bool_takes_eight_words(void **state)
{
	static const char *const yes[] = { "1", "true", "TRUE", "Yes", "on", "oN" };
	static const char *const no[] = { "0", "false", "False", "NO", "off", "OFF" };
	static const char *const bad[] = { "", "2", "y", "t", "enable", " 1", "1 ", "on\n", "01" };
	bool value = true;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(lens_bool_parse(bad[i], &value), -1);
	assert_int_equal(lens_bool_parse(NULL, &value), -1);
	assert_true(value);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		value = true;
		assert_int_equal(lens_bool_parse(no[i], &value), 0);
		assert_false(value);
	}
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		value = false;
		assert_int_equal(lens_bool_parse(yes[i], &value), 0);
		assert_true(value);
	}
}

static void size_takes_a_unit(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
	} good[] = {
		{ "0", 0 },
		{ "123", 123 },
		{ "1K", 1024 },
		{ "1k", 1024 },
		{ "256M", 268435456 },
		{ "256m", 268435456 },
		{ "2G", 2147483648ULL },
		{ "2g", 2147483648ULL },
		{ "0G", 0 },
		{ "17179869183G", 17179869183ULL * 1024 * 1024 * 1024 },
	};
	static const char *const bad[] = { "",   "K",  "-1",  "+1",   "1.5G",         "1KB", "1 K",
					   "1T", " 1", "1K ", "1KiB", "17179869184G", "1kk" };
	uint64_t value = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(lens_size_parse(bad[i], &value), -1);
	assert_int_equal(lens_size_parse(NULL, &value), -1);
	assert_int_equal(value, 7);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(lens_size_parse(good[i].text, &value), 0);
		assert_true(value == good[i].value);
	}
}

static void a_number_is_written_as_printf_writes_it(void **state)
{
	static const int64_t numbers[] = {
		0, 1, 9, 10, -1, -10, 4294967295, 1234567890, INT64_MAX, INT64_MIN, INT64_MIN + 1
	};

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		char text[LENS_INT64_TEXT], wanted[LENS_INT64_TEXT];

		snprintf(wanted, sizeof(wanted), "%lld", (long long)numbers[i]);
		lens_int64_format(text, numbers[i]);
		assert_string_equal(text, wanted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(int64_takes_what_an_identity_key_may_be),
		cmocka_unit_test(unsigned_takes_digits_alone),
		cmocka_unit_test(rate_takes_a_decimal_with_a_point),
		cmocka_unit_test(rate_is_the_same_where_the_point_is_a_comma),
		cmocka_unit_test(bool_takes_eight_words),
		cmocka_unit_test(size_takes_a_unit),
		cmocka_unit_test(a_number_is_written_as_printf_writes_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
