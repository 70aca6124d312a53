/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/read_sample.h"

static void test_keeps_all_of_a_span(void **state)
{
	struct lens_kept *kept = lens_kept_create();
	const struct lens_kept_span *span;

	(void)state;
	sample_add(kept,
		   sample_line(1, 2, "a", 1, 3, SAMPLE_INT("n", "5"),
			       ",\"status\":{\"code\":2,\"message\":\"why\"},\"links\":[{},"
			       "{\"traceId\":\"" SAMPLE_TRACE
			       "\",\"spanId\":\"00000000000000bb\"}],"
			       "\"events\":[{\"timeUnixNano\":\"1002000000000\",\"name\":\"e\","
			       "\"attributes\":[" SAMPLE_INT("k", "1") "]},{\"name\":\"f\"}]",
			       SAMPLE_STRING("service.name", "x")));
	assert_int_equal(lens_kept_count(kept), 1);
	span = lens_kept_at(kept, 0);
	assert_string_equal(span->name, "a");
	assert_string_equal(span->message, "why");
	assert_string_equal(span->scope, "slurm-lens");
	assert_int_equal(span->status, LENS_STATUS_ERROR);
	assert_true(span->has_parent);
	assert_int_equal(span->end_ns - span->start_ns, 2000000000);
	assert_string_equal(lens_kept_text(&span->attributes, "n"), "5");
	assert_null(lens_kept_text(&span->attributes, "m"));
	assert_string_equal(lens_kept_text(&span->resource->attributes, "service.name"), "x");
	assert_int_equal(span->link_count, 1); /* {} is none */
	assert_int_equal(span->links[0].span.bytes[7], 0xbb);
	assert_int_equal(span->event_count, 2);
	assert_int_equal(span->events[0].time_ns, 1002000000000);
	assert_string_equal(lens_kept_text(&span->events[0].attributes, "k"), "1");
	assert_int_equal(span->events[1].time_ns, span->start_ns);
	lens_kept_destroy(kept);
}

/* Sent again: shown once. One of the same id in another trace is another span. */
static void test_a_span_once(void **state)
{
	struct lens_kept *kept = lens_kept_create();
	char other[4096];

	(void)state;
	sample_add(kept, sample_line(1, 0, "first", 0, 1, "", "", ""));
	sample_add(kept, sample_line(1, 0, "again", 0, 2, "", "", ""));
	sample_add(kept, sample_line(2, 0, "second", 0, 1, "", "", ""));
	strcpy(other, sample_line(1, 0, "elsewhere", 0, 1, "", "", ""));
	memcpy(strstr(other, SAMPLE_TRACE), "ff", 2);
	sample_add(kept, other);
	assert_int_equal(lens_kept_count(kept), 3);
	assert_string_equal(lens_kept_at(kept, 0)->name, "first");
	assert_string_equal(lens_kept_at(kept, 1)->name, "second");
	assert_string_equal(lens_kept_at(kept, 2)->name, "elsewhere");
	lens_kept_destroy(kept);
}

/* Equal resources are one, so that memory goes with the spans. */
static void test_resources_are_shared(void **state)
{
	struct lens_kept *kept = lens_kept_create();

	(void)state;
	for (unsigned int i = 1; i <= 30; i++)
		sample_add(kept, sample_line(i, 0, "s", 0, 1, "", "",
					     i % 3 == 0   ? SAMPLE_STRING("service.name", "a")
					     : i % 3 == 1 ? SAMPLE_STRING("service.name", "b")
							  : ""));
	for (unsigned int i = 0; i < 30; i++)
		assert_ptr_equal(lens_kept_at(kept, i)->resource,
				 lens_kept_at(kept, i % 3)->resource);
	assert_int_equal(lens_kept_at(kept, 0)->resource->number, 0);
	assert_int_equal(lens_kept_at(kept, 1)->resource->number, 1);
	assert_int_equal(lens_kept_at(kept, 2)->resource->number, 2);
	assert_int_equal(lens_kept_at(kept, 1)->resource->attributes.count, 0);
	lens_kept_destroy(kept);
	lens_kept_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keeps_all_of_a_span),
		cmocka_unit_test(test_a_span_once),
		cmocka_unit_test(test_resources_are_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
