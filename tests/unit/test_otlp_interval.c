/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/interval.h"

#include "lib/core/text.h"
#include "lib/otlp/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/otlp_sample.h"

#define NOW INT64_C(1796040000000000000)

/* What a check said, a line each: `! ` before what is fatal. */
static void told(void *context, bool fatal, const char *text)
{
	lens_text_addf(context, "%s%s\n", fatal ? "! " : "", text);
}

static void add_all(struct lens_intervals *list, const char *const *texts)
{
	for (; *texts != NULL; texts++) {
		struct lens_error err = LENS_ERROR_INIT;

		if (lens_intervals_add(list, *texts, NOW, &err) != 0)
			fail_msg("%s: %s", *texts, err.text);
	}
}

static void the_checks_as_a_whole(void **state)
{
	static const struct {
		const char *texts[6];
		const char *said; /* lines */
	} cases[] = {
		{ { "a,1,2" }, "" },
		/* A parent may come later, and need not hold its child. */
		{ { "a,1,2,b", "b,5,6" }, "" },
		{ { "a,1,2", "b,1,2,a", "c,1,2,b", "d,1,2,c", "e,1,2,a" }, "" },
		{ { "a,1,2", "b,1,1" }, "" },
		{ { "a,1,2", "a,3,4" }, "! span `a`: its name is there more than once\n" },
		{ { "a,1,2", "a,3,4", "a,5,6", "b,1,2", "b,1,2" },
		  "! span `a`: its name is there more than once\n"
		  "! span `b`: its name is there more than once\n" },
		{ { "a,1,2", "b,1,2,A" }, "! span `b`: no span has the name of its parent, `A`\n" },
		{ { "a,1,2,a" }, "! span `a`: it is its own ancestor, by `a`\n" },
		{ { "a,1,2,b", "b,1,2,a" }, "! span `a`: it is its own ancestor, by `b`\n" },
		/* What hangs on a cycle is not one more. */
		{ { "r,1,2", "x,1,2,b", "a,1,2,c", "b,1,2,a", "c,1,2,b" },
		  "! span `b`: it is its own ancestor, by `a`\n" },
		{ { "a,1,2,b", "b,1,2,a", "c,1,2,c" },
		  "! span `a`: it is its own ancestor, by `b`\n"
		  "! span `c`: it is its own ancestor, by `c`\n" },
		{ { "a,1.030,1" },
		  "span `a`: its end is 30.000000 ms before its start: set to the start\n" },
		{ { "a,1.030000001,1" },
		  "! span `a`: its end is 30.000001 ms before its start, more than clocks differ "
		  "by\n" },
		{ { "a,2,1", "b,1,2,c" },
		  "! span `b`: no span has the name of its parent, `c`\n"
		  "! span `a`: its end is 1000.000000 ms before its start, more than clocks differ "
		  "by\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_intervals list = LENS_INTERVALS_INIT;
		struct lens_text said = LENS_TEXT_INIT;
		int fatal = 0;
		char *text;

		add_all(&list, cases[i].texts);
		for (const char *at = cases[i].said; (at = strchr(at, '!')) != NULL; at++)
			fatal++;
		assert_int_equal(lens_intervals_check(&list, told, &said), fatal);
		text = lens_text_take(&said);
		assert_string_equal(text, cases[i].said);
		free(text);
		lens_intervals_clear(&list);
	}
}

static void a_small_inversion_is_set_right(void **state)
{
	const char *const texts[] = { "a,1.03,1", NULL };
	struct lens_intervals list = LENS_INTERVALS_INIT;
	struct lens_text said = LENS_TEXT_INIT;

	(void)state;
	add_all(&list, texts);
	assert_int_equal(lens_intervals_check(&list, told, &said), 0);
	assert_int_equal(list.items[0].start_ns, 1030000000);
	assert_int_equal(list.items[0].end_ns, 1030000000);
	lens_text_clear(&said);
	lens_intervals_clear(&list);
}

/* Neither recursion nor a look at each pair: a chain of a hundred thousand. */
static void a_long_chain_is_checked_in_no_time(void **state)
{
	enum { COUNT = 100000 };
	struct lens_intervals list = LENS_INTERVALS_INIT;
	struct lens_text said = LENS_TEXT_INIT;
	struct lens_error err;
	char text[64];

	(void)state;
	for (int i = 0; i < COUNT; i++) {
		snprintf(text, sizeof(text), "s%d,1,2,s%d", i, i + 1);
		assert_int_equal(lens_intervals_add(&list, text, NOW, &err), 0);
	}
	snprintf(text, sizeof(text), "s%d,1,2", COUNT);
	assert_int_equal(lens_intervals_add(&list, text, NOW, &err), 0);
	assert_int_equal(lens_intervals_check(&list, told, &said), 0);
	assert_int_equal(list.items[0].parent_at, 1);
	list.items[COUNT].parent = strdup("s0");
	assert_int_equal(lens_intervals_check(&list, told, &said), 1);
	lens_text_clear(&said);
	lens_intervals_clear(&list);
}

static void fields_are_trimmed(void **state)
{
	const char *const texts[] = { " a b ,\t1 , now ,  ",
				      "caf\xc3\xa9,0,2000-01-01T00:00:00Z, a b", NULL };
	struct lens_intervals list = LENS_INTERVALS_INIT;

	(void)state;
	add_all(&list, texts);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.items[0].name, "a b");
	assert_null(list.items[0].parent);
	assert_int_equal(list.items[0].start_ns, 1000000000);
	assert_int_equal(list.items[0].end_ns, NOW);
	assert_string_equal(list.items[1].name, "caf\xc3\xa9");
	assert_string_equal(list.items[1].parent, "a b");
	assert_int_equal(list.items[1].end_ns, 946684800000000000);
	lens_intervals_clear(&list);
}

static void what_is_no_interval_is_told(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "", "not NAME,START,END[,PARENT]" },
		{ "a", "not NAME,START,END[,PARENT]" },
		{ "a,1", "not NAME,START,END[,PARENT]" },
		{ "a,1,2,b,c", "not NAME,START,END[,PARENT]" },
		{ " ,1,2", "its name is missing" },
		{ "a,,2", "its start is missing" },
		{ "a,1,", "its end is missing" },
		{ "a,1,nan", "its end `nan`: it is not finite" },
		{ "a,-inf,2", "its start `-inf`: it is not finite" },
		{ "a,x\ny,2", "its start `x\\x0Ay`: it is not seconds" },
	};
	struct lens_intervals list = LENS_INTERVALS_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_error err = LENS_ERROR_INIT;

		assert_int_equal(lens_intervals_add(&list, cases[i].text, NOW, &err), -1);
		if (strstr(err.text, cases[i].why) == NULL)
			fail_msg("`%s`: said `%s`", cases[i].text, err.text);
		assert_int_equal(list.count, 0);
	}
	lens_intervals_clear(&list);
}

static int add_line(struct lens_intervals *list, const char *line, struct lens_error *err)
{
	return lens_intervals_add_json(list, line, strlen(line), NOW, err);
}

static void json_keeps_every_digit(void **state)
{
	static const char *const lines[] = {
		"{\"name\":\"a\",\"start\":1700000000.123456789,\"end\":1700000001}\n",
		"{\"end\":\"now\",\"start\":\"2023-11-14T22:13:20Z\",\"name\":\"b\",\"parent\":\"a\"}",
		" {\"name\":\"c\",\"start\":1.7e9,\"end\":\"1700000000.000000001\",\"parent\":\"\"} ",
		"{\"name\":\"d,e\",\"start\":1,\"end\":2,\"parent\":null}",
	};
	struct lens_intervals list = LENS_INTERVALS_INIT;
	struct lens_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (add_line(&list, lines[i], &err) != 0)
			fail_msg("%s: %s", lines[i], err.text);
	assert_int_equal(list.items[0].start_ns, 1700000000123456789);
	assert_int_equal(list.items[0].end_ns, 1700000001000000000);
	assert_int_equal(list.items[1].start_ns, 1700000000000000000);
	assert_int_equal(list.items[1].end_ns, NOW);
	assert_string_equal(list.items[1].parent, "a");
	assert_int_equal(list.items[2].start_ns, 1700000000000000000);
	assert_int_equal(list.items[2].end_ns, 1700000000000000001);
	assert_null(list.items[2].parent);
	assert_string_equal(list.items[3].name, "d,e");
	assert_null(list.items[3].parent);
	lens_intervals_clear(&list);
}

static void json_that_says_something_else_is_told(void **state)
{
	static const struct {
		const char *line, *why;
	} cases[] = {
		{ "", "it is cut" },
		{ "{", "it is cut" },
		{ "null", "no JSON object" },
		{ "[]", "no JSON object" },
		{ "7", "no JSON object" },
		{ "{\"name\":\"a\"}", "start or its end is missing" },
		{ "{\"start\":1,\"end\":2}", "its name is missing" },
		{ "{\"name\":\"\",\"start\":1,\"end\":2}", "its name is missing" },
		{ "{\"name\":7,\"start\":1,\"end\":2}", "`name` is not a string" },
		{ "{\"name\":\"a\\u0000b\",\"start\":1,\"end\":2}", "`name` holds a NUL" },
		{ "{\"name\":\"a\",\"start\":true,\"end\":2}", "`start` is not a number" },
		{ "{\"name\":\"a\",\"start\":NaN,\"end\":2}", "" },
		{ "{\"name\":\"a\",\"start\":\"x\",\"end\":2}", "`start`, `x`: it is not seconds" },
		{ "{\"name\":\"a\",\"start\":-1,\"end\":2}", "before 1970" },
		{ "{\"name\":\"a\",\"start\":1,\"end\":2,\"parent\":3}",
		  "`parent` is not a string" },
		{ "{\"name\":\"a\",\"start\":1,\"end\":2,\"kind\":\"big\"}",
		  "`kind` is not internal," },
		{ "{\"name\":\"a\",\"start\":1,\"end\":2,\"status\":\"bad\"}",
		  "`status` is not unset," },
		{ "{\"name\":\"a\",\"start\":1,\"end\":2,\"message\":\"m\"}",
		  "goes with the status" },
		{ "{\"name\":\"a\",\"start\":1,\"end\":2,\"attributes\":[]}", "not an object" },
		{ "{\"name\":\"a\",\"start\":1,\"end\":2,\"attributes\":{\"k\":null}}",
		  "`k` is not a string, a number" },
		{ "{\"name\":\"a\",\"start\":1,\"end\":2,\"attributes\":{\"k\":{}}}",
		  "`k` is not a string, a number" },
		{ "{\"name\":\"a\",\"start\":1,\"end\":2,\"attributes\":{\"k\":[1]}}",
		  "`k` is not a string, a number" },
		{ "{\"name\":\"a\",\"start\":1,\"end\":2,\"attributes\":{\"\":1}}", "no name" },
		{ "{\"name\":\"a\",\"start\":1,\"end\":2,\"colour\":\"red\"}",
		  "no member `colour`" },
		{ "{\"name\":\"a\",\"start\":1,\"end\":2} {}", "no JSON" },
		{ "{\"name\":\"caf\xe9\",\"start\":1,\"end\":2}", "no JSON" },
		{ "[[[[[[[[[[[[]]]]]]]]]]]]", "no JSON" },
	};
	struct lens_intervals list = LENS_INTERVALS_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_error err = LENS_ERROR_INIT;

		if (add_line(&list, cases[i].line, &err) != -1)
			fail_msg("%s was taken", cases[i].line);
		if (strstr(err.text, cases[i].why) == NULL)
			fail_msg("%s: said `%s`", cases[i].line, err.text);
		assert_int_equal(list.count, 0);
	}
	lens_intervals_clear(&list);
}

static void kinds_and_statuses(void **state)
{
	static const struct {
		const char *text, *message;
		enum lens_span_status code;
	} cases[] = {
		{ "ok", NULL, LENS_STATUS_OK },
		{ "Unset", NULL, LENS_STATUS_UNSET },
		{ "ERROR", NULL, LENS_STATUS_ERROR },
		{ "error:", "", LENS_STATUS_ERROR },
		{ "error:it: broke", "it: broke", LENS_STATUS_ERROR },
	};
	static const char *const refused[] = {
		"", "fine", "ok:", "ok:x", "err", "errors", "unset:x"
	};
	struct lens_interval interval = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(lens_interval_status(&interval, cases[i].text), 0);
		assert_int_equal(interval.status, cases[i].code);
		assert_true(interval.status_set);
		if (cases[i].message == NULL)
			assert_null(interval.message);
		else
			assert_string_equal(interval.message, cases[i].message);
	}
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_int_equal(lens_interval_status(&interval, refused[i]), -1);
	free(interval.message);
	assert_int_equal(lens_interval_kind(&interval, "Client"), 0);
	assert_int_equal(interval.kind, LENS_KIND_CLIENT);
	assert_int_equal(lens_interval_kind(&interval, "consumer"), 0);
	assert_int_equal(interval.kind, LENS_KIND_CONSUMER);
	assert_int_equal(lens_interval_kind(&interval, ""), -1);
	assert_int_equal(lens_interval_kind(&interval, "unspecified"), -1);
}

static void contains(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("no %s in %s", part, text);
}

static void what_is_built_is_what_was_said(void **state)
{
	const struct lens_span_id outer = sample_span(0xaa);
	const struct lens_span_id ids[] = { sample_span(1), sample_span(2), sample_span(3) };
	const struct lens_interval_place place = { sample_trace(0x11), &outer, 3 };
	struct lens_batch *batch = lens_batch_create("scope", "1");
	struct lens_group *group = lens_batch_add_group(batch);
	struct lens_intervals list = LENS_INTERVALS_INIT;
	struct lens_text text = LENS_TEXT_INIT;
	struct lens_error err = LENS_ERROR_INIT;

	(void)state;
	assert_int_equal(add_line(&list,
				  "{\"name\":\"child\",\"start\":1,\"end\":2,\"parent\":\"root\","
				  "\"kind\":\"server\",\"status\":\"ok\",\"attributes\":{\"n\":-3,"
				  "\"f\":0.5,\"b\":true,\"s\":\"x\",\"l\":[\"p\",\"q\"],\"e\":[]}}",
				  &err),
			 0);
	assert_int_equal(lens_intervals_add(&list, "root,1,3", NOW, &err), 0);
	assert_int_equal(lens_intervals_add(&list, "bad,1,1", NOW, &err), 0);
	assert_int_equal(lens_interval_status(&list.items[2], "error:why"), 0);
	assert_int_equal(lens_interval_attribute(&list.items[2], "k", "first"), 0);
	assert_int_equal(lens_interval_attribute(&list.items[2], "k", "second"), 0);
	assert_int_equal(lens_intervals_check(&list, told, &text), 0);
	lens_intervals_build(group, &list, &place, ids, 0, 2);
	lens_intervals_build(group, &list, &place, ids, 2, 1);
	assert_int_equal(lens_batch_span_count(batch), 3);
	assert_int_equal(lens_json_encode(batch, &text), 0);
	contains(text.data, "\"spanId\":\"0101010101010101\",\"parentSpanId\":\"0202020202020202\","
			    "\"name\":\"child\",\"kind\":2,\"startTimeUnixNano\":\"1000000000\","
			    "\"endTimeUnixNano\":\"2000000000\"");
	contains(text.data, "{\"key\":\"n\",\"value\":{\"intValue\":\"-3\"}}");
	contains(text.data, "{\"key\":\"f\",\"value\":{\"doubleValue\":0.5}}");
	contains(text.data, "{\"key\":\"b\",\"value\":{\"boolValue\":true}}");
	contains(text.data,
		 "{\"key\":\"l\",\"value\":{\"arrayValue\":{\"values\":[{\"stringValue\":"
		 "\"p\"},{\"stringValue\":\"q\"}]}}}");
	contains(text.data, "],\"status\":{\"code\":1},\"flags\":3}");
	contains(text.data, "\"parentSpanId\":\"aaaaaaaaaaaaaaaa\",\"name\":\"root\",\"kind\":1");
	contains(text.data,
		 "\"attributes\":[{\"key\":\"k\",\"value\":{\"stringValue\":\"second\"}}],"
		 "\"status\":{\"code\":2,\"message\":\"why\"},\"flags\":3}");
	lens_text_clear(&text);
	lens_batch_destroy(batch);
	lens_intervals_clear(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_checks_as_a_whole),
		cmocka_unit_test(a_small_inversion_is_set_right),
		cmocka_unit_test(a_long_chain_is_checked_in_no_time),
		cmocka_unit_test(fields_are_trimmed),
		cmocka_unit_test(what_is_no_interval_is_told),
		cmocka_unit_test(json_keeps_every_digit),
		cmocka_unit_test(json_that_says_something_else_is_told),
		cmocka_unit_test(kinds_and_statuses),
		cmocka_unit_test(what_is_built_is_what_was_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
