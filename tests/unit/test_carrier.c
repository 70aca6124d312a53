/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/carrier.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/vectors.h"

static struct lens_carrier *parsed(const char *text, struct lens_carrier_report *report)
{
	struct lens_carrier *carrier = lens_carrier_create();

	assert_non_null(carrier);
	assert_int_equal(lens_carrier_parse(carrier, text, report), 0);
	return carrier;
}

/* PAIRS, `[[key, value], ...]`, one after the other. */
static struct lens_carrier *filled(json_object *pairs)
{
	struct lens_carrier *carrier = lens_carrier_create();

	assert_non_null(carrier);
	for (size_t i = 0; i < json_object_array_length(pairs); i++) {
		json_object *pair = json_object_array_get_idx(pairs, i);
		const char *key = json_object_get_string(json_object_array_get_idx(pair, 0));
		const char *value = json_object_get_string(json_object_array_get_idx(pair, 1));

		assert_int_equal(lens_carrier_set(carrier, key, value), 0);
	}
	return carrier;
}

static void assert_pairs(const struct lens_carrier *carrier, json_object *pairs)
{
	assert_int_equal(lens_carrier_count(carrier), json_object_array_length(pairs));
	for (size_t i = 0; i < lens_carrier_count(carrier); i++) {
		json_object *pair = json_object_array_get_idx(pairs, i);

		assert_string_equal(lens_carrier_key(carrier, i),
				    json_object_get_string(json_object_array_get_idx(pair, 0)));
		assert_string_equal(lens_carrier_value(carrier, i),
				    json_object_get_string(json_object_array_get_idx(pair, 1)));
	}
}

static char *formatted(const struct lens_carrier *carrier, struct lens_carrier_report *report)
{
	struct lens_text text = LENS_TEXT_INIT;
	char *line;

	lens_carrier_format(carrier, &text, report);
	line = lens_text_take(&text);
	assert_non_null(line);
	return line;
}

static void parse_reads_the_vectors(void **state)
{
	json_object *file = vectors_load("carrier.json"), *cases;
	size_t count = vectors_array(file, "parse", &cases);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		json_object *entry = json_object_array_get_idx(cases, i);
		struct lens_carrier *carrier = parsed(vectors_string(entry, "in"), NULL);

		assert_pairs(carrier, vectors_get(entry, "out"));
		lens_carrier_destroy(carrier);
	}
	json_object_put(file);
}

static void format_writes_the_vectors(void **state)
{
	json_object *file = vectors_load("carrier.json"), *cases;
	size_t count = vectors_array(file, "format", &cases);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		json_object *entry = json_object_array_get_idx(cases, i);
		struct lens_carrier *carrier = filled(vectors_get(entry, "in"));
		char *line = formatted(carrier, NULL);

		assert_string_equal(line, vectors_string(entry, "out"));
		free(line);
		lens_carrier_destroy(carrier);
	}
	json_object_put(file);
}

static void compose_joins_the_vectors(void **state)
{
	json_object *file = vectors_load("carrier.json"), *cases;
	size_t count = vectors_array(file, "extend", &cases);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		json_object *entry = json_object_array_get_idx(cases, i);
		struct lens_carrier *current = parsed(vectors_string(entry, "current"), NULL);
		struct lens_carrier *defaults = filled(vectors_get(entry, "defaults"));
		struct lens_carrier *overrides = filled(vectors_get(entry, "overrides"));
		struct lens_carrier *whole = lens_carrier_compose(defaults, current, overrides);

		assert_non_null(whole);
		assert_pairs(whole, vectors_get(entry, "out"));
		lens_carrier_destroy(whole);
		lens_carrier_destroy(overrides);
		lens_carrier_destroy(defaults);
		lens_carrier_destroy(current);
	}
	json_object_put(file);
}

/* Both ways once makes what both ways twice makes. */
static void the_written_form_is_stable(void **state)
{
	json_object *file = vectors_load("carrier.json"), *cases;
	size_t count = vectors_array(file, "parse", &cases);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		json_object *entry = json_object_array_get_idx(cases, i);
		struct lens_carrier *first = parsed(vectors_string(entry, "in"), NULL);
		char *once = formatted(first, NULL);
		struct lens_carrier *second = parsed(once, NULL);
		char *twice = formatted(second, NULL);

		assert_string_equal(once, twice);
		free(twice);
		free(once);
		lens_carrier_destroy(second);
		lens_carrier_destroy(first);
	}
	json_object_put(file);
}

static void joining_leaves_no_empty_entry(void **state)
{
	static const struct {
		const char *user, *out;
	} cases[] = {
		{ NULL, "ours=1" },
		{ "", "ours=1" },
		{ ",", "ours=1" },
		{ " , ,\t,", "ours=1" },
		{ "team=a,", "team=a,ours=1" },
		{ " , team=a ,, ", "team=a,ours=1" },
	};
	struct lens_carrier *ours = parsed("ours=1", NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_carrier_report report = { 0 };
		struct lens_carrier *user = parsed(cases[i].user, &report);
		struct lens_carrier *whole = lens_carrier_compose(NULL, user, ours);
		char *line = formatted(whole, &report);

		assert_string_equal(line, cases[i].out);
		assert_int_equal(report.dropped, 0);
		free(line);
		lens_carrier_destroy(whole);
		lens_carrier_destroy(user);
	}
	lens_carrier_destroy(ours);
}

static void a_malformed_value_becomes_canonical(void **state)
{
	static const struct {
		const char *in, *out;
		size_t dropped;
		const char *first;
	} cases[] = {
		{ "foo", "", 1, "foo" },
		{ "team=a=b", "team=a%3Db", 0, "" },
		{ "\t\n\v\f\r k \r\f\v\n\t=\t\n\v\f\r v \r\f\v\n\t", "k=v", 0, "" },
		{ "k=\x1F\xC2\xA0", "k=%1F%C2%A0", 0, "" },
		{ "k=%ZZ", "k=%25ZZ", 0, "" },
		{ "=secret", "", 1, "=" },
		{ "k=", "k=", 0, "" },
		{ "'team=a", "'team=a", 0, "" },
		{ "k=%00secret,a=1", "a=1", 1, "k" },
		{ "k=1,k=%00", "k=1", 1, "k" },
		{ "a\tb\x7F, x ,y", "", 3, "a?b?" },
		{ "name=caf\xE9", "name=caf%EF%BF%BD", 0, "" },
		{ "name=caf%E9", "name=caf%EF%BF%BD", 0, "" },
		{ "name=\xF0\x9F\x9A\x80", "name=%F0%9F%9A%80", 0, "" },
		{ "%zz=1,a%2Cb=2,c%=3", "a%2Cb=2", 2, "%zz" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_carrier_report report = { 0 };
		struct lens_carrier *carrier = parsed(cases[i].in, &report);
		char *line = formatted(carrier, &report);

		assert_string_equal(line, cases[i].out);
		assert_int_equal(report.dropped, cases[i].dropped);
		assert_string_equal(report.first, cases[i].first);
		free(line);
		lens_carrier_destroy(carrier);
	}
}

static void a_report_is_cut_between_characters(void **state)
{
	struct lens_carrier_report report = { 0 };
	struct lens_carrier *carrier;
	char entry[400];

	(void)state;
	memset(entry, 'x', sizeof(entry));
	memcpy(entry + 126, "\xC3\xA9", 2);
	entry[sizeof(entry) - 1] = '\0';
	carrier = parsed(entry, &report);
	assert_int_equal(report.dropped, 1);
	assert_int_equal(strlen(report.first), 126);
	lens_carrier_destroy(carrier);
}

static void each_key_is_there_once(void **state)
{
	struct lens_carrier *carrier = parsed("a=1,b=2", NULL);
	char *line;

	(void)state;
	assert_int_equal(lens_carrier_set(carrier, "a", "3"), 0);
	assert_int_equal(lens_carrier_set(carrier, " b ", "4"), 0);
	assert_int_equal(lens_carrier_setf(carrier, "c", "%d/%s", 5, "n2"), 0);
	assert_int_equal(lens_carrier_set(carrier, "d", NULL), 0);
	line = formatted(carrier, NULL);
	assert_string_equal(line, "a=3,b=4,c=5%2Fn2");
	free(line);
	assert_string_equal(lens_carrier_get(carrier, "c"), "5/n2");
	assert_null(lens_carrier_get(carrier, "d"));
	assert_null(lens_carrier_get(carrier, ""));
	assert_true(lens_carrier_remove(carrier, "a"));
	assert_false(lens_carrier_remove(carrier, "a"));
	assert_null(lens_carrier_get(carrier, "a"));
	line = formatted(carrier, NULL);
	assert_string_equal(line, "b=4,c=5%2Fn2");
	free(line);
	assert_true(lens_carrier_remove(carrier, "c"));
	assert_true(lens_carrier_remove(carrier, "b"));
	assert_int_equal(lens_carrier_count(carrier), 0);
	lens_carrier_destroy(carrier);
}

static void only_what_lens_adds_is_cut(void **state)
{
	struct lens_carrier *carrier = lens_carrier_create();
	char value[401];

	(void)state;
	for (size_t i = 0; i < 200; i++)
		memcpy(value + 2 * i, "\xC3\xA9", 2);
	value[400] = '\0';
	assert_int_equal(lens_carrier_publish(carrier, "ours", value), 0);
	assert_int_equal(lens_carrier_set(carrier, "theirs", value), 0);
	assert_int_equal(lens_carrier_publish(carrier, "none", NULL), 0);
	assert_int_equal(lens_carrier_publish(carrier, "bad", "caf\xE9"), 0);
	assert_int_equal(strlen(lens_carrier_get(carrier, "ours")), 254);
	assert_int_equal(strlen(lens_carrier_get(carrier, "theirs")), 400);
	assert_null(lens_carrier_get(carrier, "none"));
	assert_string_equal(lens_carrier_get(carrier, "bad"), "caf\xEF\xBF\xBD");
	lens_carrier_destroy(carrier);
}

static void many_entries_stay_apart(void **state)
{
	struct lens_carrier *carrier = lens_carrier_create(), *back;
	char key[16], *line;

	(void)state;
	for (unsigned int i = 0; i < 5000; i++) {
		snprintf(key, sizeof(key), "k%u", i);
		assert_int_equal(lens_carrier_setf(carrier, key, "%u", i * 7), 0);
	}
	line = formatted(carrier, NULL);
	back = parsed(line, NULL);
	free(line);
	assert_int_equal(lens_carrier_count(back), 5000);
	for (unsigned int i = 0; i < 5000; i++) {
		snprintf(key, sizeof(key), "k%u", i);
		assert_int_equal(strtoul(lens_carrier_get(back, key), NULL, 10), i * 7);
	}
	lens_carrier_destroy(back);
	lens_carrier_destroy(carrier);
}

static void destroy_takes_null_and_keeps_errno(void **state)
{
	struct lens_carrier *carrier = parsed("a=1", NULL);

	(void)state;
	errno = EAGAIN;
	lens_carrier_destroy(NULL);
	lens_carrier_destroy(carrier);
	assert_int_equal(errno, EAGAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parse_reads_the_vectors),
		cmocka_unit_test(format_writes_the_vectors),
		cmocka_unit_test(compose_joins_the_vectors),
		cmocka_unit_test(the_written_form_is_stable),
		cmocka_unit_test(joining_leaves_no_empty_entry),
		cmocka_unit_test(a_malformed_value_becomes_canonical),
		cmocka_unit_test(a_report_is_cut_between_characters),
		cmocka_unit_test(each_key_is_there_once),
		cmocka_unit_test(only_what_lens_adds_is_cut),
		cmocka_unit_test(many_entries_stay_apart),
		cmocka_unit_test(destroy_takes_null_and_keeps_errno),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
