/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/choice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <string.h>
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void expect_all(bool (*valid)(const char *text), const char *const *texts, size_t count,
		       bool want)
{
	for (size_t i = 0; i < count; i++)
		if (valid(texts[i]) != want)
			fail_msg("`%s` is %s", texts[i], want ? "refused" : "taken");
}

static void run_ids(void **state)
{
	static const char *const good[] = { "a", " ", "exp 1/\xc3\xa9", "a=b,c",
					    "\xf0\x9f\x9a\x80" };
	static const char *const bad[] = { "", "a\n", "\t", "\x7f", "caf\xe9", "\xed\xa0\x80" };
	char text[257];

	(void)state;
	expect_all(lens_run_id_valid, good, COUNT(good), true);
	expect_all(lens_run_id_valid, bad, COUNT(bad), false);
	memset(text, 'x', 256);
	text[256] = '\0';
	assert_false(lens_run_id_valid(text));
	text[255] = '\0';
	assert_true(lens_run_id_valid(text));
}

static void span_groups(void **state)
{
	static const char *const good[] = { "default",   "default,step",     " a , b ",
					    "a.b-c_D.9", "per_microbatch,x", "all" };
	static const char *const bad[] = { "",    " ",   ",",   "a,",  ",a",       "a,,b", "a b",
					   "a;b", "a=b", "a/b", "a\n", "\xc3\xa9", "a, ,b" };

	(void)state;
	expect_all(lens_groups_valid, good, COUNT(good), true);
	expect_all(lens_groups_valid, bad, COUNT(bad), false);
}

static void attributes(void **state)
{
	static const char *const good[] = { "k=v",     "k=",    "k=v,l=w",   "k=a=b",
					    " k = v ", "k=%2C", "a.b/c=%41", "k=v," };
	static const char *const bad[] = { "",      ",",      " ",      "k",     "=v",
					   "k=v,l", "k=v,=w", "k%ZZ=v", "k=%00", "k=v,x%2=1" };

	(void)state;
	expect_all(lens_attributes_valid, good, COUNT(good), true);
	expect_all(lens_attributes_valid, bad, COUNT(bad), false);
}

static void urls(void **state)
{
	static const char *const good[] = {
		"http://h",          "http://h:4318",
		"HTTPS://h/",        "http://[::1]:4318",
		"https://u:p@h:1/x", "http://[2001:db8::1]",
		"http://h?x=http:",  "http://10.0.0.1:4318/otlp",
	};
	static const char *const bad[] = {
		"",
		"h:4318",
		"http://",
		"http:///x",
		"http://:4318",
		"ftp://h",
		"file:///etc",
		"unix:///run/x",
		"http://::1:4318",
		"http://h h",
		"http://h\n",
		"http://u:p@",
		"gopher://h",
		"//h",
		" http://h",
		"http://?",
		"http://@:4318",
	};

	(void)state;
	expect_all(lens_url_valid, good, COUNT(good), true);
	expect_all(lens_url_valid, bad, COUNT(bad), false);
}

static void what_an_outer_trace_means(void **state)
{
	static const char *const names[] = { "link", "parent", "off" };
	enum lens_outer outer = LENS_OUTER_OFF;

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		assert_int_equal(lens_outer_parse(names[i], &outer), 0);
		assert_string_equal(lens_outer_name(outer), names[i]);
	}
	assert_int_equal(lens_outer_parse("PARENT", &outer), 0);
	assert_int_equal(lens_outer_parse("child", &outer), -1);
	assert_int_equal(lens_outer_parse("", &outer), -1);
	assert_int_equal(lens_outer_parse(NULL, &outer), -1);
	assert_int_equal(outer, LENS_OUTER_PARENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(run_ids),
		cmocka_unit_test(span_groups),
		cmocka_unit_test(attributes),
		cmocka_unit_test(urls),
		cmocka_unit_test(what_an_outer_trace_means),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
