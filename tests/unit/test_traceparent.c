/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/traceparent.h"

#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define T "0af7651916cd43dd8448eb211c80319c"
#define S "b7ad6b7169203331"

static void valid_ones_are_written_as_version_00(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "00-" T "-" S "-01", "00-" T "-" S "-01" },
		{ "00-" T "-" S "-00", "00-" T "-" S "-00" },
		{ "00-" T "-" S "-03", "00-" T "-" S "-03" },
		{ "00-" T "-" S "-ff", "00-" T "-" S "-03" },
		{ "01-" T "-" S "-01", "00-" T "-" S "-01" },
		{ "01-" T "-" S "-01-extra", "00-" T "-" S "-01" },
		{ "01-" T "-" S "-01-", "00-" T "-" S "-01" },
		{ "fe-" T "-" S "-ff", "00-" T "-" S "-01" },
		{ "00-12345678901234567890123456789012-1234567890123456-01",
		  "00-12345678901234567890123456789012-1234567890123456-01" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_traceparent value;
		char out[LENS_TRACEPARENT_TEXT];

		assert_int_equal(lens_traceparent_parse(&value, cases[i].in), 0);
		lens_traceparent_format(out, &value);
		assert_string_equal(out, cases[i].out);
	}
}

static void anything_else_is_invalid(void **state)
{
	static const char *const bad[] = {
		"",
		"00",
		"00-" T "-" S "-0",
		"00-" T "-" S "-01-extra",
		"00-" T "-" S "-01-",
		"00-" T "-" S "-01\n",
		" 00-" T "-" S "-01",
		"00-" T "-" S "-01 ",
		"01-" T "-" S "-01.",
		"01-" T "-" S "-01 ",
		"ff-" T "-" S "-01",
		"0A-" T "-" S "-01",
		"0x-" T "-" S "-01",
		"00-0AF7651916CD43DD8448EB211C80319C-" S "-01",
		"00-" T "-B7AD6B7169203331-01",
		"00-" T "-" S "-0A",
		"00-" T "-" S "-0g",
		"00-00000000000000000000000000000000-" S "-01",
		"00-" T "-0000000000000000-01",
		"00_" T "-" S "-01",
		"00-" T "_" S "-01",
		"00-" T "-" S "_01",
		"00-0af7651916cd43dd8448eb211c80319-cb7ad6b7169203331-01",
	};
	struct lens_traceparent value, before;

	(void)state;
	memset(&value, 7, sizeof(value));
	before = value;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(lens_traceparent_parse(&value, bad[i]), -1);
	assert_int_equal(lens_traceparent_parse(&value, NULL), -1);
	assert_memory_equal(&value, &before, sizeof(value));
}

static void every_cut_is_invalid(void **state)
{
	static const char whole[] = "00-" T "-" S "-01";
	struct lens_traceparent value;
	char cut[sizeof(whole)];

	(void)state;
	for (size_t length = 0; length < sizeof(whole) - 1; length++) {
		memcpy(cut, whole, length);
		cut[length] = '\0';
		assert_int_equal(lens_traceparent_parse(&value, cut), -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(valid_ones_are_written_as_version_00),
		cmocka_unit_test(anything_else_is_invalid),
		cmocka_unit_test(every_cut_is_invalid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
