/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/json.h"
#include "lib/otlp/model.h"
#include "tests/unit/otlp_sample.h"

#include <json-c/json.h>

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define A32 "abababababababababababababababab"

/* The whole line, byte for byte: ids as hex, 64-bit numbers as strings, enums as numbers. */
static void test_line_is_exact(void **state)
{
	static const char expected[] =
		"{\"resourceSpans\":[{\"resource\":{\"attributes\":["
		"{\"key\":\"service.name\",\"value\":{\"stringValue\":\"svc\"}},"
		"{\"key\":\"slots\",\"value\":{\"intValue\":\"9007199254740993\"}}]},"
		"\"scopeSpans\":[{\"scope\":{\"name\":\"sample-scope\",\"version\":\"1.2.3\"},\"spans\":["
		"{\"traceId\":\"" A32 "\",\"spanId\":\"0101010101010101\","
		"\"name\":\"root \\\"\\\\\\n\\u0001 caf\xc3\xa9/\",\"kind\":1,"
		"\"startTimeUnixNano\":\"1544712660300000001\","
		"\"endTimeUnixNano\":\"1544712661300000002\",\"attributes\":["
		"{\"key\":\"purpose\",\"value\":{\"arrayValue\":{\"values\":["
		"{\"stringValue\":\"goodput\"},{\"stringValue\":\"\"}]}}},"
		"{\"key\":\"none\",\"value\":{\"arrayValue\":{\"values\":[]}}},"
		"{\"key\":\"zero\",\"value\":{\"intValue\":\"0\"}},"
		"{\"key\":\"least\",\"value\":{\"intValue\":\"-9223372036854775808\"}},"
		"{\"key\":\"no\",\"value\":{\"boolValue\":false}},"
		"{\"key\":\"yes\",\"value\":{\"boolValue\":true}},"
		"{\"key\":\"half\",\"value\":{\"doubleValue\":0.5}},"
		"{\"key\":\"nan\",\"value\":{\"doubleValue\":\"NaN\"}},"
		"{\"key\":\"inf\",\"value\":{\"doubleValue\":\"-Infinity\"}},"
		"{\"key\":\"blank\",\"value\":{\"stringValue\":\"\"}},"
		"{\"key\":\"twice\",\"value\":{\"intValue\":\"2\"}},"
		"{\"key\":\"bad\",\"value\":{\"stringValue\":\"caf\xef\xbf\xbd\"}}],"
		"\"links\":[{\"traceId\":\"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd\","
		"\"spanId\":\"efefefefefefefef\",\"attributes\":["
		"{\"key\":\"why\",\"value\":{\"stringValue\":\"before\"}}],\"flags\":1}],\"flags\":1},"
		"{\"traceId\":\"" A32 "\",\"spanId\":\"0202020202020202\","
		"\"parentSpanId\":\"0101010101010101\",\"name\":\"child\",\"kind\":1,"
		"\"startTimeUnixNano\":\"20\",\"endTimeUnixNano\":\"20\",\"attributes\":[],"
		"\"status\":{\"code\":2,\"message\":\"exit 3\"},\"flags\":1}]}]}]}\n";
	struct lens_batch *batch = sample_full();
	struct lens_text line = LENS_TEXT_INIT;

	(void)state;
	assert_false(lens_batch_failed(batch));
	assert_int_equal(lens_json_encode(batch, &line), 0);
	assert_string_equal(line.data, expected);
	lens_text_clear(&line);
	lens_batch_destroy(batch);
}

/* What stands in front stays, and each batch is a line of its own. */
static void test_lines_follow_each_other(void **state)
{
	struct lens_batch *batch = sample_small();
	struct lens_text text = LENS_TEXT_INIT;
	struct json_object *parsed;
	char *newline;

	(void)state;
	assert_int_equal(lens_json_encode(batch, &text), 0);
	assert_int_equal(lens_json_encode(batch, &text), 0);
	newline = strchr(text.data, '\n');
	assert_non_null(newline);
	assert_int_equal((size_t)(newline + 1 - text.data) * 2, text.length);
	*newline = '\0';
	parsed = json_tokener_parse(text.data);
	assert_non_null(parsed);
	json_object_put(parsed);
	lens_text_clear(&text);
	lens_batch_destroy(batch);
}

/* A reader gets back every ASCII character and number that was written. */
static void test_reader_gets_the_same(void **state)
{
	static const double numbers[] = { 0.1, 1e300, -2.5e-308, 3, 5e-324 };
	struct lens_batch *batch = sample_small();
	struct lens_group *group = lens_batch_add_group(batch);
	const struct lens_trace_id trace = sample_trace(1);
	const struct lens_span_id id = sample_span(1);
	struct lens_attributes *attributes;
	struct lens_text line = LENS_TEXT_INIT;
	struct json_object *root, *span;
	char name[128];

	(void)state;
	for (size_t i = 0; i < sizeof(name); i++)
		name[i] = (char)((i + 1) % sizeof(name));
	attributes = lens_span_attributes(lens_group_add_span(group, &trace, &id, name));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		lens_attributes_double(attributes, (char[]){ (char)('a' + i), 0 }, numbers[i]);
	assert_int_equal(lens_json_encode(batch, &line), 0);
	root = json_tokener_parse(line.data);
	assert_non_null(root);
	assert_int_equal(json_pointer_get(root, "/resourceSpans/1/scopeSpans/0/spans/0", &span), 0);
	assert_string_equal(json_object_get_string(json_object_object_get(span, "name")), name);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		char pointer[64];
		struct json_object *value;

		snprintf(pointer, sizeof(pointer), "/attributes/%zu/value/doubleValue", i);
		assert_int_equal(json_pointer_get(span, pointer, &value), 0);
		assert_true(json_object_get_double(value) == numbers[i]);
	}
	json_object_put(root);
	lens_text_clear(&line);
	lens_batch_destroy(batch);
}

/* A decimal comma of the locale is none of JSON's. */
static void test_locale_is_ignored(void **state)
{
	struct lens_batch *batch = sample_small();
	struct lens_text line = LENS_TEXT_INIT;

	(void)state;
	if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
		lens_batch_destroy(batch);
		skip();
	}
	lens_attributes_double(lens_group_resource(batch->groups), "x", 1.5);
	assert_int_equal(lens_json_encode(batch, &line), 0);
	setlocale(LC_NUMERIC, "C");
	assert_non_null(strstr(line.data, "{\"doubleValue\":1.5}"));
	lens_text_clear(&line);
	lens_batch_destroy(batch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line_is_exact),
		cmocka_unit_test(test_lines_follow_each_other),
		cmocka_unit_test(test_reader_gets_the_same),
		cmocka_unit_test(test_locale_is_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
