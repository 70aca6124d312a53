/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/spans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/attempt_sample.h"

/* Records read as lines, which clang-format would not keep. */
/* clang-format off */

#define ROOT "49dde0fce57ce764"
#define JOB  "38ea49563b258858"

#define NOTE(attempt, more)                                                                        \
	"v=1,t=100500000000,m=1,e=note,job=12345,leader=12345,attempt=" attempt                    \
	",cluster=mini,node=n1,lens=1" more "\n"
#define STARTED(attempt, more)                                                                     \
	"v=1,t=100600000000,m=2,e=answer,when=start,found=1,job=12345,attempt=" attempt            \
	",state=RUNNING,submit=90,eligible=95,start=100,end=3700,nodes=2" more "\n"
#define WINDOW(step, from, to)                                                                     \
	"v=1,t=1,m=1,e=window,step=" step ",from=" from "000000000,to=" to "000000000\n"
#define BATCH "4294967291"
#define EPILOG "v=1,t=120000000000,m=9,e=epilog,attempt=0,first=1,nodes=2,nodelist=n%5B1-2%5D\n"
#define ENDED(attempt, rest)                                                                       \
	"v=1,t=121000000000,m=10,e=answer,when=end,found=1,job=12345,attempt=" attempt "," rest "\n"
#define COMPLETED ENDED("0", "state=COMPLETED,submit=90,eligible=95,start=100,end=120,nodes=2")

static void an_attempt_begins_in_an_instant(void **state)
{
	struct json_object *groups = spans_of(lens_start_spans_add, NOTE("0", "") STARTED("0", ""));
	struct json_object *span = sample_span(groups, "slurm.job_start", 0);

	(void)state;
	assert_window(span, "100000000000", "100000000000");
	assert_string_equal(sample_field(span, "parentSpanId"), ROOT);
	assert_string_equal(sample_attribute(span, "slurm.node.name"), "n1");
	json_object_put(groups);
}

static void setup_ends_with_the_first_step_and_teardown_begins_with_the_last_end(void **state)
{
	struct json_object *groups = spans_of(lens_job_spans_add, NOTE("0", "") STARTED("0", "")
		WINDOW("1", "107", "109") WINDOW("0", "104", "106") WINDOW(BATCH, "101", "115")
		EPILOG COMPLETED);
	struct json_object *setup = sample_span(groups, "slurm.job_setup", 0);
	struct json_object *teardown = sample_span(groups, "slurm.job_teardown", 0);

	(void)state;
	assert_int_equal(sample_count(groups), 4);
	assert_string_equal(sample_field(setup, "spanId"), "fb14d59144e3c626");
	assert_string_equal(sample_field(setup, "parentSpanId"), JOB);
	assert_string_equal(sample_field(teardown, "parentSpanId"), JOB);
	assert_window(setup, "100000000000", "104000000000");
	assert_window(teardown, "115000000000", "120000000000");
	assert_string_equal(sample_attribute(setup, "slurm.node.name"), "n1");
	json_object_put(groups);
}

static void without_a_step_the_script_ends_the_setup(void **state)
{
	struct json_object *groups = spans_of(lens_job_spans_add, NOTE("0", "") STARTED("0", "")
		WINDOW(BATCH, "101", "115") EPILOG COMPLETED);

	(void)state;
	assert_window(sample_span(groups, "slurm.job_setup", 0), "100000000000", "101000000000");
	json_object_put(groups);
	/* The shell of salloc is one too. */
	groups = spans_of(lens_job_spans_add, NOTE("0", "") STARTED("0", "")
		WINDOW("4294967290", "101", "115") WINDOW("0", "103", "104") EPILOG COMPLETED);
	assert_window(sample_span(groups, "slurm.job_setup", 0), "100000000000", "103000000000");
	json_object_put(groups);
	/* Nothing ran here: nothing is known of either. */
	groups = spans_of(lens_job_spans_add, NOTE("0", "") STARTED("0", "") EPILOG COMPLETED);
	assert_int_equal(sample_count(groups), 2);
	json_object_put(groups);
}

/* This node's clock is 30 s behind slurmctld's. */
static void edges_are_never_negative(void **state)
{
	struct json_object *groups = spans_of(lens_job_spans_add, NOTE("0", "") STARTED("0", "")
		WINDOW("0", "71", "89") EPILOG COMPLETED);

	(void)state;
	assert_window(sample_span(groups, "slurm.job_attempt", 0), "71000000000", "120000000000");
	assert_window(sample_span(groups, "slurm.job", 0), "71000000000", "120000000000");
	assert_window(sample_span(groups, "slurm.job_setup", 0), "71000000000", "71000000000");
	assert_window(sample_span(groups, "slurm.job_teardown", 0), "89000000000", "120000000000");
	json_object_put(groups);
}

static void a_truncated_attempt_has_no_teardown(void **state)
{
	struct json_object *groups = spans_of(lens_job_spans_add, NOTE("0", ",first=1")
		STARTED("0", "") WINDOW("0", "101", "108") ENDED("1", "state=PENDING"));

	(void)state;
	assert_int_equal(sample_count(groups), 3);
	assert_null(sample_span(groups, "slurm.job_teardown", 0));
	assert_window(sample_span(groups, "slurm.job", 0), "100000000000", "108000000000");
	assert_string_equal(sample_attribute(sample_span(groups, "slurm.job", 0), "slurm.state"),
			    "REQUEUED");
	assert_string_equal(sample_attribute(sample_span(groups, "slurm.job", 0),
					     "nemo.span.truncated"), "true");
	json_object_put(groups);
}

static void the_extern_steps_end_stands_for_the_epilog(void **state)
{
	struct json_object *groups = spans_of(lens_job_spans_add, NOTE("0", ",journal=1")
		STARTED("0", "") "v=1,t=118000000000,m=9,e=extern,first=1\n"
		ENDED("1", "state=PENDING,submit=118"));
	struct json_object *job = sample_span(groups, "slurm.job", 0);

	(void)state;
	assert_window(job, "100000000000", "118000000000");
	assert_string_equal(sample_attribute(job, "slurm.state"), "REQUEUED");
	assert_string_equal(sample_attribute(job, "slurm.confidence"), "factual");
	assert_string_equal(sample_attribute(job, "nemo.span.truncated"), "");
	json_object_put(groups);
}

static void nodes_and_suspension_are_those_of_the_end(void **state)
{
	struct json_object *groups = spans_of(lens_job_spans_add, NOTE("0", "") STARTED("0", "")
		EPILOG ENDED("0", "state=COMPLETED,start=100,end=120,nodes=1,nodelist=n1,suspended=7"));
	struct json_object *job = sample_span(groups, "slurm.job", 0);

	(void)state;
	assert_string_equal(sample_attribute(job, "slurm.nnodes"), "int:1");
	assert_string_equal(sample_attribute(job, "slurm.nodelist"), "n1");
	assert_string_equal(sample_attribute(job, "slurm.suspended_seconds"), "int:7");
	json_object_put(groups);
}

static void the_first_submission_is_kept_on_the_root(void **state)
{
	struct json_object *groups = spans_of(lens_job_spans_add, NOTE("1", "")
		STARTED("1", ",first_submit=50") EPILOG
		ENDED("1", "state=COMPLETED,submit=90,start=100,end=120"));

	(void)state;
	assert_string_equal(sample_attribute(sample_span(groups, "slurm.job_attempt", 0),
					     "slurm.first_submit"), "int:50");
	assert_string_equal(sample_attribute(sample_span(groups, "slurm.job", 0),
					     "slurm.first_submit"), "");
	json_object_put(groups);
}

/* What came to be known after the start spans were sent does not change them. */
static void start_spans_stay_what_they_were(void **state)
{
	struct json_object *before = spans_of(lens_start_spans_add,
		NOTE("0", "") STARTED("0", ",name=train"));
	struct json_object *after = spans_of(lens_start_spans_add,
		NOTE("0", "") STARTED("0", ",name=train")
		"v=1,t=1,m=1,e=window,step=0,from=90000000000,to=110000000000,resource=team%3Da\n"
		EPILOG ENDED("0", "state=COMPLETED,submit=80,start=100,end=120,name=other"));

	(void)state;
	assert_true(json_object_equal(before, after));
	json_object_put(before);
	json_object_put(after);
	before = spans_of(lens_start_spans_add, NOTE("0", "") STARTED("0", ",resource=team%3Da"));
	assert_string_equal(sample_resource(before, "team"), "a");
	json_object_put(before);
}

static void an_epilog_alone_after_a_requeue_is_the_attempt_before(void **state)
{
	struct lens_records *records;
	struct lens_job_attempt attempt;

	(void)state;
	attempt_of(NOTE("1", ",inferred=1") EPILOG ENDED("1", "state=PENDING,completing=1"),
		   &records, &attempt);
	assert_int_equal(attempt.note.attempt, 0);
	assert_true(lens_job_attempt_requeued(&attempt));
	lens_job_attempt_clear(&attempt);
	lens_records_destroy(records);
	/* The prolog's word is the truth. */
	attempt_of(NOTE("1", "") EPILOG ENDED("1", "state=PENDING,completing=1"), &records,
		   &attempt);
	assert_int_equal(attempt.note.attempt, 1);
	lens_job_attempt_clear(&attempt);
	lens_records_destroy(records);
}

static void a_job_that_ended_on_other_nodes_is_known(void **state)
{
	struct lens_records *records;
	struct lens_job_attempt attempt;

	(void)state;
	attempt_of(NOTE("0", "") EPILOG ENDED("0", "state=COMPLETED,end=120,nodelist=n2"), &records,
		   &attempt);
	assert_true(lens_job_attempt_elsewhere(&attempt));
	lens_job_attempt_clear(&attempt);
	lens_records_destroy(records);
	attempt_of(NOTE("0", "") EPILOG ENDED("0", "state=COMPLETED,end=120,nodelist=n%5B1-9%5D"),
		   &records, &attempt);
	assert_false(lens_job_attempt_elsewhere(&attempt));
	lens_job_attempt_clear(&attempt);
	lens_records_destroy(records);
	/* A requeued job's nodes are those to come. */
	attempt_of(NOTE("0", "") EPILOG ENDED("1", "state=RUNNING,nodelist=n2"), &records, &attempt);
	assert_false(lens_job_attempt_elsewhere(&attempt));
	lens_job_attempt_clear(&attempt);
	lens_records_destroy(records);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_attempt_begins_in_an_instant),
		cmocka_unit_test(setup_ends_with_the_first_step_and_teardown_begins_with_the_last_end),
		cmocka_unit_test(without_a_step_the_script_ends_the_setup),
		cmocka_unit_test(edges_are_never_negative),
		cmocka_unit_test(a_truncated_attempt_has_no_teardown),
		cmocka_unit_test(the_extern_steps_end_stands_for_the_epilog),
		cmocka_unit_test(nodes_and_suspension_are_those_of_the_end),
		cmocka_unit_test(the_first_submission_is_kept_on_the_root),
		cmocka_unit_test(start_spans_stay_what_they_were),
		cmocka_unit_test(an_epilog_alone_after_a_requeue_is_the_attempt_before),
		cmocka_unit_test(a_job_that_ended_on_other_nodes_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
