/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/error.h"

#include <errno.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void returns_minus_one_and_writes(void **state)
{
	struct lens_error err = LENS_ERROR_INIT;

	(void)state;
	assert_int_equal(lens_error_set(&err, "--lens-rank=%s: not a rank", "x"), -1);
	assert_string_equal(err.text, "--lens-rank=x: not a rank");
	assert_int_equal(lens_error_set(NULL, "nobody listens"), -1);
}

static void keeps_errno_and_names_it(void **state)
{
	struct lens_error err = LENS_ERROR_INIT;

	(void)state;
	errno = ENOENT;
	lens_error_set(&err, "/etc/lens.conf: %m");
	assert_string_equal(err.text, "/etc/lens.conf: No such file or directory");
	assert_int_equal(errno, ENOENT);
	lens_error_set(NULL, "x");
	assert_int_equal(errno, ENOENT);
}

static void has_no_newline_at_the_end(void **state)
{
	struct lens_error err = LENS_ERROR_INIT;

	(void)state;
	lens_error_set(&err, "first\nsecond\n\n");
	assert_string_equal(err.text, "first\nsecond");
	lens_error_set(&err, "\n");
	assert_string_equal(err.text, "");
}

static void may_add_to_its_own_text(void **state)
{
	struct lens_error err = LENS_ERROR_INIT;

	(void)state;
	lens_error_set(&err, "no such file");
	lens_error_set(&err, "lens.conf:3: %s", err.text);
	assert_string_equal(err.text, "lens.conf:3: no such file");
}

static void cuts_long_text_between_characters(void **state)
{
	struct lens_error err = LENS_ERROR_INIT;
	char text[1024];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	lens_error_set(&err, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);

	/* U+00E9 in bytes 510 and 511: one byte too many. */
	memcpy(text + 510, "\xC3\xA9", 2);
	lens_error_set(&err, "%s", text);
	assert_int_equal(strlen(err.text), 510);

	/* In bytes 509 and 510 it is just whole. */
	memcpy(text + 509, "\xC3\xA9z", 3);
	lens_error_set(&err, "%s", text);
	assert_int_equal(strlen(err.text), 511);
	assert_memory_equal(err.text + 509, "\xC3\xA9", 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(returns_minus_one_and_writes),
		cmocka_unit_test(keeps_errno_and_names_it),
		cmocka_unit_test(has_no_newline_at_the_end),
		cmocka_unit_test(may_add_to_its_own_text),
		cmocka_unit_test(cuts_long_text_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
