/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void grows_and_stays_terminated(void **state)
{
	struct lens_text text = LENS_TEXT_INIT;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		lens_text_addf(&text, "%d,", i % 10);
		assert_int_equal(text.length, 2 * (i + 1));
		assert_int_equal(text.data[text.length], '\0');
	}
	lens_text_adds(&text, "end");
	assert_false(text.failed);
	assert_string_equal(text.data + 1994, "7,8,9,end");
	lens_text_clear(&text);
}

static void formats_more_than_it_holds(void **state)
{
	struct lens_text text = LENS_TEXT_INIT;
	char *taken;

	(void)state;
	lens_text_addf(&text, "<%5000s>", "x");
	assert_int_equal(text.length, 5002);
	taken = lens_text_take(&text);
	assert_int_equal(strlen(taken), 5002);
	assert_string_equal(taken + 4999, " x>");
	free(taken);
}

static void holds_any_byte(void **state)
{
	struct lens_text text = LENS_TEXT_INIT;

	(void)state;
	lens_text_add(&text, "a\0b", 3);
	lens_text_add(&text, NULL, 0);
	assert_int_equal(text.length, 3);
	assert_memory_equal(text.data, "a\0b", 4);
	lens_text_clear(&text);
}

static void take_hands_over_and_empties(void **state)
{
	struct lens_text text = LENS_TEXT_INIT;
	char *taken = lens_text_take(&text);

	(void)state;
	assert_string_equal(taken, "");
	free(taken);
	lens_text_adds(&text, "one");
	taken = lens_text_take(&text);
	assert_string_equal(taken, "one");
	assert_null(text.data);
	assert_int_equal(text.length, 0);
	lens_text_adds(&text, "two");
	assert_string_equal(taken, "one");
	assert_string_equal(text.data, "two");
	free(taken);
	lens_text_clear(&text);
}

static void a_failure_stays(void **state)
{
	struct lens_text text = LENS_TEXT_INIT;
	volatile size_t huge = SIZE_MAX; /* no memory has so many bytes */

	(void)state;
	lens_text_adds(&text, "kept");
	lens_text_add(&text, "x", huge);
	assert_true(text.failed);
	lens_text_adds(&text, "more");
	lens_text_addf(&text, "%d", 1);
	lens_text_add(&text, NULL, 0);
	assert_true(text.failed);
	assert_string_equal(text.data, "kept");
	assert_null(lens_text_take(&text));
	assert_false(text.failed);
	assert_null(text.data);
	lens_text_adds(&text, "again");
	assert_string_equal(text.data, "again");
	lens_text_clear(&text);
}

static void clear_keeps_errno(void **state)
{
	struct lens_text text = LENS_TEXT_INIT;

	(void)state;
	lens_text_adds(&text, "x");
	errno = EAGAIN;
	lens_text_clear(&text);
	lens_text_clear(&text);
	assert_int_equal(errno, EAGAIN);
	assert_null(text.data);
	assert_int_equal(text.capacity, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows_and_stays_terminated),
		cmocka_unit_test(formats_more_than_it_holds),
		cmocka_unit_test(holds_any_byte),
		cmocka_unit_test(take_hands_over_and_empties),
		cmocka_unit_test(a_failure_stays),
		cmocka_unit_test(clear_keeps_errno),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
