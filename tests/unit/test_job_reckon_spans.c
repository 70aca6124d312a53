/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/reckon.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>

#include "tests/unit/reckon_sample.h"

/* The spans of attempts, from what three releases of sacct printed of the same jobs. */

static const char *const releases[] = { "22.05", "24.11", "26.05" };
#define RELEASES (sizeof(releases) / sizeof(releases[0]))

#define HEADER \
	"JobIDRaw|JobID|Cluster|User|JobName|State|ExitCode|Submit|Eligible|Start|End|NodeList\n"

static struct json_object *spans_of(const char *release, uint32_t job, size_t nth)
{
	struct reckon_sample sample = reckon_sample_file(release, &reckon_all_kept);
	struct json_object *groups = reckon_sample_spans(reckon_sample_attempt(&sample, job, nth));

	reckon_sample_clear(&sample);
	return groups;
}

static void id_is(struct json_object *span, uint32_t job, uint32_t attempt, const char *name,
		  const char *place)
{
	char hex[LENS_TRACE_HEX];
	struct lens_trace_id trace;
	struct lens_span_id id;

	assert_non_null(span);
	assert_int_equal(lens_trace_id_derive(&trace, "", "mini", job, attempt), 0);
	lens_trace_id_hex(hex, &trace);
	assert_string_equal(sample_field(span, "traceId"), hex);
	assert_int_equal(lens_span_id_derive(&id, &trace, name, place), 0);
	lens_span_id_hex(hex, &id);
	assert_string_equal(sample_field(span, "spanId"), hex);
}

static void names_and_ids_are_the_plugins(void **state)
{
	(void)state;
	for (size_t i = 0; i < RELEASES; i++) {
		struct json_object *groups = spans_of(releases[i], 4, 1);
		struct json_object *root = sample_span(groups, "slurm.job_attempt", 0);
		struct json_object *job = sample_span(groups, "slurm.job", 0);
		struct json_object *links = json_object_object_get(root, "links");

		id_is(root, 4, 1, "slurm.job_attempt", "");
		id_is(job, 4, 1, "slurm.job", "4");
		id_is(sample_span(groups, "slurm.inter_attempt_gap", 0), 4, 1,
		      "slurm.inter_attempt_gap", "");
		id_is(sample_span(groups, "slurm.phase.deferred", 0), 4, 1, "slurm.phase.deferred",
		      "");
		id_is(sample_span(groups, "slurm.phase.queued", 0), 4, 1, "slurm.phase.queued", "");
		id_is(sample_span(groups, "slurm.job_start", 0), 4, 1, "slurm.job_start", "");
		id_is(sample_span(groups, "slurm.job_setup", 0), 4, 1, "slurm.job_setup", "4");
		id_is(sample_span(groups, "slurm.job_teardown", 0), 4, 1, "slurm.job_teardown",
		      "4");
		id_is(sample_span(groups, "slurm.batch", 0), 4, 1, "slurm.batch", "4");
		id_is(sample_span(groups, "slurm.step", 0), 4, 1, "slurm.step", "0");
		assert_string_equal(
			sample_field(sample_span(groups, "slurm.step", 0), "parentSpanId"),
			sample_field(job, "spanId"));
		assert_string_equal(sample_field(job, "parentSpanId"),
				    sample_field(root, "spanId"));
		assert_int_equal(json_object_array_length(links), 1);
		assert_string_equal(sample_attribute(root, "slurm.source"), "sacct");
		assert_string_equal(sample_attribute(root, "slurm.confidence"),
				    i == 0 ? "synthesized" : "factual");
		assert_string_equal(sample_attribute(root, "slurm.state"), "COMPLETED");
		/* Why it waited last is not why it ended. */
		assert_string_equal(sample_attribute(root, "slurm.reason"), "");
		assert_string_equal(sample_resource(groups, "slurm.job.name"), "requeued");
		assert_string_equal(sample_resource(groups, "slurm.job.user"), "www-data");
		assert_string_equal(sample_resource(groups, "slurm.restart_count"), "int:1");
		assert_string_equal(sample_resource(groups, "service.instance.id"), "mini/n1");
		json_object_put(groups);
	}
}

static void an_attempt_that_is_requeued_is_no_error(void **state)
{
	(void)state;
	for (size_t i = 0; i < RELEASES; i++) {
		static const struct {
			uint32_t job;
			const char *state;
		} cases[] = { { 4, "REQUEUED" }, { 18, "NODE_FAIL" } };

		for (size_t k = 0; k < 2; k++) {
			struct json_object *groups = spans_of(releases[i], cases[k].job, 0);
			struct json_object *job = sample_span(groups, "slurm.job", 0);

			assert_string_equal(sample_attribute(job, "slurm.state"), cases[k].state);
			assert_int_equal(sample_status(job), 0);
			assert_string_equal(sample_attribute(job, "slurm.exit_code"), "");
			assert_null(sample_span(groups, "slurm.inter_attempt_gap", 0));
			assert_int_equal(sample_status(sample_span(groups, "slurm.step", 0)), 2);
			json_object_put(groups);
		}
	}
}

static void failures(void **state)
{
	(void)state;
	for (size_t i = 0; i < RELEASES; i++) {
		struct json_object *groups = spans_of(releases[i], 3, 0);
		struct json_object *batch = sample_span(groups, "slurm.batch", 0);
		struct json_object *job;

		assert_string_equal(sample_attribute(batch, "slurm.exit_code"), "4:0");
		assert_string_equal(sample_attribute(batch, "process.exit.code"), "int:4");
		assert_string_equal(sample_attribute(batch, "error.type"), "exit_4");
		assert_string_equal(
			sample_attribute(sample_span(groups, "slurm.step", 0), "error.type"),
			"exit_1");
		assert_string_equal(
			sample_attribute(sample_span(groups, "slurm.job", 0), "error.type"),
			"failed");
		json_object_put(groups);

		groups = spans_of(releases[i], 5, 0);
		job = sample_span(groups, "slurm.job", 0);
		assert_string_equal(sample_attribute(job, "slurm.state"), "CANCELLED");
		assert_string_equal(sample_attribute(job, "slurm.cancelled_by"), "33");
		assert_string_equal(sample_attribute(job, "error.type"), "cancelled");
		assert_string_equal(sample_attribute(job, "slurm.exit_code"), "");
		assert_string_equal(
			sample_attribute(sample_span(groups, "slurm.step", 0), "error.type"),
			"SIGTERM");
		json_object_put(groups);

		groups = spans_of(releases[i], 1, 0);
		job = sample_span(groups, "slurm.job", 0);
		assert_string_equal(sample_attribute(job, "slurm.state"), "TIMEOUT");
		assert_string_equal(sample_attribute(job, "error.type"), "timeout");
		json_object_put(groups);
	}
}

static void out_of_memory_is_no_signal(void **state)
{
	struct reckon_sample sample = reckon_sample_text(
		HEADER "7|7|mini|ml|big|OUT_OF_MEMORY|0:125|10|10|10|20|n1\n"
		       "7.0|7.0|mini|ml|big|OUT_OF_MEMORY|0:125|10|10|10|20|n1\n",
		&reckon_all_kept);
	struct json_object *groups = reckon_sample_spans(reckon_sample_attempt(&sample, 7, 0));
	struct json_object *step = sample_span(groups, "slurm.step", 0);

	(void)state;
	assert_string_equal(sample_attribute(step, "error.type"), "out_of_memory");
	assert_int_equal(sample_status(step), 2);
	json_object_put(groups);
	reckon_sample_clear(&sample);
}

static void cancelled_in_the_queue(void **state)
{
	(void)state;
	for (size_t i = 0; i < RELEASES; i++) {
		struct json_object *groups = spans_of(releases[i], 6, 0);
		struct json_object *root = sample_span(groups, "slurm.job_attempt", 0);

		id_is(root, 6, 0, "slurm.job_attempt", "");
		assert_int_equal(sample_count(groups), 3);
		assert_int_equal(sample_status(root), 2);
		assert_string_equal(sample_attribute(root, "slurm.nodelist"), "");
		/* It was held: never eligible. */
		assert_string_equal(sample_field(sample_span(groups, "slurm.phase.deferred", 0),
						 "endTimeUnixNano"),
				    sample_field(root, "endTimeUnixNano"));
		assert_non_null(sample_span(groups, "slurm.phase.queued", 0));
		json_object_put(groups);
	}
}

static void steps_and_the_gaps_between(void **state)
{
	struct json_object *groups = spans_of("22.05", 15, 0);
	struct json_object *gap = sample_span(groups, "slurm.inter_step_gap", 0);

	(void)state;
	/* Started at 69170; steps at 72 to 73, 75 to 77 and 75 to 76 at once, 79 to 80. */
	id_is(gap, 15, 0, "slurm.inter_step_gap", "15/0");
	assert_window(gap, "1796069173000000000", "1796069175000000000");
	assert_string_equal(sample_attribute(gap, "slurm.step_gap_index"), "int:0");
	gap = sample_span(groups, "slurm.inter_step_gap", 1);
	id_is(gap, 15, 0, "slurm.inter_step_gap", "15/1");
	assert_window(gap, "1796069177000000000", "1796069179000000000");
	assert_null(sample_span(groups, "slurm.inter_step_gap", 2));
	assert_window(sample_span(groups, "slurm.job_setup", 0), "1796069170000000000",
		      "1796069172000000000");
	assert_string_equal(
		sample_attribute(sample_span(groups, "slurm.job", 0), "slurm.step_count"), "int:4");
	for (size_t i = 0; i < 4; i++) {
		struct json_object *step = sample_span(groups, "slurm.step", i);
		char index[16];

		snprintf(index, sizeof(index), "int:%zu", i);
		assert_string_equal(sample_attribute(step, "slurm.step_index"), index);
		assert_string_equal(sample_attribute(step, "slurm.step.role"), "workload");
		assert_string_equal(sample_attribute(step, "slurm.node.name"), "n1");
		assert_int_equal(sample_status(step), i == 3 ? 2 : 0);
	}
	assert_string_equal(
		sample_attribute(sample_span(groups, "slurm.step", 2), "slurm.nodelist"), "n1");
	json_object_put(groups);
}

static void components_share_steps(void **state)
{
	(void)state;
	for (size_t i = 0; i < RELEASES; i++) {
		struct json_object *groups = spans_of(releases[i], 13, 0);
		struct json_object *step = sample_span(groups, "slurm.step", 0);

		id_is(step, 13, 0, "slurm.step", "0");
		assert_string_equal(sample_attribute(step, "slurm.step.tasks"), "int:3");
		id_is(sample_span(groups, "slurm.step", 1), 13, 0, "slurm.step", "2");
		assert_null(sample_span(groups, "slurm.step", 2));
		json_object_put(groups);

		groups = spans_of(releases[i], 14, 0);
		assert_null(sample_span(groups, "slurm.job_attempt", 0));
		assert_null(sample_span(groups, "slurm.phase.queued", 0));
		id_is(sample_span(groups, "slurm.job", 0), 13, 0, "slurm.job", "14");
		step = sample_span(groups, "slurm.step", 0);
		id_is(step, 13, 0, "slurm.step", "1");
		assert_string_equal(sample_field(step, "parentSpanId"),
				    sample_field(sample_span(groups, "slurm.job", 0), "spanId"));
		assert_null(sample_span(groups, "slurm.step", 1));
		json_object_put(groups);
	}
}

static void elements_are_their_own_jobs(void **state)
{
	(void)state;
	for (size_t i = 0; i < RELEASES; i++) {
		static const uint32_t raw[RELEASES] = { 10, 10, 11 };
		struct json_object *groups = spans_of(releases[i], raw[i], 0);
		char text[16];

		id_is(sample_span(groups, "slurm.job_attempt", 0), raw[i], 0, "slurm.job_attempt",
		      "");
		snprintf(text, sizeof(text), "%" PRIu32, raw[i]);
		assert_string_equal(sample_resource(groups, "slurm.job.id"), "8_1");
		assert_string_equal(sample_resource(groups, "slurm.job.id.raw"), text);
		assert_string_equal(sample_resource(groups, "slurm.array.task_id"), "1");
		json_object_put(groups);
	}
}

static void suspended_seconds_are_told(void **state)
{
	struct json_object *groups = spans_of("22.05", 19, 0);

	(void)state;
	assert_string_equal(
		sample_attribute(sample_span(groups, "slurm.job", 0), "slurm.suspended_seconds"),
		"int:3");
	json_object_put(groups);
}

static void nothing_ran(void **state)
{
	struct json_object *groups = spans_of("26.05", 17, 0);

	(void)state;
	assert_null(sample_span(groups, "slurm.job_setup", 0));
	assert_null(sample_span(groups, "slurm.job_teardown", 0));
	assert_string_equal(
		sample_attribute(sample_span(groups, "slurm.job", 0), "slurm.step_count"), "int:0");
	json_object_put(groups);
}

static void a_running_job_has_what_is_complete(void **state)
{
	struct reckon_sample sample = reckon_sample_text(
		HEADER "7|7|mini|ml|a|RUNNING|0:0|10|10|12|Unknown|n1\n"
		       "7.batch|7.batch|mini||batch|RUNNING|0:0|12|12|12|Unknown|n1\n"
		       "7.0|7.0|mini||a|COMPLETED|0:0|13|13|13|14|n1\n"
		       "7.1|7.1|mini||a|COMPLETED|0:0|16|16|16|17|n1\n"
		       "7.2|7.2|mini||a|RUNNING|0:0|17|17|17|Unknown|n1\n",
		&reckon_all_kept);
	struct json_object *groups = reckon_sample_spans(reckon_sample_attempt(&sample, 7, 0));

	(void)state;
	assert_non_null(sample_span(groups, "slurm.phase.queued", 0));
	assert_non_null(sample_span(groups, "slurm.step", 1));
	assert_null(sample_span(groups, "slurm.step", 2));
	assert_null(sample_span(groups, "slurm.job", 0));
	assert_null(sample_span(groups, "slurm.job_attempt", 0));
	assert_null(sample_span(groups, "slurm.batch", 0));
	assert_null(sample_span(groups, "slurm.inter_step_gap", 0));
	json_object_put(groups);
	reckon_sample_clear(&sample);
}

/* The node died: nobody told when its step ended. */
static void a_step_without_an_end_is_truncated(void **state)
{
	struct reckon_sample sample =
		reckon_sample_text(HEADER "7|7|mini|ml|a|NODE_FAIL|0:0|10|10|12|30|n1\n"
					  "7.0|7.0|mini||a|RUNNING|0:0|13|13|13|Unknown|n1\n",
				   &reckon_all_kept);
	struct json_object *groups = reckon_sample_spans(reckon_sample_attempt(&sample, 7, 0));
	struct json_object *step = sample_span(groups, "slurm.step", 0);

	(void)state;
	assert_window(step, "13000000000", "30000000000");
	assert_string_equal(sample_attribute(step, "nemo.span.truncated"), "true");
	assert_string_equal(sample_attribute(step, "slurm.state"), "");
	assert_string_equal(sample_attribute(sample_span(groups, "slurm.job", 0), "error.type"),
			    "node_fail");
	json_object_put(groups);
	reckon_sample_clear(&sample);
}

static void pages_are_the_whole(void **state)
{
	struct reckon_sample sample = reckon_sample_file("24.11", &reckon_all_kept);
	const struct lens_reckon_attempt *attempt = reckon_sample_attempt(&sample, 15, 0);
	struct json_object *whole = reckon_sample_spans(attempt);
	struct json_object *all =
		sample_spans(json_object_array_get_idx(whole, json_object_array_length(whole) - 1));
	size_t found = 0;

	(void)state;
	assert_int_equal(attempt->step_count, 5);
	for (size_t first = 0; first < attempt->step_count; first += 2) {
		struct lens_batch *batch = lens_batch_create("slurm-lens", "9.9");
		int count = lens_reckon_step_spans_add(batch, &sample_site, attempt, first, 2);
		struct json_object *groups = sample_groups(batch);
		struct json_object *page = sample_spans(json_object_array_get_idx(groups, 0));

		assert_int_equal(json_object_array_length(page), count);
		for (size_t i = 0; i < json_object_array_length(page); i++, found++)
			assert_string_equal(
				json_object_to_json_string(json_object_array_get_idx(page, i)),
				json_object_to_json_string(json_object_array_get_idx(all, found)));
		json_object_put(groups);
		lens_batch_destroy(batch);
	}
	assert_int_equal(found, 7); /* the script, four steps, two gaps */
	assert_int_equal(json_object_array_length(all), 7);
	json_object_put(whole);
	reckon_sample_clear(&sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_ids_are_the_plugins),
		cmocka_unit_test(an_attempt_that_is_requeued_is_no_error),
		cmocka_unit_test(failures),
		cmocka_unit_test(out_of_memory_is_no_signal),
		cmocka_unit_test(cancelled_in_the_queue),
		cmocka_unit_test(steps_and_the_gaps_between),
		cmocka_unit_test(components_share_steps),
		cmocka_unit_test(elements_are_their_own_jobs),
		cmocka_unit_test(suspended_seconds_are_told),
		cmocka_unit_test(nothing_ran),
		cmocka_unit_test(a_running_job_has_what_is_complete),
		cmocka_unit_test(a_step_without_an_end_is_truncated),
		cmocka_unit_test(pages_are_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
