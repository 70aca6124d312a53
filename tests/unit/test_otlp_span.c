/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/arena.h"
#include "lib/otlp/model.h"
#include "tests/unit/otlp_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

static void test_counts_and_order(void **state)
{
	struct lens_batch *batch = sample_full();
	const struct lens_group *group = batch->groups;

	(void)state;
	assert_false(lens_batch_failed(batch));
	assert_int_equal(lens_batch_span_count(batch), 2);
	assert_int_equal(group->span_count, 2);
	assert_string_equal(group->spans->next->name, "child");
	assert_null(group->spans->next->next);
	assert_int_equal(group->next->span_count, 0);
	assert_null(group->next->next);
	lens_batch_destroy(batch);
}

/* A second value takes the place of the first, whatever the kinds. */
static void test_attribute_again_replaces(void **state)
{
	struct lens_batch *batch = lens_batch_create("s", "1");
	struct lens_attributes *attributes = lens_group_resource(lens_batch_add_group(batch));

	(void)state;
	lens_attributes_string(attributes, "a", "one");
	lens_attributes_int(attributes, "b", 2);
	lens_attributes_bool(attributes, "a", true);
	lens_attributes_string(attributes, "b", NULL);
	assert_int_equal(attributes->count, 2);
	assert_string_equal(attributes->first->key, "a");
	assert_int_equal(attributes->first->value.kind, LENS_VALUE_BOOL);
	assert_true(attributes->first->value.boolean);
	assert_int_equal(attributes->first->next->value.integer, 2);
	lens_batch_destroy(batch);
}

static void test_batch_owns_its_strings(void **state)
{
	struct lens_batch *batch = lens_batch_create("s", "1");
	struct lens_attributes *attributes = lens_group_resource(lens_batch_add_group(batch));
	char key[] = "key", value[] = "value";

	(void)state;
	lens_attributes_string(attributes, key, value);
	key[0] = value[0] = 'X';
	assert_string_equal(attributes->first->key, "key");
	assert_string_equal(attributes->first->value.string, "value");
	lens_batch_destroy(batch);
}

static void window_check(int64_t start, int64_t end, uint64_t want_start, uint64_t want_end)
{
	struct lens_batch *batch = sample_small();
	struct lens_span *span = batch->groups->spans;

	lens_span_set_window(span, start, end);
	assert_true(span->start_ns == want_start);
	assert_true(span->end_ns == want_end);
	lens_batch_destroy(batch);
}

static void test_windows_are_never_negative(void **state)
{
	(void)state;
	window_check(5, 9, 5, 9);
	window_check(9, 5, 9, 9);
	window_check(-5, 5, 0, 5);
	window_check(-9, -5, 0, 0);
	window_check(INT64_MAX, INT64_MIN, INT64_MAX, INT64_MAX);
}

static void test_nothing_is_taken_everywhere(void **state)
{
	const struct lens_trace_id trace = sample_trace(1);
	const struct lens_span_id id = sample_span(1);

	(void)state;
	lens_batch_destroy(NULL);
	assert_null(lens_batch_add_group(NULL));
	assert_null(lens_group_resource(NULL));
	assert_null(lens_group_add_span(NULL, &trace, &id, "x"));
	assert_null(lens_span_attributes(NULL));
	assert_null(lens_span_add_link(NULL, &trace, &id));
	lens_span_set_parent(NULL, &id);
	lens_span_set_window(NULL, 1, 2);
	lens_span_set_error(NULL, "x");
	lens_attributes_string(NULL, "k", "v");
	lens_attributes_int(NULL, "k", 1);
	lens_attributes_strings(NULL, "k", NULL, 0);
	assert_true(lens_batch_failed(NULL));
	assert_int_equal(lens_batch_span_count(NULL), 0);
}

/* An allocation that cannot be met fails the batch, and what came before stays. */
static void test_out_of_memory_is_remembered(void **state)
{
	const char *const value = "v";
	struct lens_batch *batch = sample_small();
	struct lens_attributes *attributes = lens_group_resource(batch->groups);

	(void)state;
	assert_false(lens_batch_failed(batch));
	lens_attributes_strings(attributes, "huge", &value, SIZE_MAX / 2);
	assert_true(lens_batch_failed(batch));
	assert_int_equal(attributes->count, 1);
	lens_attributes_int(attributes, "after", 1);
	assert_true(lens_batch_failed(batch));
	lens_batch_destroy(batch);
}

static void test_arena_is_zeroed_and_aligned(void **state)
{
	struct lens_arena *arena = lens_arena_create();

	(void)state;
	for (size_t i = 0; i < 3000; i++) {
		size_t size = i % 97 == 0 ? 20000 + i : i % 33;
		unsigned char *bytes = lens_arena_alloc(arena, size, 1);

		assert_non_null(bytes);
		assert_int_equal((uintptr_t)bytes % sizeof(void *), 0);
		for (size_t j = 0; j < size; j++)
			assert_int_equal(bytes[j], 0);
		memset(bytes, 0xff, size ? size : 1);
	}
	assert_false(lens_arena_failed(arena));
	assert_null(lens_arena_alloc(arena, SIZE_MAX, 2));
	assert_true(lens_arena_failed(arena));
	lens_arena_destroy(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_and_order),
		cmocka_unit_test(test_attribute_again_replaces),
		cmocka_unit_test(test_batch_owns_its_strings),
		cmocka_unit_test(test_windows_are_never_negative),
		cmocka_unit_test(test_nothing_is_taken_everywhere),
		cmocka_unit_test(test_out_of_memory_is_remembered),
		cmocka_unit_test(test_arena_is_zeroed_and_aligned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
