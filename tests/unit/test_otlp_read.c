/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "lib/otlp/json.h"
#include "lib/otlp/read.h"
#include "tests/unit/otlp_sample.h"
#include "tests/unit/read_sample.h"

/* What a reading gave, as text: a line for each span. */
struct seen {
	struct lens_text text;
	struct lens_read_counts counts;
	struct lens_error err;
};

static int span_note(void *context, const struct lens_read_span *span)
{
	struct seen *seen = context;
	char trace[LENS_TRACE_HEX], id[LENS_SPAN_HEX], parent[LENS_SPAN_HEX] = "-";

	lens_trace_id_hex(trace, &span->trace);
	lens_span_id_hex(id, &span->span);
	if (span->has_parent)
		lens_span_id_hex(parent, &span->parent);
	lens_text_addf(&seen->text, "%.4s %s %s %llu %llu %d ", trace, id, parent,
		       (unsigned long long)span->start_ns, (unsigned long long)span->end_ns,
		       (int)span->status);
	lens_read_name(span, &seen->text);
	lens_text_adds(&seen->text, "\n");
	return 0;
}

static int read_bytes(struct seen *seen, const char *line, size_t length)
{
	lens_text_clear(&seen->text);
	seen->counts = (struct lens_read_counts){ 0 };
	seen->err.text[0] = '\0';
	return lens_read_line(line, length, span_note, seen, &seen->counts, &seen->err);
}

static const char *seen_text(const struct seen *seen)
{
	return seen->text.data != NULL ? seen->text.data : "";
}

static void expect_spans(const char *line, const char *expected)
{
	struct seen seen = { 0 };

	assert_int_equal(read_bytes(&seen, line, strlen(line)), 0);
	assert_string_equal(seen_text(&seen), expected);
	lens_text_clear(&seen.text);
}

static void expect_broken(const char *line, size_t length, const char *why)
{
	struct seen seen = { 0 };

	assert_int_equal(read_bytes(&seen, line, length), -1);
	if (strstr(seen.err.text, why) == NULL)
		fail_msg("`%s`, not `%s`: %s", seen.err.text, why, line);
	lens_text_clear(&seen.text);
}

#define WRAP(span) "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[" span "]}]}]}"
#define IDS        "\"traceId\":\"" SAMPLE_TRACE "\",\"spanId\":\"00000000000000aa\""

/* What our own exporter writes, every kind of value in it. */
static void test_reads_what_is_written(void **state)
{
	struct lens_batch *batch = sample_full();
	struct lens_text line = LENS_TEXT_INIT;

	(void)state;
	assert_int_equal(lens_json_encode(batch, &line), 0);
	expect_spans(line.data, "abab 0101010101010101 - 1544712660300000001 1544712661300000002 0 "
				"root \"\\\n\x01 caf\xc3\xa9/\n"
				"abab 0202020202020202 0101010101010101 20 20 2 child\n");
	lens_text_clear(&line);
	lens_batch_destroy(batch);
}

/* Numbers where we write text, capitals, null, other members and resources, no end. */
static void test_reads_other_writers(void **state)
{
	(void)state;
	expect_spans(
		"{\"resourceSpans\":[{\"resource\":{\"droppedAttributesCount\":1},\"schemaUrl\":\"x\","
		"\"scopeSpans\":[{\"spans\":[{\"traceId\":\"0102030405060708090A0B0C0D0E0F10\","
		"\"spanId\":\"00000000000000AA\",\"parentSpanId\":\"\",\"name\":\"a\","
		"\"startTimeUnixNano\":18446744073709551615,\"endTimeUnixNano\":5,\"status\":{},"
		"\"traceState\":null,\"new\":[{}]}]},{\"spans\":[{" IDS
		",\"parentSpanId\":\"0000000000000000\",\"startTimeUnixNano\":\"7\","
		"\"status\":{\"code\":\"STATUS_CODE_ERROR\"}}]}]},{\"scopeSpans\":[]},{}]}",
		"0102 00000000000000aa - 18446744073709551615 18446744073709551615 0 a\n"
		"0102 00000000000000aa - 7 7 2 \n");
	expect_spans("", "");
	expect_spans("  \r", "");
	expect_spans("{\"resourceMetrics\":[{}]}", "");
	expect_spans("{\"resourceSpans\":{\"not\":\"a list\"}}\r", "");
	expect_spans("{\"resourceSpans\":[1,null,[],\"x\",{\"scopeSpans\":[2,{\"spans\":3}]}]}",
		     "");
}

/* Spans that cannot be drawn are counted, the others of their line stand. */
static void test_counts_bad_spans(void **state)
{
	static const char *const bad[] = {
		"7",
		"null",
		"{}",
		"{" IDS "}",
		"{" IDS ",\"startTimeUnixNano\":\"-1\"}",
		"{" IDS ",\"startTimeUnixNano\":-1}",
		"{" IDS ",\"startTimeUnixNano\":1.5}",
		"{" IDS ",\"startTimeUnixNano\":\"99999999999999999999\"}",
		"{" IDS ",\"startTimeUnixNano\":{}}",
		"{\"traceId\":\"00000000000000000000000000000000\",\"spanId\":\"00000000000000aa\","
		"\"startTimeUnixNano\":1}",
		"{\"traceId\":\"AQIDBAUGBwgJCgsMDQ4PEA==\",\"spanId\":\"00000000000000aa\","
		"\"startTimeUnixNano\":1}",
		"{\"traceId\":\"" SAMPLE_TRACE "\",\"spanId\":12,\"startTimeUnixNano\":1}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct seen seen = { 0 };
		char line[1024];

		snprintf(line, sizeof(line),
			 "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[%s,{" IDS
			 ",\"startTimeUnixNano\":1}]}]}]}",
			 bad[i]);
		assert_int_equal(read_bytes(&seen, line, strlen(line)), 0);
		assert_int_equal(seen.counts.bad, 1);
		assert_int_equal(seen.counts.spans, 1);
		lens_text_clear(&seen.text);
	}
}

/* Every cut of a line is broken: none is taken for a whole one. */
static void test_every_cut_is_broken(void **state)
{
	const char *line =
		sample_line(1, 2, "caf\xc3\xa9 \\u00e9", 0, 1, SAMPLE_INT("a", "5"),
			    ",\"status\":{\"code\":2}", SAMPLE_STRING("service.name", "x"));

	(void)state;
	for (size_t length = 1; length < strlen(line); length++) {
		char *cut = strndup(line, length);

		expect_broken(cut, length, "it is cut");
		free(cut);
	}
}

static void test_broken_lines(void **state)
{
	char deep[512];

	(void)state;
	expect_broken("no json", 7, "it is no JSON");
	expect_broken("[]", 2, "it is no JSON object");
	expect_broken("{} {}", 5, "it is no JSON");
	expect_broken("{\"a\":1}x", 8, "it is no JSON");
	expect_broken("{\"a\":\0}", 7, "it is no JSON");
	expect_broken("{}\0", 3, "it is no JSON");
	expect_broken("7", 1, "it is no JSON object");
	expect_broken("caf\xc3\xa9", 5, "it is no JSON");
	memset(deep, '[', sizeof(deep));
	memcpy(deep, "{\"a\":", 5);
	expect_broken(deep, sizeof(deep) - 1, "nesting");
}

/* Bytes that are no UTF-8, and a NUL, become U+FFFD; attributes as people read them. */
static int attributes_note(void *context, const struct lens_read_span *span)
{
	static const char *const keys[] = { "s", "i", "n", "b", "d", "y", "l", "m", "e", "odd" };
	struct lens_text *text = context;

	lens_read_name(span, text);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		lens_text_addf(text, "|%s=", keys[i]);
		if (!lens_read_attribute(span, keys[i], text))
			lens_text_adds(text, "none");
	}
	lens_text_adds(text, "|");
	return lens_read_resource(span, "service.name", text) ? 7 : 8;
}

static void test_values(void **state)
{
	static const char line[] =
		"{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\","
		"\"value\":{\"stringValue\":\"svc\"}}]},\"scopeSpans\":[{\"spans\":[{" IDS
		",\"name\":\"bad \xff\xc3 nul \\u0000 end\",\"startTimeUnixNano\":1,\"attributes\":["
		"{\"key\":\"s\",\"value\":{\"stringValue\":\"first\"}},"
		"{\"key\":\"s\",\"value\":{\"stringValue\":\"last\"}},"
		"{\"key\":\"i\",\"value\":{\"intValue\":\"-9223372036854775808\"}},"
		"{\"key\":\"n\",\"value\":{\"intValue\":42}},"
		"{\"key\":\"b\",\"value\":{\"boolValue\":true}},"
		"{\"key\":\"d\",\"value\":{\"doubleValue\":0.25}},"
		"{\"key\":\"y\",\"value\":{\"bytesValue\":\"AQI=\"}},"
		"{\"key\":\"l\",\"value\":{\"arrayValue\":{\"values\":[{\"stringValue\":\"a\"},"
		"{\"intValue\":1},{\"arrayValue\":{}}]}}},"
		"{\"key\":\"m\",\"value\":{\"kvlistValue\":{\"values\":[{\"key\":\"k\",\"value\":"
		"{\"boolValue\":false}},{\"key\":\"z\"}]}}},"
		"{\"key\":\"odd\",\"value\":{\"stringValue\":{\"a\":1}}},{\"key\":5},\"x\"]}]}]}]}";
	struct lens_read_counts counts = { 0 };
	struct lens_text text = LENS_TEXT_INIT;

	(void)state;
	/* What the callback returns ends the line and comes back. */
	assert_int_equal(lens_read_line(line, strlen(line), attributes_note, &text, &counts, NULL),
			 7);
	assert_string_equal(text.data, "bad \xef\xbf\xbd\xef\xbf\xbd nul \xef\xbf\xbd end|s=last"
				       "|i=-9223372036854775808|n=42|b=true|d=0.25|y=AQI="
				       "|l=[a, 1, []]|m={k=false, z=}|e=none|odd=|svc");
	lens_text_clear(&text);
}

/* A steady stream of damaged lines: whatever comes out, nothing is read that is not there (the
 * sanitizers watch), and what is handed out is valid. */
static void test_survives_damage(void **state)
{
	const char *line = sample_line(1, 2, "name", 0, 1, SAMPLE_INT("a", "5"),
				       ",\"links\":[{}],\"events\":[{\"name\":\"e\"}]",
				       SAMPLE_STRING("service.name", "x"));
	size_t length = strlen(line), broken = 0;
	uint32_t random = 12345;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct seen seen = { 0 };
		char *damaged = malloc(length);

		assert_non_null(damaged);
		memcpy(damaged, line, length);
		for (int hits = 0; hits < 1 + round % 4; hits++) {
			random = random * 1664525u + 1013904223u;
			damaged[random % length] = "\"{}[]:,\\0\xff\0e-a"[(random >> 16) % 15];
		}
		broken += read_bytes(&seen, damaged, length) == -1;
		lens_text_clear(&seen.text);
		free(damaged);
	}
	assert_true(broken > 1000 && broken < 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_what_is_written),
		cmocka_unit_test(test_reads_other_writers),
		cmocka_unit_test(test_counts_bad_spans),
		cmocka_unit_test(test_every_cut_is_broken),
		cmocka_unit_test(test_broken_lines),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_survives_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
