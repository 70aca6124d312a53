/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/retry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#define NOW INT64_C(784111777) /* Sun, 06 Nov 1994 08:49:37 GMT */
#define DAY (INT64_C(86400) * 1000)

static void test_verdicts(void **state)
{
	static const struct {
		enum lens_transport transport;
		long status;
		enum lens_verdict verdict;
		bool retry_info;
	} cases[] = {
		{ LENS_TRANSPORT_HTTP, 200, LENS_VERDICT_DONE, false },
		{ LENS_TRANSPORT_HTTP, 202, LENS_VERDICT_DONE, false },
		{ LENS_TRANSPORT_HTTP, 204, LENS_VERDICT_DONE, false },
		{ LENS_TRANSPORT_HTTP, 301, LENS_VERDICT_DROP, false },
		{ LENS_TRANSPORT_HTTP, 302, LENS_VERDICT_DROP, false },
		{ LENS_TRANSPORT_HTTP, 307, LENS_VERDICT_DROP, false },
		{ LENS_TRANSPORT_HTTP, 400, LENS_VERDICT_DROP, false },
		{ LENS_TRANSPORT_HTTP, 401, LENS_VERDICT_DROP, false },
		{ LENS_TRANSPORT_HTTP, 403, LENS_VERDICT_DROP, false },
		{ LENS_TRANSPORT_HTTP, 404, LENS_VERDICT_DROP, false },
		{ LENS_TRANSPORT_HTTP, 408, LENS_VERDICT_DROP, false },
		{ LENS_TRANSPORT_HTTP, 413, LENS_VERDICT_SPLIT, false },
		{ LENS_TRANSPORT_HTTP, 429, LENS_VERDICT_RETRY, false },
		{ LENS_TRANSPORT_HTTP, 500, LENS_VERDICT_DROP, false },
		{ LENS_TRANSPORT_HTTP, 501, LENS_VERDICT_DROP, false },
		{ LENS_TRANSPORT_HTTP, 502, LENS_VERDICT_RETRY, false },
		{ LENS_TRANSPORT_HTTP, 503, LENS_VERDICT_RETRY, false },
		{ LENS_TRANSPORT_HTTP, 504, LENS_VERDICT_RETRY, false },
		{ LENS_TRANSPORT_HTTP, 505, LENS_VERDICT_DROP, false },
		{ LENS_TRANSPORT_GRPC, 0, LENS_VERDICT_DONE, false },
		{ LENS_TRANSPORT_GRPC, 1, LENS_VERDICT_RETRY, false },
		{ LENS_TRANSPORT_GRPC, 2, LENS_VERDICT_DROP, false },
		{ LENS_TRANSPORT_GRPC, 3, LENS_VERDICT_DROP, false },
		{ LENS_TRANSPORT_GRPC, 4, LENS_VERDICT_RETRY, false },
		{ LENS_TRANSPORT_GRPC, 5, LENS_VERDICT_DROP, false },
		{ LENS_TRANSPORT_GRPC, 6, LENS_VERDICT_DROP, false },
		{ LENS_TRANSPORT_GRPC, 7, LENS_VERDICT_DROP, false },
		{ LENS_TRANSPORT_GRPC, 8, LENS_VERDICT_DROP, false },
		{ LENS_TRANSPORT_GRPC, 9, LENS_VERDICT_DROP, false },
		{ LENS_TRANSPORT_GRPC, 10, LENS_VERDICT_RETRY, false },
		{ LENS_TRANSPORT_GRPC, 11, LENS_VERDICT_RETRY, false },
		{ LENS_TRANSPORT_GRPC, 12, LENS_VERDICT_DROP, false },
		{ LENS_TRANSPORT_GRPC, 13, LENS_VERDICT_DROP, false },
		{ LENS_TRANSPORT_GRPC, 14, LENS_VERDICT_RETRY, false },
		{ LENS_TRANSPORT_GRPC, 15, LENS_VERDICT_RETRY, false },
		{ LENS_TRANSPORT_GRPC, 16, LENS_VERDICT_DROP, false },
		{ LENS_TRANSPORT_GRPC, 17, LENS_VERDICT_DROP, false },
		{ LENS_TRANSPORT_GRPC, 8, LENS_VERDICT_RETRY, true },
		{ LENS_TRANSPORT_GRPC, 13, LENS_VERDICT_DROP, true },
		{ LENS_TRANSPORT_HTTP, 500, LENS_VERDICT_DROP, true },
		{ LENS_TRANSPORT_FAILED, 0, LENS_VERDICT_RETRY, false },
		{ LENS_TRANSPORT_FAILED, 400, LENS_VERDICT_RETRY, false },
		{ LENS_TRANSPORT_TOO_LARGE, 0, LENS_VERDICT_SPLIT, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (lens_retry_verdict(cases[i].transport, cases[i].status, cases[i].retry_info) !=
		    cases[i].verdict)
			fail_msg("transport %d, status %ld", (int)cases[i].transport,
				 cases[i].status);
}

static void test_retry_after(void **state)
{
	static const struct {
		const char *text;
		int64_t ms;
	} cases[] = {
		{ "0", 0 },
		{ "120", 120000 },
		{ " 7\r\n", 7000 },
		{ "86399", DAY - 1000 },
		{ "86401", DAY },
		{ "99999999999999999999999999", DAY },
		{ "", -1 },
		{ "  ", -1 },
		{ "-1", -1 },
		{ "+1", -1 },
		{ "1.5", -1 },
		{ "1 2", -1 },
		{ "soon", -1 },
		{ "Sun, 06 Nov 1994 08:49:39 GMT", 2000 },
		{ "Sunday, 06-Nov-94 08:49:40 GMT", 3000 },
		{ "Sun Nov  6 08:49:41 1994", 4000 },
		{ "Sun Nov 06 08:49:41 1994", 4000 },
		{ "Sun, 06 Nov 1994 08:49:37 GMT", 0 },
		{ "Sat, 05 Nov 1994 08:49:39 GMT", 0 },
		{ "Thu, 01 Jan 1970 00:00:00 GMT", 0 },
		{ "Fri, 31 Dec 9999 23:59:59 GMT", DAY },
		{ "Sun, 06 Nov 1994 08:49:39 CET", -1 },
		{ "Sun, 06 Nov 1994 08:49:39", -1 },
		{ "Sun, 06 Foo 1994 08:49:39 GMT", -1 },
		{ "Sun, 00 Nov 1994 08:49:39 GMT", -1 },
		{ "Sun, 32 Nov 1994 08:49:39 GMT", -1 },
		{ "Sun, 06 Nov 1994 24:49:39 GMT", -1 },
		{ "Sun, 06 Nov 1994 08:60:39 GMT", -1 },
		{ "Sun, 06 Nov 1994 08:49:61 GMT", -1 },
		{ "Sun, 6 Nov 1994 08:49:39 GMT", -1 },
		{ "Sun, 06 Nov 1994 08:49:3x GMT", -1 },
		{ ",", -1 },
	};

	(void)state;
	assert_int_equal(lens_retry_after_parse(NULL, NOW), -1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t ms = lens_retry_after_parse(cases[i].text, NOW);

		if (ms != cases[i].ms)
			fail_msg("`%s`: %lld ms", cases[i].text, (long long)ms);
	}
}

/* A date is GMT wherever the machine stands. */
static void test_dates_ignore_the_time_zone(void **state)
{
	(void)state;
	assert_int_equal(setenv("TZ", "Asia/Tokyo", 1), 0);
	tzset();
	assert_int_equal(lens_retry_after_parse("Sun, 06 Nov 1994 08:49:39 GMT", NOW), 2000);
	assert_int_equal(unsetenv("TZ"), 0);
	tzset();
}

static void test_two_digit_years(void **state)
{
	const int64_t year_2024 = INT64_C(1704067200);

	(void)state;
	assert_int_equal(lens_retry_after_parse("Monday, 01-Jan-24 00:00:05 GMT", year_2024), 5000);
	assert_int_equal(lens_retry_after_parse("Monday, 01-Jan-99 00:00:05 GMT", year_2024), 0);
	assert_int_equal(lens_retry_after_parse("Monday, 01-Jan-60 00:00:05 GMT", year_2024), DAY);
}

static void test_backoff(void **state)
{
	static const int64_t full[] = { 1000, 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000 };

	(void)state;
	for (unsigned int attempt = 0; attempt < sizeof(full) / sizeof(full[0]); attempt++) {
		assert_int_equal(lens_retry_backoff_ms(attempt, 0), full[attempt]);
		assert_int_equal(lens_retry_backoff_ms(attempt, UINT32_MAX), full[attempt] / 2 + 1);
		assert_int_equal(lens_retry_backoff_ms(attempt, UINT32_C(1) << 31),
				 full[attempt] * 3 / 4);
	}
	assert_int_equal(lens_retry_backoff_ms(UINT32_MAX, 0), 60000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_retry_after),
		cmocka_unit_test(test_dates_ignore_the_time_zone),
		cmocka_unit_test(test_two_digit_years),
		cmocka_unit_test(test_backoff),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
