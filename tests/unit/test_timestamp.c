/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/timestamp.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define NOW INT64_C(1796040000123456789)

static void taken(const char *text, int64_t want)
{
	struct lens_error err = LENS_ERROR_INIT;
	int64_t got = -1;

	if (lens_timestamp_parse(text, NOW, &got, &err) != 0)
		fail_msg("`%s`: %s", text, err.text);
	if (got != want)
		fail_msg("`%s`: %lld, not %lld", text, (long long)got, (long long)want);
}

static void refused(const char *text, const char *why)
{
	struct lens_error err = LENS_ERROR_INIT;
	int64_t got = 77;

	if (lens_timestamp_parse(text, NOW, &got, &err) != -1)
		fail_msg("`%s` was taken", text);
	if (strstr(err.text, why) == NULL)
		fail_msg("`%s`: said `%s`", text, err.text);
	assert_int_equal(got, 77);
}

static void seconds_are_exact_to_the_nanosecond(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} cases[] = {
		{ "0", 0 },
		{ "-0", 0 },
		{ "+1", 1000000000 },
		{ "1700000000", 1700000000000000000 },
		{ "1700000000.25", 1700000000250000000 },
		{ "1700000000.", 1700000000000000000 },
		{ ".5", 500000000 },
		{ "0.000000001", 1 },
		{ "0.0000000019", 1 },
		{ "0.0000000009", 0 },
		{ "1700000000.123456789", 1700000000123456789 },
		{ "1700000000.1234567899999999999999999999999999999999999999",
		  1700000000123456789 },
		{ "000000000000000000000000000000000000000000000000001.5", 1500000000 },
		{ "1.7e9", 1700000000000000000 },
		{ "17E+8", 1700000000000000000 },
		{ "17000000000e-1", 1700000000000000000 },
		{ "1700000000123.456e-3", 1700000000123456000 },
		{ "0e99999999999999999999", 0 },
		{ "1e-99999999999999999999", 0 },
		{ "9223372036.854775807", INT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		taken(cases[i].text, cases[i].ns);
}

static void dates_with_a_zone_are_taken(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} cases[] = {
		{ "1970-01-01T00:00:00Z", 0 },
		{ "2023-11-14T22:13:20Z", 1700000000000000000 },
		{ "2023-11-14t22:13:20z", 1700000000000000000 },
		{ "2023-11-14 22:13:20.25Z", 1700000000250000000 },
		{ "2023-11-14T23:13:20.25+01:00", 1700000000250000000 },
		{ "2023-11-14T16:43:20-05:30", 1700000000000000000 },
		{ "2023-11-14T22:13:20.1234567899Z", 1700000000123456789 },
		{ "2024-02-29T00:00:00Z", 1709164800000000000 },
		{ "2016-12-31T23:59:60Z", 1483228800000000000 },
		{ "1969-12-31T23:00:00-01:00", 0 },
		{ "now", NOW },
		{ "NOW", NOW },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		taken(cases[i].text, cases[i].ns);
}

static void what_is_no_time_is_told(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "", "it is not seconds since 1970" },
		{ "soon", "it is not seconds since 1970" },
		{ ".", "it is not seconds" },
		{ "1,5", "it is not seconds" },
		{ "1.5.5", "it is not seconds" },
		{ "1e", "it is not seconds" },
		{ "0x10", "it is not seconds" },
		{ " 1", "it is not seconds" },
		{ "1 ", "it is not seconds" },
		{ "1_000", "it is not seconds" },
		{ "--1", "it is not seconds" },
		{ "nan", "not finite" },
		{ "-Infinity", "not finite" },
		{ "inf", "not finite" },
		{ "-1", "before 1970" },
		{ "-0.5", "before 1970" },
		{ "9223372036.854775808", "after the year 2262" },
		{ "1700000000000", "not milliseconds" },
		{ "1700000000000000000", "not milliseconds" },
		{ "1e300", "after the year 2262" },
		{ "1e99999999999999999999", "after the year 2262" },
		{ "2026-11-30", "it is not seconds" },
		{ "2026-11-30T12:00", "it is not seconds" },
		{ "2026-11-30T12:00:00", "zone is missing" },
		{ "2026-11-30T12:00:00.", "it is not seconds" },
		{ "2026-11-30T12:00:00UTC", "zone is neither" },
		{ "2026-11-30T12:00:00Zz", "zone is neither" },
		{ "2026-11-30T12:00:00+0100", "zone is neither" },
		{ "2026-11-30T12:00:00+24:00", "zone is neither" },
		{ "2026-02-29T12:00:00Z", "no such day" },
		{ "2026-13-01T12:00:00Z", "no such day" },
		{ "2026-00-01T12:00:00Z", "no such day" },
		{ "2026-11-00T12:00:00Z", "no such day" },
		{ "2026-11-30T24:00:00Z", "no such day" },
		{ "2026-11-30T12:60:00Z", "no such day" },
		{ "2026-11-30T12:00:61Z", "no such day" },
		{ "1969-12-31T23:59:59Z", "before 1970" },
		{ "9999-12-31T23:59:59Z", "after the year 2262" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refused(cases[i].text, cases[i].why);
}

static void the_point_is_a_point_in_every_locale(void **state)
{
	(void)state;
	assert_non_null(setlocale(LC_ALL, "de_DE.UTF-8"));
	taken("1700000000.25", 1700000000250000000);
	refused("1700000000,25", "it is not seconds");
	setlocale(LC_ALL, "C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seconds_are_exact_to_the_nanosecond),
		cmocka_unit_test(dates_with_a_zone_are_taken),
		cmocka_unit_test(what_is_no_time_is_told),
		cmocka_unit_test(the_point_is_a_point_in_every_locale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
