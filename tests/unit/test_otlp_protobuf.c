/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/protobuf.h"
#include "tests/unit/otlp_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

/*
 * A reader of the wire format (protobuf documentation, Encoding) that shares nothing with
 * protobuf-c or trace.proto: a wrong number or type of a field fails here.
 */
enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct view {
	const uint8_t *bytes;
	size_t length;
};

static uint64_t take_varint(struct view *view)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint8_t byte;

		assert_true(view->length > 0);
		byte = *view->bytes++;
		view->length--;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	fail_msg("a varint without an end");
	return 0;
}

static uint64_t take_fixed(struct view *view, size_t length)
{
	uint64_t value = 0;

	assert_true(view->length >= length);
	for (size_t i = 0; i < length; i++)
		value |= (uint64_t)view->bytes[i] << (8 * i);
	view->bytes += length;
	view->length -= length;
	return value;
}

struct field {
	uint64_t number;
	enum wire_type type;
	uint64_t value;    /* all but WIRE_BYTES */
	struct view inner; /* WIRE_BYTES */
};

static struct field take_field(struct view *view)
{
	uint64_t tag = take_varint(view);
	struct field field = { .number = tag >> 3, .type = (enum wire_type)(tag & 7) };

	switch (field.type) {
	case WIRE_VARINT:
		field.value = take_varint(view);
		break;
	case WIRE_FIXED64:
		field.value = take_fixed(view, 8);
		break;
	case WIRE_FIXED32:
		field.value = take_fixed(view, 4);
		break;
	case WIRE_BYTES:
		field.inner.length = (size_t)take_varint(view);
		assert_true(field.inner.length <= view->length);
		field.inner.bytes = view->bytes;
		view->bytes += field.inner.length;
		view->length -= field.inner.length;
		break;
	default:
		fail_msg("wire type %d", (int)field.type);
	}
	return field;
}

static size_t field_count(struct view view, uint64_t number)
{
	size_t count = 0;

	while (view.length > 0)
		count += take_field(&view).number == number;
	return count;
}

/* The field NUMBER that INDEX others of that number precede; it must be there, of TYPE. */
static struct field field_at(struct view view, uint64_t number, enum wire_type type, size_t index)
{
	while (view.length > 0) {
		struct field field = take_field(&view);

		if (field.number != number || index-- > 0)
			continue;
		assert_int_equal(field.type, type);
		return field;
	}
	fail_msg("field %d is missing", (int)number);
	return (struct field){ 0 };
}

static struct view inner_at(struct view view, uint64_t number, size_t index)
{
	return field_at(view, number, WIRE_BYTES, index).inner;
}

static void check_text(struct view view, uint64_t number, const char *expected)
{
	struct view text = inner_at(view, number, 0);

	assert_int_equal(text.length, strlen(expected));
	assert_memory_equal(text.bytes, expected, text.length);
}

static void check_fill(struct view view, uint64_t number, uint8_t fill, size_t length)
{
	struct view bytes = inner_at(view, number, 0);

	assert_int_equal(bytes.length, length);
	for (size_t i = 0; i < length; i++)
		assert_int_equal(bytes.bytes[i], fill);
}

static void check_number(struct view view, uint64_t number, enum wire_type type, uint64_t expected)
{
	assert_true(field_at(view, number, type, 0).value == expected);
}

/* The AnyValue of the attribute KEY, which is the one at INDEX of the field NUMBER. */
static struct view attribute_at(struct view view, uint64_t number, size_t index, const char *key)
{
	struct view pair = inner_at(view, number, index);

	check_text(pair, 1, key);
	return inner_at(pair, 2, 0);
}

static struct view encode(struct lens_batch *batch)
{
	struct view view;

	assert_false(lens_batch_failed(batch));
	view.bytes = lens_protobuf_encode(batch, &view.length);
	assert_non_null(view.bytes);
	lens_batch_destroy(batch);
	return view;
}

/* The smallest request there is, byte for byte. */
static void test_small_request_is_exact(void **state)
{
	static const uint8_t expected[] = {
		0x0a, 0x65,             /* resource_spans */
		0x0a, 0x17, 0x0a, 0x15, /* resource, attributes */
		0x0a, 0x0c, 's',  'e',  'r',  'v',  'i',  'c',  'e',  '.',  'n',  'a',
		'm',  'e',  0x12, 0x05, 0x0a, 0x03, 's',  'v',  'c',  0x12, 0x4a, /* scope_spans */
		0x0a, 0x0a, 0x0a, 0x05, 's',  'c',  'o',  'p',  'e',  0x12, 0x01, '1',
		0x12, 0x3c, /* spans */
		0x0a, 0x10, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11,
		0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x12, 0x08, 0x22, 0x22, 0x22, 0x22,
		0x22, 0x22, 0x22, 0x22, 0x2a, 0x04, 'r',  'o',  'o',  't', /* name */
		0x30, 0x01,                                                /* kind */
		0x39, 1,    0,    0,    0,    0,    0,    0,    0,         /* start */
		0x41, 2,    0,    0,    0,    0,    0,    0,    0,         /* end */
		0x85, 0x01, 1,    0,    0,    0,                           /* flags */
	};
	struct view view = encode(sample_small());

	(void)state;
	assert_int_equal(view.length, sizeof(expected));
	assert_memory_equal(view.bytes, expected, sizeof(expected));
	free((void *)view.bytes);
}

static void test_kind_status_and_flags(void **state)
{
	const struct lens_trace_id trace = sample_trace(0x11);
	const struct lens_span_id id = sample_span(0x22);
	struct lens_batch *batch = lens_batch_create("scope", "1");
	struct lens_span *made = lens_group_add_span(lens_batch_add_group(batch), &trace, &id, "s");
	struct view request, span, status;

	(void)state;
	lens_span_set_kind(made, LENS_KIND_PRODUCER);
	lens_span_set_flags(made, 3);
	lens_span_set_ok(made);
	request = encode(batch);
	span = inner_at(inner_at(inner_at(request, 1, 0), 2, 0), 2, 0);
	check_number(span, 6, WIRE_VARINT, 4);
	check_number(span, 16, WIRE_FIXED32, 3);
	status = inner_at(span, 15, 0);
	check_number(status, 3, WIRE_VARINT, 1);
	assert_int_equal(field_count(status, 2), 0);
	free((void *)request.bytes);
}

static void check_values(struct view span)
{
	struct view strings = inner_at(attribute_at(span, 9, 0, "purpose"), 5, 0);

	assert_int_equal(field_count(span, 9), 12);
	assert_int_equal(field_count(strings, 1), 2);
	check_text(inner_at(strings, 1, 0), 1, "goodput");
	check_text(inner_at(strings, 1, 1), 1, "");
	assert_int_equal(inner_at(attribute_at(span, 9, 1, "none"), 5, 0).length, 0);
	check_number(attribute_at(span, 9, 2, "zero"), 3, WIRE_VARINT, 0);
	check_number(attribute_at(span, 9, 3, "least"), 3, WIRE_VARINT, UINT64_C(1) << 63);
	check_number(attribute_at(span, 9, 4, "no"), 2, WIRE_VARINT, 0);
	check_number(attribute_at(span, 9, 5, "yes"), 2, WIRE_VARINT, 1);
	check_number(attribute_at(span, 9, 6, "half"), 4, WIRE_FIXED64,
		     UINT64_C(0x3fe0000000000000));
	check_number(attribute_at(span, 9, 8, "inf"), 4, WIRE_FIXED64,
		     UINT64_C(0xfff0000000000000));
	check_text(attribute_at(span, 9, 9, "blank"), 1, "");
	check_number(attribute_at(span, 9, 10, "twice"), 3, WIRE_VARINT, 2);
	check_text(attribute_at(span, 9, 11, "bad"), 1, "caf\xef\xbf\xbd");
}

static void check_root(struct view span)
{
	struct view link = inner_at(span, 13, 0);

	check_fill(span, 1, 0xab, 16);
	check_fill(span, 2, 0x01, 8);
	assert_int_equal(field_count(span, 4), 0);
	check_text(span, 5, "root \"\\\n\x01 caf\xc3\xa9/");
	check_number(span, 6, WIRE_VARINT, 1);
	check_number(span, 7, WIRE_FIXED64, UINT64_C(1544712660300000001));
	check_number(span, 8, WIRE_FIXED64, UINT64_C(1544712661300000002));
	assert_int_equal(field_count(span, 15), 0);
	check_number(span, 16, WIRE_FIXED32, 1);
	check_values(span);
	assert_int_equal(field_count(span, 13), 1);
	check_fill(link, 1, 0xcd, 16);
	check_fill(link, 2, 0xef, 8);
	check_text(attribute_at(link, 4, 0, "why"), 1, "before");
	check_number(link, 6, WIRE_FIXED32, 1);
}

static void test_every_field_has_its_number(void **state)
{
	struct view request = encode(sample_full());
	struct view group = inner_at(request, 1, 0);
	struct view resource = inner_at(group, 1, 0);
	struct view scope_spans = inner_at(group, 2, 0);
	struct view scope = inner_at(scope_spans, 1, 0);
	struct view child = inner_at(scope_spans, 2, 1);

	(void)state;
	/* The group without spans is not sent. */
	assert_int_equal(field_count(request, 1), 1);
	check_text(attribute_at(resource, 1, 0, "service.name"), 1, "svc");
	check_number(attribute_at(resource, 1, 1, "slots"), 3, WIRE_VARINT, 9007199254740993);
	check_text(scope, 1, "sample-scope");
	check_text(scope, 2, "1.2.3");
	assert_int_equal(field_count(scope_spans, 2), 2);
	check_root(inner_at(scope_spans, 2, 0));
	check_fill(child, 1, 0xab, 16);
	check_fill(child, 2, 0x02, 8);
	check_fill(child, 4, 0x01, 8);
	check_text(inner_at(child, 15, 0), 2, "exit 3");
	check_number(inner_at(child, 15, 0), 3, WIRE_VARINT, 2);
	free((void *)request.bytes);
}

static int parse(struct lens_partial_success *out, const char *bytes, size_t length)
{
	return lens_protobuf_response_parse(out, (const uint8_t *)bytes, length);
}

static void test_responses(void **state)
{
	static const char partial[] = "\x0a\x0a\x08\x03\x12\x06no\nway";
	static const char warning[] = "\x0a\x06\x12\x04hm\xe9\x7f";
	static const char negative[] = "\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
	static const char unknown[] = "\x12\x02hi\x18\x05";
	struct lens_partial_success out = { .rejected = 77 };

	(void)state;
	assert_int_equal(parse(&out, "<html>", 6), -1);
	assert_int_equal(parse(&out, "{}", 2), -1);
	assert_int_equal(parse(&out, partial, sizeof(partial) - 3), -1);
	assert_int_equal(out.rejected, 77);
	assert_int_equal(parse(&out, partial, sizeof(partial) - 1), 0);
	assert_int_equal(out.rejected, 3);
	assert_string_equal(out.message, "no way");
	assert_int_equal(parse(&out, warning, sizeof(warning) - 1), 0);
	assert_int_equal(out.rejected, 0);
	assert_string_equal(out.message, "hm\xef\xbf\xbd ");
	assert_int_equal(parse(&out, negative, sizeof(negative) - 1), 0);
	assert_int_equal(out.rejected, 0);
	assert_int_equal(parse(&out, unknown, sizeof(unknown) - 1), 0);
	assert_int_equal(parse(&out, NULL, 0), 0);
	assert_string_equal(out.message, "");
}

/* A server's long speech is cut between two characters. */
static void test_long_message_is_cut(void **state)
{
	char bytes[512] = "\x0a\xcb\x02\x12\xc8\x02"; /* 331, a message of 328 bytes */
	struct lens_partial_success out;

	(void)state;
	for (size_t i = 0; i < 164; i++)
		memcpy(bytes + 6 + 2 * i, "\xc3\xa9", 2);
	assert_int_equal(parse(&out, bytes, 6 + 328), 0);
	assert_int_equal(strlen(out.message), (sizeof(out.message) - 1) / 2 * 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_request_is_exact),
		cmocka_unit_test(test_kind_status_and_flags),
		cmocka_unit_test(test_every_field_has_its_number),
		cmocka_unit_test(test_responses),
		cmocka_unit_test(test_long_message_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
