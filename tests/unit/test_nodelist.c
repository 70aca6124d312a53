/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/nodelist.h"

#include "lib/core/text.h"

#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void lists_have_a_first_name_and_a_count(void **state)
{
	static const struct {
		const char *list, *first;
		uint64_t count;
	} cases[] = {
		{ "login1", "login1", 1 },
		{ "a,b,c", "a", 3 },
		{ "n[1-3]", "n1", 3 },
		{ "n[3]", "n3", 1 },
		{ "n[1-3,07],login1", "n1", 5 },
		{ "n[001-100]", "n001", 100 },
		{ "n[09-11]", "n09", 3 },
		{ "rack[0-1]n[00-15]", "rack0n00", 32 },
		{ "rack[0-1]n[00-15],x", "rack0n00", 33 },
		{ "x,rack[0-1]n[00-15]", "x", 33 },
		{ "r[1-2]c[1-2]n[1-4].example.org", "r1c1n1.example.org", 16 },
		{ "n[5,1-2]-ib", "n5-ib", 3 },
		{ "[1-2]", "1", 2 },
		{ "n-1", "n-1", 1 },
		{ "n[7-7]", "n7", 1 },
		{ "n[0-0009]", "n0", 10 },
		{ "n[0-18446744073709551614]", "n0", UINT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *first = lens_nodelist_first(cases[i].list);

		assert_non_null(first);
		assert_string_equal(first, cases[i].first);
		assert_true(lens_nodelist_count(cases[i].list) == cases[i].count);
		free(first);
	}
}

static void anything_else_is_nothing(void **state)
{
	static const char *const bad[] = {
		"",
		",",
		"a,",
		",a",
		"a,,b",
		"n[",
		"n[]",
		"n]",
		"n[1",
		"n[1-",
		"n[1-]",
		"n[-1]",
		"n[1-3",
		"n[1,]",
		"n[,1]",
		"n[1,,2]",
		"n[3-1]",
		"n[a-c]",
		"n[1-3]]",
		"n[[1]]",
		"n[1-2-3]",
		"n[1 -2]",
		" n1",
		"n1 ",
		"n1\n",
		"a,n[",
		"n[1],",
		"n[+1]",
		"n[1.5]",
		"n[0-18446744073709551615]",
		"n[18446744073709551616]",
		"n[0-4294967295]m[0-4294967295]o[0-1]",
		"n[0-18446744073709551614],a",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_null(lens_nodelist_first(bad[i]));
		assert_int_equal(lens_nodelist_count(bad[i]), 0);
	}
	assert_null(lens_nodelist_first(NULL));
	assert_int_equal(lens_nodelist_count(NULL), 0);
}

static void any_cut_is_survived(void **state)
{
	static const char whole[] = "rack[0-1,07]n[00-15,20]-ib,login1,n[1-3]";

	(void)state;
	for (size_t length = 0; length < sizeof(whole); length++) {
		char *cut = strndup(whole, length);
		char *first = lens_nodelist_first(cut);

		assert_int_equal(first == NULL, lens_nodelist_count(cut) == 0);
		free(first);
		free(cut);
	}
}

static void long_lists_are_read_whole(void **state)
{
	struct lens_text text = LENS_TEXT_INIT;
	char *list, *first;

	(void)state;
	for (unsigned int i = 0; i < 4000; i++)
		lens_text_addf(&text, "%snode%05u.cluster.example.org", i ? "," : "", i);
	list = lens_text_take(&text);
	first = lens_nodelist_first(list);
	assert_string_equal(first, "node00000.cluster.example.org");
	assert_int_equal(lens_nodelist_count(list), 4000);
	free(first);
	free(list);
}

static void names_are_found_in_lists(void **state)
{
	static const struct {
		const char *list, *name;
		bool there;
	} cases[] = {
		{ "n1", "n1", true },
		{ "n1", "n", false },
		{ "n1", "n11", false },
		{ "a,b,c", "c", true },
		{ "a,b,c", "d", false },
		{ "n[1-3]", "n2", true },
		{ "n[1-3]", "n4", false },
		{ "n[1-3]", "n02", false },
		{ "n[1-3,07],login1", "n07", true },
		{ "n[1-3,07],login1", "n7", false },
		{ "n[1-3,07],login1", "login1", true },
		{ "n[001-100]", "n010", true },
		{ "n[001-100]", "n10", false },
		{ "n[09-11]", "n10", true },
		{ "n[9-11]", "n10", true },
		{ "n[9-11]", "n010", false },
		{ "rack[0-1]n[00-15]", "rack1n09", true },
		{ "rack[0-1]n[00-15]", "rack2n09", false },
		{ "rack[0-1]n[00-15]", "rack1n16", false },
		{ "x[1-2]3", "x13", true },
		{ "x[1-20]3", "x133", true },
		{ "x[1-2][10-12]", "x211", true },
		{ "n[5,1-2]-ib", "n2-ib", true },
		{ "n[1-2]", "n", false },
		{ "n[1-2]", "", false },
		{ "n[1-", "n1", false },
		{ "n1,", "n1", false },
		{ NULL, "n1", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (lens_nodelist_has(cases[i].list, cases[i].name) != cases[i].there)
			fail_msg("%s in %s", cases[i].name,
				 cases[i].list != NULL ? cases[i].list : "no list");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_have_a_first_name_and_a_count),
		cmocka_unit_test(anything_else_is_nothing),
		cmocka_unit_test(any_cut_is_survived),
		cmocka_unit_test(long_lists_are_read_whole),
		cmocka_unit_test(names_are_found_in_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
