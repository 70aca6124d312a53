/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/vectors.h"

static void trace_ids_are_the_golden_ones(void **state)
{
	json_object *file = vectors_load("identity.json"), *cases;
	size_t count = vectors_array(file, "trace", &cases);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		json_object *entry = json_object_array_get_idx(cases, i);
		uint32_t job = (uint32_t)json_object_get_int64(vectors_get(entry, "job"));
		uint32_t attempt = (uint32_t)json_object_get_int64(vectors_get(entry, "attempt"));
		struct lens_trace_id id;
		char hex[LENS_TRACE_HEX];

		assert_int_equal(lens_trace_id_derive(&id, vectors_string(entry, "realm"),
						      vectors_string(entry, "cluster"), job,
						      attempt),
				 0);
		lens_trace_id_hex(hex, &id);
		assert_string_equal(hex, vectors_string(entry, "id"));
	}
	json_object_put(file);
}

static void span_ids_are_the_golden_ones(void **state)
{
	json_object *file = vectors_load("identity.json"), *cases;
	size_t count = vectors_array(file, "span", &cases);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		json_object *entry = json_object_array_get_idx(cases, i);
		struct lens_trace_id trace;
		struct lens_span_id id;
		char hex[LENS_SPAN_HEX];

		assert_int_equal(lens_trace_id_parse(&trace, vectors_string(entry, "trace")), 0);
		assert_int_equal(lens_span_id_derive(&id, &trace, vectors_string(entry, "name"),
						     vectors_string(entry, "place")),
				 0);
		lens_span_id_hex(hex, &id);
		assert_string_equal(hex, vectors_string(entry, "id"));
	}
	json_object_put(file);
}

static void a_missing_name_is_an_empty_one(void **state)
{
	struct lens_trace_id missing, empty;

	(void)state;
	assert_int_equal(lens_trace_id_derive(&missing, NULL, NULL, 7, 0), 0);
	assert_int_equal(lens_trace_id_derive(&empty, "", "", 7, 0), 0);
	assert_memory_equal(&missing, &empty, sizeof(empty));
}

static void parts_are_joined_without_doubt(void **state)
{
	struct lens_trace_id one, two;
	struct lens_span_id left, right;

	(void)state;
	assert_int_equal(lens_trace_id_derive(&one, "a", "bc", 1, 23), 0);
	assert_int_equal(lens_trace_id_derive(&two, "ab", "c", 1, 23), 0);
	assert_memory_not_equal(&one, &two, sizeof(one));
	assert_int_equal(lens_trace_id_derive(&two, "a", "bc", 12, 3), 0);
	assert_memory_not_equal(&one, &two, sizeof(one));
	assert_int_equal(lens_span_id_derive(&left, &one, "slurm.step", "10"), 0);
	assert_int_equal(lens_span_id_derive(&right, &one, "slurm.step1", "0"), 0);
	assert_memory_not_equal(&left, &right, sizeof(left));
}

/* A sampler keeps a trace whose low 64 bits are below ratio x 2^64. */
static void ratio_samplers_keep_their_share(void **state)
{
	static const double ratios[] = { 0.1, 0.25, 0.5, 0.75 };
	size_t kept[4] = { 0 };
	const unsigned int jobs = 20000;

	(void)state;
	for (unsigned int job = 1; job <= jobs; job++) {
		struct lens_trace_id id;
		uint64_t low = 0;

		assert_int_equal(lens_trace_id_derive(&id, "", "mini", job, 0), 0);
		for (size_t i = 8; i < 16; i++)
			low = low << 8 | id.bytes[i];
		for (size_t i = 0; i < 4; i++)
			kept[i] += (double)low < ratios[i] * 18446744073709551616.0;
	}
	for (size_t i = 0; i < 4; i++) {
		double share = (double)kept[i] / jobs;

		assert_true(share > ratios[i] - 0.02 && share < ratios[i] + 0.02);
	}
}

static int compare_spans(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct lens_span_id));
}

static void no_two_tasks_share_a_span_id(void **state)
{
	static struct lens_span_id ids[4 * 64];
	const size_t count = sizeof(ids) / sizeof(ids[0]);
	struct lens_trace_id trace;
	char place[32];

	(void)state;
	assert_int_equal(lens_trace_id_derive(&trace, "", "mini", 12345, 0), 0);
	for (unsigned int i = 0; i < count; i++) {
		snprintf(place, sizeof(place), "%u/%u", i / 64, i % 64);
		assert_int_equal(lens_span_id_derive(&ids[i], &trace, "slurm.task", place), 0);
	}
	qsort(ids, count, sizeof(ids[0]), compare_spans);
	for (size_t i = 1; i < count; i++)
		assert_memory_not_equal(&ids[i - 1], &ids[i], sizeof(ids[0]));
}

static void ids_are_read_strictly(void **state)
{
	static const char *const bad_traces[] = {
		"",
		"596be2a5d217a7f5994b1f830961523",
		"596be2a5d217a7f5994b1f83096152390",
		"596BE2A5D217A7F5994B1F8309615239",
		"596be2a5d217a7f5994b1f830961523g",
		"00000000000000000000000000000000",
		" 96be2a5d217a7f5994b1f8309615239",
	};
	static const char *const bad_spans[] = { "", "49dde0fce57ce76", "49dde0fce57ce7644",
						 "49DDE0FCE57CE764", "0000000000000000" };
	struct lens_trace_id trace = { { 7 } };
	struct lens_span_id span = { { 7 } };
	char hex[LENS_TRACE_HEX];

	(void)state;
	for (size_t i = 0; i < sizeof(bad_traces) / sizeof(bad_traces[0]); i++)
		assert_int_equal(lens_trace_id_parse(&trace, bad_traces[i]), -1);
	for (size_t i = 0; i < sizeof(bad_spans) / sizeof(bad_spans[0]); i++)
		assert_int_equal(lens_span_id_parse(&span, bad_spans[i]), -1);
	assert_int_equal(lens_trace_id_parse(&trace, NULL), -1);
	assert_int_equal(lens_span_id_parse(&span, NULL), -1);
	assert_int_equal(trace.bytes[0], 7);
	assert_int_equal(span.bytes[0], 7);
	assert_int_equal(lens_trace_id_parse(&trace, "00000000000000000000000000000001"), 0);
	lens_trace_id_hex(hex, &trace);
	assert_string_equal(hex, "00000000000000000000000000000001");
	assert_int_equal(lens_span_id_parse(&span, "1234567890123456"), 0);
	lens_span_id_hex(hex, &span);
	assert_string_equal(hex, "1234567890123456");
}

static const char *variable(json_object *env, const char *name)
{
	json_object *value = NULL;

	return json_object_object_get_ex(env, name, &value) ? json_object_get_string(value) : NULL;
}

static void uuids_are_the_published_ones(void **state)
{
	json_object *file = vectors_load("slurm.json"), *cases;
	size_t count = vectors_array(file, NULL, &cases);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		json_object *entry = json_object_array_get_idx(cases, i);
		json_object *env = vectors_get(entry, "env");
		const struct lens_uuid_source source = {
			.cluster = variable(env, "SLURM_CLUSTER_NAME"),
			.job_id = variable(env, "SLURM_JOB_ID"),
			.array_job_id = variable(env, "SLURM_ARRAY_JOB_ID"),
			.array_task_id = variable(env, "SLURM_ARRAY_TASK_ID"),
			.restart_count = variable(env, "SLURM_RESTART_COUNT"),
			.torchelastic_restart_count = variable(env, "TORCHELASTIC_RESTART_COUNT"),
			.run_id = variable(env, "TORCHELASTIC_RUN_ID"),
		};
		const char *run = vectors_string(entry, "run_uuid");
		char uuid[LENS_UUID_TEXT];

		assert_int_equal(lens_job_uuid_derive(uuid, &source), 0);
		assert_string_equal(uuid, vectors_string(entry, "job_uuid"));
		assert_int_equal(lens_run_uuid_derive(uuid, &source), run ? 0 : -1);
		if (run)
			assert_string_equal(uuid, run);
	}
	json_object_put(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trace_ids_are_the_golden_ones),
		cmocka_unit_test(span_ids_are_the_golden_ones),
		cmocka_unit_test(a_missing_name_is_an_empty_one),
		cmocka_unit_test(parts_are_joined_without_doubt),
		cmocka_unit_test(ratio_samplers_keep_their_share),
		cmocka_unit_test(no_two_tasks_share_a_span_id),
		cmocka_unit_test(ids_are_read_strictly),
		cmocka_unit_test(uuids_are_the_published_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
