/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/env.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void assert_env(char *const *env, const char *const *expected)
{
	for (; *expected; env++, expected++) {
		assert_non_null(*env);
		assert_string_equal(*env, *expected);
	}
	assert_null(*env);
}

static void get_matches_the_whole_name(void **state)
{
	char *env[] = { (char *)"FOOBAR=1", (char *)"FO=2",  (char *)"FOO", (char *)"=x",
			(char *)"FOO=a=b",  (char *)"FOO=c", (char *)"E=",  NULL };

	(void)state;
	assert_string_equal(lens_env_get(env, "FOO"), "a=b");
	assert_string_equal(lens_env_get(env, "FO"), "2");
	assert_string_equal(lens_env_get(env, "E"), "");
	assert_null(lens_env_get(env, "F"));
	assert_null(lens_env_get(env, "foo"));
	assert_null(lens_env_get(NULL, "FOO"));
	assert_null(lens_env_get_nonempty(env, "E"));
	assert_null(lens_env_get_nonempty(env, "F"));
	assert_string_equal(lens_env_get_nonempty(env, "FO"), "2");
}

static void a_copy_keeps_the_first_of_a_name(void **state)
{
	char *env[] = {
		(char *)"A=1",    (char *)"B=2",    (char *)"A=3", (char *)"AB=4", (char *)"BARE",
		(char *)"BARE=5", (char *)"BARE=6", (char *)"B=",  (char *)"A=7",  NULL
	};
	static const char *const expected[] = { "A=1", "B=2", "AB=4", "BARE", "BARE=5", NULL };
	struct lens_env *copy = lens_env_create(env);

	(void)state;
	assert_non_null(copy);
	assert_env(lens_env_array(copy), expected);
	assert_ptr_equal(lens_env_array(copy)[0], env[0]);
	lens_env_destroy(copy);
}

static void set_replaces_adds_and_takes_out(void **state)
{
	char *env[] = { (char *)"A=1", (char *)"B=2", (char *)"C=3", NULL };
	static const char *const expected[] = { "A=x=y", "C=3", "D=", NULL };
	struct lens_env *own = lens_env_create(env);

	(void)state;
	assert_int_equal(lens_env_set(own, "A", "x=y"), 0);
	assert_int_equal(lens_env_set(own, "B", NULL), 0);
	assert_int_equal(lens_env_set(own, "B", NULL), 0);
	assert_int_equal(lens_env_set(own, "D", ""), 0);
	assert_env(lens_env_array(own), expected);
	assert_int_equal(lens_env_set(own, "D", NULL), 0);
	assert_int_equal(lens_env_set(own, "A", NULL), 0);
	assert_int_equal(lens_env_set(own, "C", NULL), 0);
	assert_null(lens_env_array(own)[0]);
	lens_env_destroy(own);
}

static void a_value_may_be_the_one_that_is_there(void **state)
{
	char *env[] = { (char *)"A=1", NULL };
	struct lens_env *own = lens_env_create(env);

	(void)state;
	assert_int_equal(lens_env_set(own, "A", lens_env_get(lens_env_array(own), "A")), 0);
	assert_string_equal(lens_env_get(lens_env_array(own), "A"), "1");
	lens_env_destroy(own);
}

static void it_grows_from_nothing(void **state)
{
	struct lens_env *own = lens_env_create(NULL);
	char name[16], value[16];

	(void)state;
	assert_non_null(own);
	assert_null(lens_env_array(own)[0]);
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "N%u", i);
		snprintf(value, sizeof(value), "%u", i);
		assert_int_equal(lens_env_set(own, name, value), 0);
	}
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "N%u", i);
		snprintf(value, sizeof(value), "%u", i);
		assert_string_equal(lens_env_get(lens_env_array(own), name), value);
	}
	assert_null(lens_env_array(own)[1000]);
	errno = EAGAIN;
	lens_env_destroy(own);
	lens_env_destroy(NULL);
	assert_int_equal(errno, EAGAIN);
}

/* What the table finds is what the array has, for each of COUNT names. */
static void check_table(const struct lens_env *env, unsigned int count)
{
	char name[16];

	for (unsigned int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "N%u", i);
		assert_ptr_equal(lens_env_value(env, name),
				 lens_env_get(lens_env_array(env), name));
	}
}

static void the_table_follows_every_change(void **state)
{
	char *env[] = { (char *)"N7=a", (char *)"N1=", (char *)"N7=b", (char *)"BARE", NULL };
	struct lens_env *own = lens_env_create(env), *copy;
	unsigned int number = 1;
	char name[16];

	(void)state;
	assert_string_equal(lens_env_value(own, "N7"), "a");
	assert_string_equal(lens_env_value(own, "N1"), "");
	assert_null(lens_env_value_nonempty(own, "N1"));
	assert_null(lens_env_value(own, "BARE"));
	assert_null(lens_env_value(own, "N"));
	assert_null(lens_env_value(own, ""));
	for (unsigned int i = 0; i < 3000; i++) {
		number = number * 1103515245U + 12345U;
		snprintf(name, sizeof(name), "N%u", (number >> 16) % 64);
		assert_int_equal(lens_env_set(own, name, (number >> 8) % 3 ? name : NULL), 0);
		if (i % 50 == 0)
			check_table(own, 64);
	}
	copy = lens_env_copy(own);
	assert_non_null(copy);
	check_table(copy, 64);
	assert_int_equal(lens_env_set(copy, "N1", "mine"), 0);
	assert_int_equal(lens_env_set(own, "N1", NULL), 0);
	check_table(copy, 64);
	assert_string_equal(lens_env_value(copy, "N1"), "mine");
	lens_env_destroy(copy);
	lens_env_destroy(own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(get_matches_the_whole_name),
		cmocka_unit_test(a_copy_keeps_the_first_of_a_name),
		cmocka_unit_test(set_replaces_adds_and_takes_out),
		cmocka_unit_test(a_value_may_be_the_one_that_is_there),
		cmocka_unit_test(it_grows_from_nothing),
		cmocka_unit_test(the_table_follows_every_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
