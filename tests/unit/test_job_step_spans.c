/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/spans.h"

#include <inttypes.h>
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

/* The spans FIRST to FIRST + LIMIT - 1 of the first section of JOURNAL. The caller puts. */
static struct json_object *page_of(const char *journal, size_t first, size_t limit, int *count)
{
	struct lens_records *records = sample_records(journal);
	struct lens_batch *batch = lens_batch_create("slurm-lens", "9.9");
	struct json_object *groups;
	struct lens_job_step step;
	size_t position = 0;

	assert_int_equal(lens_job_step_read(&step, records, &position), 1);
	*count = lens_step_spans_add(batch, &sample_site, &step, first, limit);
	groups = sample_groups(batch);
	assert_int_equal(sample_count(groups), *count);
	lens_job_step_clear(&step);
	lens_batch_destroy(batch);
	lens_records_destroy(records);
	return groups;
}

static struct json_object *spans_of(const char *journal)
{
	int count;

	return page_of(journal, 0, 512, &count);
}

static void batch_is_the_script(void **state)
{
	struct json_object *groups = spans_of(
		OPEN("4294967291", "batch",
		     ",tasks=1,resource=slurm.nnodes%3D2%2Cslurm.ntasks%3Dmany%2Cteam%3Da%252Cb"
		     "%2Cnv.dl.rank%3D5%2Cservice.name%3Dmine")
		"v=1,t=1000000200,m=700,e=task_open,rank=0,local=0,nodeid=0,pid=77,export=1\n"
		"v=1,t=9000000000,m=1700,e=task_end,rank=0,local=0,pid=77,status=768\n"
		"v=1,t=9000000100,m=1800,e=step_end\n");
	struct json_object *span = sample_span(groups, "slurm.batch", 0);

	(void)state;
	assert_int_equal(sample_count(groups), 1);
	assert_string_equal(sample_field(span, "traceId"), TRACE);
	assert_string_equal(sample_field(span, "spanId"), "49d65fd1de64fc08");
	assert_string_equal(sample_field(span, "parentSpanId"), "38ea49563b258858");
	/* The wall clock jumped in between: the length is the monotonic one. */
	assert_window(span, "1000000200", "1000001200");
	assert_int_equal(sample_status(span), 2);
	assert_string_equal(sample_attribute(span, "error.type"), "exit_3");
	assert_string_equal(sample_attribute(span, "process.exit.code"), "int:3");
	assert_string_equal(sample_attribute(span, "slurm.exit_code"), "3:0");
	assert_string_equal(sample_attribute(span, "slurm.step.id"), "batch");
	assert_string_equal(sample_attribute(span, "slurm.step.name"), "train.sh");
	assert_string_equal(sample_attribute(span, "slurm.node.name"), "n1");
	assert_string_equal(sample_attribute(span, "slurm.attempt"), "int:0");
	assert_string_equal(sample_attribute(span, "slurm.source"), "slurmstepd");
	assert_string_equal(sample_attribute(span, "slurm.confidence"), "factual");
	assert_string_equal(sample_attribute(span, "lens.group"), "job");
	assert_string_equal(sample_attribute(span, "lens.span_category"), "goodput");
	assert_non_null(strstr(sample_attribute(span, "purpose"), "\"goodput\""));
	assert_string_equal(sample_attribute(span, "nemo.span.truncated"), "");
	assert_string_equal(sample_resource(groups, "service.name"), "slurm");
	assert_string_equal(sample_resource(groups, "service.version"), "9.9");
	assert_string_equal(sample_resource(groups, "service.instance.id"), "mini/n1");
	assert_string_equal(sample_resource(groups, "host.name"), "n1");
	assert_string_equal(sample_resource(groups, "slurm.nnodes"), "int:2");
	assert_string_equal(sample_resource(groups, "slurm.ntasks"), "");
	assert_string_equal(sample_resource(groups, "nv.dl.rank"), "int:5");
	assert_string_equal(sample_resource(groups, "team"), "a,b");
	json_object_put(groups);
}

static const char step_journal[] =
	OPEN("0", "step", ",tasks=6,parent=00000000000000aa")
	"v=1,t=1000000100,m=600,e=task_open,rank=3,local=0,nodeid=0,pid=31,export=1,ranks=1\n"
	"v=1,t=1000000110,m=610,e=task_open,rank=1,local=1,nodeid=0,pid=32,export=0,ranks=1\n"
	"v=1,t=1000000120,m=620,e=task_open,rank=2,local=2,nodeid=0,pid=33,export=0,ranks=1\n"
	"v=1,t=1000000900,m=1400,e=task_end,rank=3,local=0,pid=31,status=0\n"
	"v=1,t=1000000910,m=1410,e=task_end,rank=1,local=1,pid=32,status=0\n"
	"v=1,t=1000000920,m=1420,e=task_end,rank=2,local=2,pid=33,status=139\n"
	"v=1,t=1000001000,m=1500,e=step_end\n";

static void first_node_makes_the_step(void **state)
{
	struct json_object *groups = spans_of(step_journal);
	struct json_object *span = sample_span(groups, "slurm.step", 0);

	(void)state;
	assert_int_equal(sample_count(groups), 3);
	assert_string_equal(sample_field(span, "spanId"), "c46601b958f9e7c7");
	assert_string_equal(sample_field(span, "parentSpanId"), "00000000000000aa");
	assert_window(span, "1000000000", "1000001000");
	assert_int_equal(sample_status(span), 2);
	assert_string_equal(sample_attribute(span, "error.type"), "SIGSEGV");
	assert_string_equal(sample_attribute(span, "slurm.step.tasks"), "int:6");
	assert_string_equal(sample_attribute(span, "slurm.step.tasks_failed"), "int:1");
	span = sample_span(groups, "slurm.task", 0);
	assert_string_equal(sample_field(span, "spanId"), "e0f506154ca20ab8");
	assert_string_equal(sample_field(span, "parentSpanId"), "c46601b958f9e7c7");
	assert_window(span, "1000000100", "1000000900");
	assert_int_equal(sample_status(span), 0);
	assert_string_equal(sample_attribute(span, "slurm.procid"), "int:3");
	assert_string_equal(sample_attribute(span, "slurm.localid"), "int:0");
	assert_string_equal(sample_attribute(span, "nv.dl.rank"), "int:3");
	assert_string_equal(sample_attribute(span, "nv.dl.local_rank"), "int:0");
	assert_string_equal(sample_attribute(span, "process.pid"), "int:31");
	assert_string_equal(sample_attribute(span, "process.exit.code"), "int:0");
	/* Rank 1 neither exports nor fails; rank 2 fails. */
	span = sample_span(groups, "slurm.task", 1);
	assert_string_equal(sample_attribute(span, "slurm.procid"), "int:2");
	assert_string_equal(sample_attribute(span, "slurm.signal"), "int:11");
	assert_string_equal(sample_attribute(span, "slurm.core_dumped"), "true");
	assert_string_equal(sample_attribute(span, "process.exit.code"), "");
	assert_string_equal(sample_attribute(span, "error.type"), "SIGSEGV");
	json_object_put(groups);
}

static void another_node_makes_its_part_of_the_step(void **state)
{
	struct json_object *groups = spans_of(
		"v=1,t=1000000000,m=500,e=step_open,job=12345,leader=12345,attempt=0,cluster=mini,"
		"node=n2,name=train.sh,step=0,kind=step,tasks=9,nodeid=1,parent=00000000000000aa\n"
		"v=1,t=1000000100,m=600,e=task_open,rank=3,local=0,nodeid=1,pid=31,export=1\n"
		"v=1,t=1000000100,m=600,e=task_open,rank=4,local=1,nodeid=1,pid=32,export=0\n"
		"v=1,t=1000000900,m=1400,e=task_end,rank=3,local=0,pid=31,status=0\n"
		"v=1,t=1000000900,m=1400,e=task_end,rank=4,local=1,pid=32,status=256\n"
		"v=1,t=1000001000,m=1500,e=step_end\n");
	struct json_object *node = sample_span(groups, "slurm.step.node", 0);
	struct json_object *span = sample_span(groups, "slurm.task", 0);

	(void)state;
	assert_int_equal(sample_count(groups), 3);
	assert_string_equal(sample_field(node, "spanId"), "e91bd6def4d72cfb");
	assert_string_equal(sample_field(node, "parentSpanId"), "c46601b958f9e7c7");
	assert_window(node, "1000000000", "1000001000");
	assert_string_equal(sample_attribute(node, "slurm.step.id"), "0");
	assert_string_equal(sample_attribute(node, "slurm.node.name"), "n2");
	assert_string_equal(sample_attribute(node, "slurm.step.tasks"), "int:2");
	assert_string_equal(sample_attribute(node, "slurm.step.tasks_failed"), "int:1");
	assert_string_equal(sample_attribute(node, "error.type"), "exit_1");
	assert_int_equal(sample_status(node), 2);
	assert_string_equal(sample_field(span, "parentSpanId"), "c46601b958f9e7c7");
	/* Launcher mode: no rank attributes. */
	assert_string_equal(sample_attribute(span, "nv.dl.rank"), "");
	assert_string_equal(sample_attribute(span, "slurm.procid"), "int:3");
	json_object_put(groups);
}

static void another_node_with_nothing_to_see_says_nothing(void **state)
{
	struct json_object *groups = spans_of(
		OPEN("0", "step", ",tasks=2,nodeid=1")
		"v=1,t=1000000100,m=600,e=task_open,rank=3,local=0,nodeid=1,pid=31,export=0\n"
		"v=1,t=1000000900,m=1400,e=task_end,rank=3,local=0,pid=31,status=0\n"
		"v=1,t=1000001000,m=1500,e=step_end\n");

	(void)state;
	assert_int_equal(sample_count(groups), 0);
	json_object_put(groups);
}

static void writer_that_died_is_closed_at_the_last_time_known(void **state)
{
	struct json_object *groups = spans_of(
		OPEN("0", "step", ",tasks=2,inferred=1")
		"v=1,t=1000000100,m=600,e=task_open,rank=0,local=0,nodeid=0,pid=31,export=1\n"
		"v=1,t=1000000200,m=700,e=task_open,rank=1,local=1,nodeid=0,pid=32,export=1\n"
		"v=1,t=1000000900,m=1400,e=task_end,rank=1,local=1,pid=32,status=0\n"
		"v=1,t=1000000950,m=14");
	struct json_object *step = sample_span(groups, "slurm.step", 0);
	struct json_object *open = sample_span(groups, "slurm.task", 0);
	struct json_object *ended = sample_span(groups, "slurm.task", 1);

	(void)state;
	assert_window(step, "1000000000", "1000000900");
	assert_string_equal(sample_attribute(step, "nemo.span.truncated"), "true");
	assert_string_equal(sample_attribute(step, "slurm.confidence"), "synthesized");
	assert_window(open, "1000000100", "1000000900");
	assert_string_equal(sample_attribute(open, "nemo.span.truncated"), "true");
	assert_string_equal(sample_attribute(open, "process.exit.code"), "");
	assert_int_equal(sample_status(open), 0);
	assert_string_equal(sample_attribute(ended, "nemo.span.truncated"), "");
	assert_window(ended, "1000000200", "1000000900");
	json_object_put(groups);
}

static void sixteen_failing_ranks_have_spans_and_all_are_counted(void **state)
{
	struct lens_text journal = LENS_TEXT_INIT;
	struct json_object *groups;

	(void)state;
	lens_text_adds(&journal, OPEN("0", "step", ",tasks=40"));
	for (int rank = 0; rank < 40; rank++)
		lens_text_addf(&journal, "v=1,t=1000000100,m=600,e=task_open,rank=%d,local=%d,"
			       "nodeid=0,pid=9,export=%d\n", rank, rank, rank == 39);
	for (int rank = 0; rank < 40; rank++)
		lens_text_addf(&journal, "v=1,t=1000000900,m=1400,e=task_end,rank=%d,local=%d,"
			       "pid=9,status=256\n", rank, rank);
	groups = spans_of(journal.data);
	assert_int_equal(sample_count(groups), 1 + 16 + 1); /* rank 39 exports */
	assert_string_equal(sample_attribute(sample_span(groups, "slurm.step", 0),
					     "slurm.step.tasks_failed"), "int:40");
	assert_string_equal(sample_attribute(sample_span(groups, "slurm.task", 16),
					     "slurm.procid"), "int:39");
	json_object_put(groups);
	lens_text_clear(&journal);
}

static void pages_are_the_whole(void **state)
{
	static const size_t limits[] = { 1, 2, 3 };

	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct json_object *whole = spans_of(step_journal);
		struct json_object *all = sample_spans(json_object_array_get_idx(whole, 0));
		size_t first = 0;
		int count;

		do {
			struct json_object *page = page_of(step_journal, first, limits[i], &count);

			for (int k = 0; k < count; k++) {
				struct json_object *mine = json_object_array_get_idx(
					sample_spans(json_object_array_get_idx(page, 0)), (size_t)k);

				assert_true(json_object_equal(
					mine, json_object_array_get_idx(all, first + (size_t)k)));
			}
			first += (size_t)count;
			json_object_put(page);
		} while (count > 0);
		assert_int_equal(first, 3);
		json_object_put(whole);
	}
}

static void interactive_shell_is_a_step_without_tasks(void **state)
{
	struct json_object *groups = spans_of(
		OPEN("4294967290", "interactive", ",tasks=1")
		"v=1,t=1000000100,m=600,e=task_open,rank=0,local=0,nodeid=0,pid=31,export=1\n"
		"v=1,t=1000000900,m=1400,e=task_end,rank=0,local=0,pid=31,status=256\n"
		"v=1,t=1000001000,m=1500,e=step_end\n");
	struct json_object *span = sample_span(groups, "slurm.step", 0);

	(void)state;
	assert_int_equal(sample_count(groups), 1);
	assert_string_equal(sample_field(span, "spanId"), "1814b3a73440863e");
	assert_string_equal(sample_attribute(span, "slurm.step.id"), "interactive");
	assert_string_equal(sample_attribute(span, "error.type"), "exit_1");
	json_object_put(groups);
}

static void a_journal_gone_on_with_has_two_sections(void **state)
{
	struct lens_records *records = sample_records(
		OPEN("0", "step", "") "v=1,t=1000000100,m=600,e=task_open,rank=0,nodeid=0,export=1\n"
		"v=1,t=5000000000,m=3,e=step_open,job=12345,leader=12345,attempt=1,cluster=mini,"
		"node=n1,step=0,kind=step\nv=1,t=5000000100,m=103,e=step_end\n");
	struct lens_job_step step;
	size_t position = 0;

	(void)state;
	assert_int_equal(lens_job_step_read(&step, records, &position), 1);
	assert_int_equal(step.attempt, 0);
	assert_false(step.closed);
	assert_int_equal(step.end_ns, 1000000100);
	lens_job_step_clear(&step);
	assert_int_equal(lens_job_step_read(&step, records, &position), 1);
	assert_int_equal(step.attempt, 1);
	assert_true(step.closed);
	assert_int_equal(step.end_ns, 5000000100);
	lens_job_step_clear(&step);
	assert_int_equal(lens_job_step_read(&step, records, &position), 0);
	lens_records_destroy(records);
}

static void a_failing_component_rank_hangs_on_its_own_job(void **state)
{
	struct json_object *groups = spans_of(
		"v=1,t=1000000000,m=500,e=step_open,job=12346,leader=12345,attempt=0,cluster=mini,"
		"node=n2,step=0,kind=step,tasks=2\n"
		"v=1,t=1000000100,m=600,e=task_open,rank=1,local=0,nodeid=0,pid=31,export=0\n"
		"v=1,t=1000000900,m=1400,e=task_end,rank=1,local=0,pid=31,status=9\n");
	struct lens_trace_id trace;
	struct lens_span_id job;
	char hex[LENS_SPAN_HEX];

	(void)state;
	/* The leader's trace, the component's own slurm.job. */
	assert_int_equal(lens_trace_id_derive(&trace, "", "mini", 12345, 0), 0);
	assert_int_equal(lens_span_id_derive(&job, &trace, "slurm.job", "12346"), 0);
	lens_span_id_hex(hex, &job);
	assert_string_equal(sample_field(sample_span(groups, "slurm.step", 0), "traceId"), TRACE);
	assert_string_equal(sample_field(sample_span(groups, "slurm.step", 0), "parentSpanId"), hex);
	json_object_put(groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batch_is_the_script),
		cmocka_unit_test(first_node_makes_the_step),
		cmocka_unit_test(another_node_makes_its_part_of_the_step),
		cmocka_unit_test(another_node_with_nothing_to_see_says_nothing),
		cmocka_unit_test(writer_that_died_is_closed_at_the_last_time_known),
		cmocka_unit_test(sixteen_failing_ranks_have_spans_and_all_are_counted),
		cmocka_unit_test(pages_are_the_whole),
		cmocka_unit_test(interactive_shell_is_a_step_without_tasks),
		cmocka_unit_test(a_journal_gone_on_with_has_two_sections),
		cmocka_unit_test(a_failing_component_rank_hangs_on_its_own_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
