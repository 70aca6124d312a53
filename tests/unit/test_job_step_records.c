/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/spans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/job_sample.h"

/* Records read as lines, which clang-format would not keep. */
/* clang-format off */

#define TRACE "596be2a5d217a7f5994b1f8309615239"
#define OPEN(step, kind, more)                                                                     \
	"v=1,t=1000000000,m=500,e=step_open,job=12345,leader=12345,attempt=0,cluster=mini,"        \
	"node=n1,name=train.sh,step=" step ",kind=" kind more "\n"
#define TASK(rank, more)                                                                           \
	"v=1,t=1000000100,m=600,e=task_open,rank=" rank ",local=0,pid=31" more "\n"
#define END(rank, more) "v=1,t=1000000900,m=1400,e=task_end,rank=" rank ",local=0,pid=31" more "\n"

static struct json_object *spans_of(const char *journal)
{
	struct lens_records *records = sample_records(journal);
	struct lens_batch *batch = lens_batch_create("slurm-lens", "9.9");
	struct json_object *groups;
	struct lens_job_step step;
	size_t position = 0;
	int count;

	assert_int_equal(lens_job_step_read(&step, records, &position), 1);
	count = lens_step_spans_add(batch, &sample_site, &step, 0, 512);
	assert_int_equal(count, lens_batch_span_count(batch));
	groups = sample_groups(batch);
	lens_job_step_clear(&step);
	lens_batch_destroy(batch);
	lens_records_destroy(records);
	return groups;
}

static void an_outer_trace_takes_the_spans_and_no_id(void **state)
{
	static const char outer[] = "0123456789abcdef0123456789abcdef";
	struct json_object *groups = spans_of(
		OPEN("0", "step", ",trace=" TRACE ",into=0123456789abcdef0123456789abcdef")
		TASK("3", ",nodeid=0,export=1") END("3", ",status=0"));
	struct json_object *step = sample_span(groups, "slurm.step", 0);
	struct json_object *task = sample_span(groups, "slurm.task", 0);

	(void)state;
	assert_string_equal(sample_field(step, "traceId"), outer);
	assert_string_equal(sample_field(task, "traceId"), outer);
	assert_string_equal(sample_field(step, "spanId"), "c46601b958f9e7c7");
	assert_string_equal(sample_field(step, "parentSpanId"), "38ea49563b258858");
	assert_string_equal(sample_field(task, "spanId"), "e0f506154ca20ab8");
	assert_string_equal(sample_field(task, "parentSpanId"), "c46601b958f9e7c7");
	json_object_put(groups);
	groups = spans_of(OPEN("4294967291", "batch", ",trace=" TRACE
			       ",into=0123456789abcdef0123456789abcdef"));
	assert_string_equal(sample_field(sample_span(groups, "slurm.batch", 0), "traceId"), outer);
	assert_string_equal(sample_field(sample_span(groups, "slurm.batch", 0), "spanId"),
			    "49d65fd1de64fc08");
	json_object_put(groups);
	/* What is no trace id is as if it were not there. */
	groups = spans_of(OPEN("0", "step", ",nodeid=0,trace=zz,into=00"));
	assert_string_equal(sample_field(sample_span(groups, "slurm.step", 0), "traceId"), TRACE);
	json_object_put(groups);
}

static void a_step_without_a_task_is_told_by_its_first_node(void **state)
{
	struct json_object *groups = spans_of(OPEN("0", "step", ",tasks=4,nodeid=0")
					      "v=1,t=1000000300,m=800,e=step_end\n");
	struct json_object *step = sample_span(groups, "slurm.step", 0);

	(void)state;
	assert_int_equal(sample_count(groups), 1);
	assert_window(step, "1000000000", "1000000300");
	assert_string_equal(sample_attribute(step, "slurm.step.tasks"), "int:4");
	json_object_put(groups);
	groups = spans_of(OPEN("0", "step", ",tasks=4,nodeid=1"));
	assert_int_equal(sample_count(groups), 0);
	json_object_put(groups);
	groups = spans_of(OPEN("0", "step", ",tasks=4")); /* a het component */
	assert_int_equal(sample_count(groups), 0);
	json_object_put(groups);
}

static void a_tasks_word_beats_that_of_its_component(void **state)
{
	struct json_object *groups = spans_of(OPEN("0", "step", ",tasks=1,nodeid=0")
		TASK("0", ",nodeid=0,export=0,world=3") END("0", ",status=0"));

	(void)state;
	assert_string_equal(sample_attribute(sample_span(groups, "slurm.step", 0),
					     "slurm.step.tasks"), "int:3");
	json_object_put(groups);
	groups = spans_of(OPEN("0", "step", ",tasks=2,nodeid=0")
		TASK("1", ",nodeid=1,export=1,world=3") END("1", ",status=0"));
	assert_null(sample_span(groups, "slurm.step", 0));
	assert_string_equal(sample_attribute(sample_span(groups, "slurm.step.node", 0),
					     "slurm.step.tasks"), "int:1");
	json_object_put(groups);
}

static void out_of_memory_is_said_where_the_cgroup_does(void **state)
{
	struct json_object *groups = spans_of(OPEN("0", "step", "")
		TASK("0", ",nodeid=0,export=0") TASK("1", ",nodeid=0,export=0")
		END("0", ",status=9,oom=1") END("1", ",status=9"));
	struct json_object *task = sample_span(groups, "slurm.task", 0);

	(void)state;
	assert_string_equal(sample_attribute(task, "slurm.oom_killed"), "true");
	assert_string_equal(sample_attribute(task, "error.type"), "SIGKILL");
	assert_string_equal(json_object_get_string(json_object_object_get(
		json_object_object_get(task, "status"), "message")),
		"ended by SIGKILL, out of memory");
	assert_string_equal(sample_attribute(sample_span(groups, "slurm.task", 1),
					     "slurm.oom_killed"), "");
	json_object_put(groups);
}

#define AMEND                                                                                      \
	"v=1,t=1000000050,m=550,e=amend,attempt=1,trace=ac7efdcece563fbeb417de698473a515,"         \
	"resource=slurm.restart_count%3D1\n"

static void what_the_batch_script_knew_later_holds(void **state)
{
	struct json_object *groups = spans_of(
		OPEN("4294967291", "batch", ",trace=" TRACE ",inferred=1,resource=team%3Da") AMEND
		TASK("0", ",nodeid=0,export=1") END("0", ",status=0")
		"v=1,t=1000000900,m=1400,e=step_end\n");
	struct json_object *batch = sample_span(groups, "slurm.batch", 0);

	(void)state;
	assert_string_equal(sample_field(batch, "traceId"), "ac7efdcece563fbeb417de698473a515");
	assert_string_equal(sample_attribute(batch, "slurm.attempt"), "int:1");
	assert_string_equal(sample_attribute(batch, "slurm.confidence"), "factual");
	assert_string_equal(sample_resource(groups, "slurm.restart_count"), "int:1");
	assert_string_equal(sample_resource(groups, "team"), "");
	json_object_put(groups);
	/* It died before it could say. */
	groups = spans_of(OPEN("4294967291", "batch", ",inferred=1"));
	assert_string_equal(sample_attribute(sample_span(groups, "slurm.batch", 0),
					     "slurm.confidence"), "synthesized");
	json_object_put(groups);
	/* A step has it from the batch script's mark. */
	groups = spans_of(OPEN("0", "step", ",inferred=1,known=1,nodeid=0"));
	assert_string_equal(sample_attribute(sample_span(groups, "slurm.step", 0),
					     "slurm.confidence"), "factual");
	json_object_put(groups);
}

static void what_comes_after_the_writers_death_does_not_count(void **state)
{
	static const char dead[] = OPEN("0", "step", "") TASK("0", ",nodeid=0,export=1");
	struct lens_text late = LENS_TEXT_INIT;
	struct json_object *before = spans_of(dead), *after;

	(void)state;
	lens_text_addf(&late, "%s%s", dead,
		       "v=1,t=9000000000,m=9000000,e=lost\n"
		       "v=1,t=9000000100,m=9000100,e=task_open,rank=1,local=1,nodeid=0,export=1\n"
		       "v=1,t=9900000000,m=3,e=epilog,attempt=0,first=1\n");
	after = spans_of(late.data);
	assert_window(sample_span(after, "slurm.step", 0), "1000000000", "1000000100");
	assert_true(json_object_equal(before, after));
	json_object_put(before);
	json_object_put(after);
	lens_text_clear(&late);
}

/* The wall clock goes back by 100 s before the task starts, and on by 1000 s before it ends. */
static void a_clock_that_is_set_does_not_show(void **state)
{
	struct json_object *groups = spans_of(
		"v=1,t=200000000000,m=500,e=step_open,job=12345,leader=12345,attempt=0,cluster=mini,"
		"node=n1,step=0,kind=step,nodeid=0\n"
		"v=1,t=100000000100,m=600,e=task_open,rank=3,local=0,nodeid=0,pid=31,export=1\n"
		"v=1,t=1100000000900,m=1400,e=task_end,rank=3,local=0,pid=31,status=0\n"
		"v=1,t=1100000001000,m=1500,e=step_end\n");

	(void)state;
	assert_window(sample_span(groups, "slurm.step", 0), "200000000000", "200000001000");
	assert_window(sample_span(groups, "slurm.task", 0), "200000000100", "200000000900");
	json_object_put(groups);
}

static void monotonic_time_that_goes_back_gives_no_negative_length(void **state)
{
	struct json_object *groups = spans_of(OPEN("0", "step", "")
		"v=1,t=1000000100,m=400,e=task_open,rank=3,local=0,nodeid=0,pid=31,export=1\n"
		"v=1,t=1000000200,m=300,e=task_end,rank=3,local=0,pid=31,status=0\n");

	(void)state;
	assert_window(sample_span(groups, "slurm.step", 0), "1000000000", "1000000000");
	assert_window(sample_span(groups, "slurm.task", 0), "1000000000", "1000000000");
	json_object_put(groups);
}

static void the_end_of_the_attempt_is_kept_apart(void **state)
{
	struct lens_records *records = sample_records(OPEN("0", "step", ",inferred=1,inouter=1,"
		"outer=00-0123456789abcdef0123456789abcdef-00000000000000bb-01")
		"v=1,t=1000000300,m=800,e=step_end\n"
		"v=1,t=5000000000,m=7,e=extern,first=1\nv=1,t=6000000000,m=8,e=epilog,first=1\n");
	struct lens_job_step step;
	size_t position = 0;

	(void)state;
	assert_int_equal(lens_job_step_read(&step, records, &position), 1);
	assert_non_null(step.over);
	assert_string_equal(lens_record_event(step.over), "epilog"); /* the surer one */
	assert_true(step.in_outer);
	assert_non_null(step.outer);
	assert_int_equal(step.end_ns, 1000000300);
	lens_job_step_clear(&step);
	lens_records_destroy(records);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_outer_trace_takes_the_spans_and_no_id),
		cmocka_unit_test(a_step_without_a_task_is_told_by_its_first_node),
		cmocka_unit_test(a_tasks_word_beats_that_of_its_component),
		cmocka_unit_test(out_of_memory_is_said_where_the_cgroup_does),
		cmocka_unit_test(what_the_batch_script_knew_later_holds),
		cmocka_unit_test(what_comes_after_the_writers_death_does_not_count),
		cmocka_unit_test(a_clock_that_is_set_does_not_show),
		cmocka_unit_test(monotonic_time_that_goes_back_gives_no_negative_length),
		cmocka_unit_test(the_end_of_the_attempt_is_kept_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
