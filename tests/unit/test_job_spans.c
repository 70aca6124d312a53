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
#define OUTER "00-0123456789abcdef0123456789abcdef-00000000000000bb-01"

/* The prolog writes at 100.5 s. */
#define NOTE(attempt, more)                                                                        \
	"v=1,t=100500000000,m=1,e=note,job=12345,leader=12345,attempt=" attempt                    \
	",cluster=mini,node=n1,lens=1" more "\n"
#define STARTED(attempt)                                                                           \
	"v=1,t=100600000000,m=2,e=answer,when=start,found=1,job=12345,attempt=" attempt            \
	",state=RUNNING,submit=90,eligible=95,start=100,end=3700,name=train,user=ml,"              \
	"partition=gpu,nodes=2,tasks=4,nodelist=n%5B1-2%5D\n"
#define EPILOG(attempt)                                                                            \
	"v=1,t=110900000000,m=9,e=epilog,attempt=" attempt ",first=1,nodes=2,nodelist=n%5B1-2%5D\n"
#define ENDED(attempt, rest)                                                                       \
	"v=1,t=111000000000,m=10,e=answer,when=end,found=1,job=12345,attempt=" attempt "," rest "\n"
#define TIMES "submit=90,eligible=95,start=100,end=110,nodes=2,tasks=4,name=train,user=ml"

static void start_has_its_phases(void **state)
{
	struct json_object *groups = spans_of(lens_start_spans_add,
		NOTE("0", ",first=1") STARTED("0"));
	struct json_object *span = sample_span(groups, "slurm.phase.queued", 0);

	(void)state;
	assert_int_equal(sample_count(groups), 3);
	assert_string_equal(sample_field(span, "traceId"), "596be2a5d217a7f5994b1f8309615239");
	assert_string_equal(sample_field(span, "spanId"), "bee7072b2db5a14d");
	assert_string_equal(sample_field(span, "parentSpanId"), ROOT);
	assert_window(span, "95000000000", "100000000000");
	span = sample_span(groups, "slurm.phase.deferred", 0);
	assert_window(span, "90000000000", "95000000000");
	assert_string_equal(sample_attribute(span, "slurm.confidence"), "factual");
	assert_string_equal(sample_resource(groups, "slurm.job.id"), "12345");
	assert_string_equal(sample_resource(groups, "slurm.job.id.raw"), "12345");
	assert_string_equal(sample_resource(groups, "slurm.array.task_id"), "0");
	assert_string_equal(sample_resource(groups, "slurm.array.count"), "int:1");
	assert_string_equal(sample_resource(groups, "slurm.nnodes"), "int:2");
	assert_string_equal(sample_resource(groups, "slurm.ntasks"), "int:4");
	assert_string_equal(sample_resource(groups, "slurm.restart_count"), "int:0");
	assert_string_equal(sample_resource(groups, "slurm.job.name"), "train");
	assert_string_equal(sample_resource(groups, "slurm.job.user"), "ml");
	assert_string_equal(sample_resource(groups, "slurm.partition"), "gpu");
	assert_string_equal(sample_resource(groups, "slurm.cluster.name"), "mini");
	assert_string_equal(sample_resource(groups, "nemo.run.id"), "12345");
	assert_int_equal(strlen(sample_resource(groups, "nv.dl.run.uuid")), 36);
	assert_string_equal(sample_resource(groups, "service.instance.id"), "mini/n1");
	json_object_put(groups);
}

static void queued_is_sent_at_no_length_and_deferred_is_not(void **state)
{
	struct json_object *groups = spans_of(lens_start_spans_add, NOTE("0", "")
		"v=1,t=1,m=1,e=answer,when=start,found=1,job=12345,attempt=0,state=RUNNING,"
		"submit=100,eligible=100,start=100\n");

	(void)state;
	assert_int_equal(sample_count(groups), 2);
	assert_window(sample_span(groups, "slurm.phase.queued", 0), "100000000000", "100000000000");
	assert_window(sample_span(groups, "slurm.job_start", 0), "100000000000", "100000000000");
	json_object_put(groups);
}

static void restart_has_a_gap_and_links(void **state)
{
	struct json_object *groups = spans_of(lens_start_spans_add, NOTE("1", "") STARTED("1"));
	struct json_object *span = sample_span(groups, "slurm.inter_attempt_gap", 0), *link;

	(void)state;
	assert_int_equal(sample_count(groups), 4);
	assert_string_equal(sample_field(span, "traceId"), "ac7efdcece563fbeb417de698473a515");
	assert_window(span, "90000000000", "100000000000");
	assert_int_equal(json_object_array_length(json_object_object_get(span, "links")), 1);
	link = json_object_array_get_idx(json_object_object_get(span, "links"), 0);
	assert_string_equal(sample_field(link, "traceId"), "596be2a5d217a7f5994b1f8309615239");
	assert_string_equal(sample_field(link, "spanId"), ROOT);
	json_object_put(groups);
	groups = spans_of(lens_job_spans_add, NOTE("1", "") STARTED("1") EPILOG("1")
			  ENDED("1", "state=COMPLETED,completing=1," TIMES));
	span = sample_span(groups, "slurm.job_attempt", 0);
	assert_int_equal(json_object_array_length(json_object_object_get(span, "links")), 1);
	assert_null(json_object_object_get(sample_span(groups, "slurm.job", 0), "links"));
	json_object_put(groups);
}

static void submitters_span_is_linked_or_the_parent(void **state)
{
	struct json_object *groups = spans_of(lens_job_spans_add,
		NOTE("1", ",outer=" OUTER) STARTED("1") EPILOG("1")
		ENDED("1", "state=COMPLETED," TIMES));
	struct json_object *root = sample_span(groups, "slurm.job_attempt", 0);
	struct json_object *links = json_object_object_get(root, "links");

	(void)state;
	assert_string_equal(sample_field(root, "traceId"), "ac7efdcece563fbeb417de698473a515");
	assert_string_equal(sample_field(root, "parentSpanId"), "");
	assert_int_equal(json_object_array_length(links), 2);
	assert_string_equal(sample_field(json_object_array_get_idx(links, 1), "traceId"),
			    "0123456789abcdef0123456789abcdef");
	assert_string_equal(sample_field(json_object_array_get_idx(links, 1), "spanId"),
			    "00000000000000bb");
	json_object_put(groups);

	groups = spans_of(lens_job_spans_add, NOTE("1", ",inouter=1,outer=" OUTER) STARTED("1")
			  EPILOG("1") ENDED("1", "state=COMPLETED," TIMES));
	root = sample_span(groups, "slurm.job_attempt", 0);
	links = json_object_object_get(root, "links");
	assert_string_equal(sample_field(root, "traceId"), "0123456789abcdef0123456789abcdef");
	assert_string_equal(sample_field(root, "parentSpanId"), "00000000000000bb");
	assert_string_equal(sample_field(sample_span(groups, "slurm.job", 0), "traceId"),
			    "0123456789abcdef0123456789abcdef");
	/* Both attempts are in the outer trace, their ids by their own. */
	assert_int_equal(json_object_array_length(links), 1);
	assert_string_equal(sample_field(json_object_array_get_idx(links, 0), "traceId"),
			    "0123456789abcdef0123456789abcdef");
	assert_string_equal(sample_field(json_object_array_get_idx(links, 0), "spanId"), ROOT);
	json_object_put(groups);

	/* What is no TRACEPARENT is no parent. */
	groups = spans_of(lens_job_spans_add, NOTE("0", ",inouter=1,outer=junk") STARTED("0")
			  EPILOG("0") ENDED("0", "state=COMPLETED," TIMES));
	root = sample_span(groups, "slurm.job_attempt", 0);
	assert_string_equal(sample_field(root, "spanId"), ROOT);
	assert_string_equal(sample_field(root, "traceId"), "596be2a5d217a7f5994b1f8309615239");
	assert_string_equal(sample_field(root, "parentSpanId"), "");
	json_object_put(groups);
}

static void next_tick_of_a_scrontab_is_no_restart(void **state)
{
	struct json_object *groups = spans_of(lens_start_spans_add, NOTE("1", "")
		"v=1,t=1,m=1,e=answer,when=start,found=1,job=12345,attempt=1,state=RUNNING,cron=1,"
		"submit=90,eligible=95,start=100\n");

	(void)state;
	assert_null(sample_span(groups, "slurm.inter_attempt_gap", 0));
	json_object_put(groups);
}

static void completed_job(void **state)
{
	struct json_object *groups = spans_of(lens_job_spans_add, NOTE("0", "") STARTED("0")
		EPILOG("0") ENDED("0", "state=COMPLETED,completing=1,exit=0:0," TIMES));
	struct json_object *root = sample_span(groups, "slurm.job_attempt", 0);
	struct json_object *job = sample_span(groups, "slurm.job", 0);

	(void)state;
	assert_int_equal(sample_count(groups), 2);
	assert_string_equal(sample_field(root, "spanId"), ROOT);
	assert_string_equal(sample_field(root, "parentSpanId"), "");
	assert_window(root, "90000000000", "110000000000");
	assert_string_equal(sample_field(job, "spanId"), JOB);
	assert_string_equal(sample_field(job, "parentSpanId"), ROOT);
	assert_window(job, "100000000000", "110000000000");
	assert_int_equal(sample_status(job), 0);
	assert_string_equal(sample_attribute(job, "slurm.state"), "COMPLETED");
	assert_string_equal(sample_attribute(job, "slurm.exit_code"), "0:0");
	assert_string_equal(sample_attribute(job, "slurm.nodelist"), "n[1-2]");
	assert_string_equal(sample_attribute(job, "slurm.confidence"), "factual");
	json_object_put(groups);
}

static void failed_states_are_errors(void **state)
{
	static const struct {
		const char *answer, *type;
	} cases[] = {
		{ NOTE("0", "") EPILOG("0") ENDED("0", "state=FAILED,reason=NonZeroExitCode,"
						  "exit=3:0," TIMES), "failed" },
		{ NOTE("0", "") EPILOG("0") ENDED("0", "state=CANCELLED,exit=0:15," TIMES),
		  "cancelled" },
		{ NOTE("0", "") EPILOG("0") ENDED("0", "state=TIMEOUT,reason=TimeLimit," TIMES),
		  "timeout" },
		{ NOTE("0", "") EPILOG("0") ENDED("0", "state=OUT_OF_MEMORY,exit=0:125," TIMES),
		  "out_of_memory" },
		{ NOTE("0", "") EPILOG("0") ENDED("0", "state=NODE_FAIL," TIMES), "node_fail" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct json_object *groups = spans_of(lens_job_spans_add, cases[i].answer);

		for (int k = 0; k < 2; k++) {
			struct json_object *span = sample_span(
				groups, k == 0 ? "slurm.job_attempt" : "slurm.job", 0);

			assert_int_equal(sample_status(span), 2);
			assert_string_equal(sample_attribute(span, "error.type"), cases[i].type);
		}
		json_object_put(groups);
	}
}

static void children_widen_the_job(void **state)
{
	struct json_object *groups = spans_of(lens_job_spans_add, NOTE("0", "") EPILOG("0")
		"v=1,t=1,m=1,e=window,from=99900000000,to=110700000000,step=0,resource=team%3Da\n"
		"v=1,t=1,m=1,e=window,from=100700000000,to=110800000000,step=4294967291\n"
		ENDED("0", "state=COMPLETED,submit=100,eligible=100,start=100,end=110"));

	(void)state;
	assert_window(sample_span(groups, "slurm.job", 0), "99900000000", "110800000000");
	assert_window(sample_span(groups, "slurm.job_attempt", 0), "99900000000", "110800000000");
	assert_string_equal(sample_resource(groups, "team"), "a");
	json_object_put(groups);
}

static void requeued(struct json_object *groups)
{
	struct json_object *job = sample_span(groups, "slurm.job", 0);

	assert_string_equal(sample_attribute(job, "slurm.state"), "REQUEUED");
	assert_string_equal(sample_attribute(job, "slurm.attempt"), "int:0");
	assert_string_equal(sample_attribute(job, "slurm.exit_code"), "");
	assert_int_equal(sample_status(job), 0);
	/* The epilog's time, not the garbage that slurmctld has for a pending job. */
	assert_window(job, "100000000000", "110900000000");
	json_object_put(groups);
}

static void requeue_is_told_in_three_ways(void **state)
{
	(void)state;
	/* slurmctld counts on. */
	requeued(spans_of(lens_job_spans_add, NOTE("0", "") STARTED("0") EPILOG("1")
		ENDED("1", "state=PENDING,completing=1,submit=111,start=117,end=6091018314")));
	/* The next attempt runs already, and the epilog did not know (node down). */
	requeued(spans_of(lens_job_spans_add, NOTE("0", "") STARTED("0") EPILOG("0")
		ENDED("1", "state=RUNNING,submit=111,start=117,end=999")));
	/* slurmctld has forgotten the job; the epilog knew. */
	requeued(spans_of(lens_job_spans_add, NOTE("0", "") STARTED("0") EPILOG("1")
		"v=1,t=1,m=1,e=answer,when=end,found=0\n"));
}

static void without_slurmctld_the_node_tells(void **state)
{
	static const char note[] = NOTE("0", "") EPILOG("0")
		"v=1,t=1,m=1,e=answer,when=end,found=0\n";
	struct json_object *groups = spans_of(lens_job_spans_add, note);
	struct json_object *job = sample_span(groups, "slurm.job", 0);

	(void)state;
	assert_window(job, "100500000000", "110900000000");
	assert_string_equal(sample_attribute(job, "slurm.confidence"), "synthesized");
	assert_string_equal(sample_attribute(job, "slurm.state"), "");
	assert_string_equal(sample_attribute(job, "nemo.span.truncated"), "");
	assert_int_equal(sample_status(job), 0);
	json_object_put(groups);
	groups = spans_of(lens_start_spans_add, note);
	assert_window(sample_span(groups, "slurm.phase.queued", 0), "100500000000", "100500000000");
	assert_string_equal(sample_attribute(sample_span(groups, "slurm.phase.queued", 0),
					     "slurm.confidence"), "synthesized");
	json_object_put(groups);
}

static void epilog_that_never_ran_truncates(void **state)
{
	struct json_object *groups = spans_of(lens_job_spans_add, NOTE("0", ",first=1") STARTED("0")
		"v=1,t=1,m=1,e=window,from=101000000000,to=108000000000,step=0\n"
		ENDED("1", "state=RUNNING,submit=111,start=117,end=999"));
	struct json_object *job = sample_span(groups, "slurm.job", 0);

	(void)state;
	assert_string_equal(sample_attribute(job, "nemo.span.truncated"), "true");
	assert_window(job, "100000000000", "108000000000");
	json_object_put(groups);
}

static void component_has_its_job_alone(void **state)
{
	static const char note[] =
		"v=1,t=100500000000,m=1,e=note,job=12346,leader=12345,attempt=0,"
		"cluster=mini,node=n2\n"
		"v=1,t=110900000000,m=9,e=epilog,attempt=0,first=1,nodelist=n2\n"
		ENDED("0", "state=COMPLETED,het=12345,het_offset=1," TIMES);
	struct json_object *groups = spans_of(lens_job_spans_add, note);

	(void)state;
	assert_int_equal(sample_count(groups), 1);
	assert_string_equal(sample_field(sample_span(groups, "slurm.job", 0), "traceId"),
			    "596be2a5d217a7f5994b1f8309615239");
	assert_string_equal(sample_field(sample_span(groups, "slurm.job", 0), "parentSpanId"),
			    ROOT);
	json_object_put(groups);
	groups = spans_of(lens_start_spans_add, note);
	assert_int_equal(sample_count(groups), 0);
	json_object_put(groups);
}

static void array_element_is_named_by_its_array(void **state)
{
	struct json_object *groups = spans_of(lens_job_spans_add, NOTE("0", "") EPILOG("0")
		ENDED("0", "state=COMPLETED,array_job=12340,array_task=0," TIMES));

	(void)state;
	assert_string_equal(sample_resource(groups, "slurm.job.id"), "12340_0");
	assert_string_equal(sample_resource(groups, "slurm.job.id.raw"), "12345");
	assert_string_equal(sample_resource(groups, "slurm.array.job_id"), "12340");
	assert_string_equal(sample_resource(groups, "slurm.array.task_id"), "0");
	assert_string_equal(sample_resource(groups, "slurm.array.count"), "");
	json_object_put(groups);
}

static void a_node_given_back_is_known(void **state)
{
	struct lens_records *records = sample_records(NOTE("0", "") EPILOG("0")
		ENDED("0", "state=RUNNING," TIMES));
	struct lens_job_attempt attempt;

	(void)state;
	assert_int_equal(lens_job_attempt_read(&attempt, records), 0);
	assert_true(lens_job_attempt_released(&attempt));
	lens_job_attempt_clear(&attempt);
	lens_records_destroy(records);
	records = sample_records(NOTE("0", "") EPILOG("0") ENDED("1", "state=RUNNING," TIMES));
	assert_int_equal(lens_job_attempt_read(&attempt, records), 0);
	assert_false(lens_job_attempt_released(&attempt));
	lens_job_attempt_clear(&attempt);
	lens_records_destroy(records);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(start_has_its_phases),
		cmocka_unit_test(queued_is_sent_at_no_length_and_deferred_is_not),
		cmocka_unit_test(restart_has_a_gap_and_links),
		cmocka_unit_test(submitters_span_is_linked_or_the_parent),
		cmocka_unit_test(next_tick_of_a_scrontab_is_no_restart),
		cmocka_unit_test(completed_job),
		cmocka_unit_test(failed_states_are_errors),
		cmocka_unit_test(children_widen_the_job),
		cmocka_unit_test(requeue_is_told_in_three_ways),
		cmocka_unit_test(without_slurmctld_the_node_tells),
		cmocka_unit_test(epilog_that_never_ran_truncates),
		cmocka_unit_test(component_has_its_job_alone),
		cmocka_unit_test(array_element_is_named_by_its_array),
		cmocka_unit_test(a_node_given_back_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
