/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/launch.h"
#include "lib/core/step_id.h"

#include "lib/core/encoding.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/unit/environment.h"

static void expect_trace(const struct lens_launch *launch, const char *realm, const char *want,
			 int line)
{
	struct lens_trace_id id;
	char hex[LENS_TRACE_HEX];

	assert_int_equal(lens_launch_trace(&id, launch, realm), 0);
	lens_trace_id_hex(hex, &id);
	expect_text("the trace", hex, want, line);
}

static void the_trace_is_of_leader_and_attempt(void **state)
{
	struct lens_launch launch = { .job = 12345, .leader = 12345, .cluster = "mini" };

	(void)state;
	expect_trace(&launch, "", "596be2a5d217a7f5994b1f8309615239", __LINE__);
	expect_trace(&launch, "east-2026", "8c16c749709d0265e75ce174fedd21e1", __LINE__);
	launch.attempt = 1;
	expect_trace(&launch, "", "ac7efdcece563fbeb417de698473a515", __LINE__);
	/* Another component of a heterogeneous job, on whatever step. */
	launch =
		(struct lens_launch){ .job = 12346, .leader = 12345, .cluster = "mini", .step = 3 };
	expect_trace(&launch, "", "596be2a5d217a7f5994b1f8309615239", __LINE__);
	launch.cluster = NULL;
	expect_trace(&launch, "", "5b03b881bc4e0b73101f71d7d6cc3e8f", __LINE__);
}

static void spans_are_those_that_the_agent_sends(void **state)
{
	static const struct {
		enum lens_place place;
		uint32_t step, rank;
		bool exports, launched;
		const char *span;
	} cases[] = {
		{ LENS_PLACE_BATCH, 0, 0, true, false, "49d65fd1de64fc08" },
		{ LENS_PLACE_INTERACTIVE, 0, 0, true, false, "1814b3a73440863e" },
		{ LENS_PLACE_STEP, 0, 3, true, false, "e0f506154ca20ab8" },
		{ LENS_PLACE_STEP, 0, 3, false, false, "c46601b958f9e7c7" },
		{ LENS_PLACE_STEP, 0, 0, false, false, "c46601b958f9e7c7" },
		{ LENS_PLACE_STEP, 0, 3, true, true, "e0f506154ca20ab8" },
	};
	struct lens_trace_id trace;

	(void)state;
	assert_int_equal(lens_trace_id_parse(&trace, "596be2a5d217a7f5994b1f8309615239"), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lens_launch launch = {
			.place = cases[i].place,
			.job = 12345,
			.leader = 12345,
			.step = cases[i].step,
			.launched = cases[i].launched,
		};
		const struct lens_rank rank = { .rank = cases[i].rank, .world = 4 };
		struct lens_span_id id;
		char hex[LENS_SPAN_HEX];

		assert_int_equal(lens_launch_span(&id, &launch, &trace, &rank, cases[i].exports),
				 0);
		lens_span_id_hex(hex, &id);
		expect_text("the span", hex, cases[i].span, (int)i);
		assert_int_equal(lens_launch_has_ranks(&launch),
				 cases[i].place == LENS_PLACE_STEP && !cases[i].launched);
	}
}

static void a_step_has_a_name(void **state)
{
	char text[LENS_STEP_TEXT];

	(void)state;
	lens_step_text(text, LENS_STEP_BATCH);
	assert_string_equal(text, "batch");
	lens_step_text(text, LENS_STEP_INTERACTIVE);
	assert_string_equal(text, "interactive");
	lens_step_text(text, LENS_STEP_EXTERN);
	assert_string_equal(text, "extern");
	lens_step_text(text, 0);
	assert_string_equal(text, "0");
	lens_step_text(text, 4294967280U); /* the last that srun gets */
	assert_string_equal(text, "4294967280");
}

/* A job that was submitted from a step of an array's third attempt. */
static struct lens_env *stale_environment(void)
{
	return environment("SLURM_JOB_ID=101", "SLURM_ARRAY_JOB_ID=36", "SLURM_ARRAY_TASK_ID=2",
			   "SLURM_ARRAY_TASK_COUNT=5", "SLURM_RESTART_COUNT=77", "SLURM_STEP_ID=0",
			   "SLURM_STEPID=0", "SLURM_CLUSTER_NAME=old", "SLURMD_NODENAME=n1",
			   "SLURM_JOB_NAME=n");
}

static void the_truth_is_put_in_place(void **state)
{
	const struct lens_launch launch = {
		.job = 8,
		.leader = 7,
		.attempt = 2,
		.cluster = "mini",
		.sluid = "s1",
	};
	struct lens_env *env = stale_environment(), *truth, *before = stale_environment();

	(void)state;
	truth = lens_launch_truth(env, &launch);
	assert_variable(truth, "SLURM_JOB_ID", "7");
	assert_variable(truth, "SLURM_RESTART_COUNT", "2");
	assert_variable(truth, "SLURM_CLUSTER_NAME", "mini");
	assert_variable(truth, "LENS_SLURM_SLUID", "s1");
	assert_variable(truth, "SLURM_ARRAY_JOB_ID", NULL);
	assert_variable(truth, "SLURM_ARRAY_TASK_ID", NULL);
	assert_variable(truth, "SLURM_ARRAY_TASK_COUNT", NULL);
	assert_variable(truth, "SLURM_STEP_ID", NULL);
	assert_variable(truth, "SLURM_STEPID", NULL);
	assert_variable(truth, "SLURM_JOB_NAME", "n");
	assert_same_environment(env, before);
	lens_env_destroy(truth);
	lens_env_destroy(env);
	lens_env_destroy(before);
}

static void what_the_launch_does_not_know_stays(void **state)
{
	const struct lens_launch launch = {
		.place = LENS_PLACE_STEP,
		.job = 7,
		.leader = 7,
		.array = true,
		.step = 4,
		.sluid = "",
	};
	struct lens_env *env = stale_environment(), *truth;

	(void)state;
	truth = lens_launch_truth(env, &launch);
	assert_variable(truth, "SLURM_ARRAY_JOB_ID", "36");
	assert_variable(truth, "SLURM_ARRAY_TASK_ID", "2");
	assert_variable(truth, "SLURM_CLUSTER_NAME", "old");
	assert_variable(truth, "SLURM_STEP_ID", "4");
	assert_variable(truth, "SLURM_RESTART_COUNT", "0");
	assert_variable(truth, "LENS_SLURM_SLUID", NULL);
	lens_env_destroy(truth);
	lens_env_destroy(env);
}

static void who_names_the_run(void **state)
{
	static const struct {
		const char *chosen, *carrier, *out;
	} cases[] = {
		{ "exp1", "nemo.run.id=c", "exp1" },
		{ NULL, "nemo.run.id=c%20d", "c d" },
		{ NULL, "nemo.run.id=", "7" },
		{ NULL, "team=a", "7" },
		{ NULL, NULL, "7" },
	};
	const struct lens_launch launch = { .job = 8, .leader = 7 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_settings settings = { .run_id = (char *)cases[i].chosen };
		struct lens_carrier *own = carrier_make(cases[i].carrier);
		struct lens_text out = LENS_TEXT_INIT;

		assert_int_equal(
			lens_launch_run_id(&out, &launch, &settings, cases[i].carrier ? own : NULL),
			0);
		assert_string_equal(out.data, cases[i].out);
		lens_text_clear(&out);
		lens_carrier_destroy(own);
	}
}

static struct lens_carrier *attributes(const struct lens_env *env, const struct lens_launch *launch,
				       const struct lens_config *config)
{
	struct lens_env *truth = lens_launch_truth(env, launch);
	struct lens_carrier *out = lens_launch_attributes(truth, launch, config, "run");

	assert_non_null(out);
	lens_env_destroy(truth);
	return out;
}

static void a_stale_environment_does_not_count(void **state)
{
	const struct lens_launch launch = {
		.job = 101, .leader = 101, .cluster = "mini", .host = "h"
	};
	struct lens_config *config = lens_config_create();
	struct lens_env *env = stale_environment();
	struct lens_carrier *out = attributes(env, &launch, config);

	(void)state;
	assert_string_equal(lens_carrier_get(out, "slurm.job.id"), "101");
	assert_string_equal(lens_carrier_get(out, "slurm.array.job_id"), "101");
	assert_string_equal(lens_carrier_get(out, "slurm.array.task_id"), "0");
	assert_string_equal(lens_carrier_get(out, "slurm.array.count"), "1");
	assert_string_equal(lens_carrier_get(out, "slurm.restart_count"), "0");
	assert_string_equal(lens_carrier_get(out, "slurm.cluster.name"), "mini");
	assert_string_equal(lens_carrier_get(out, "slurm.head_node.name"), "n1");
	assert_string_equal(lens_carrier_get(out, "nemo.run.id"), "run");
	assert_string_equal(lens_carrier_get(out, "host.name"), "h");
	assert_null(lens_carrier_get(out, "nv.dl.rank"));
	lens_carrier_destroy(out);
	lens_env_destroy(env);
	lens_config_destroy(config);
}

static void the_head_node_is_what_is_known_of_it(void **state)
{
	struct lens_launch launch = { .place = LENS_PLACE_STEP, .job = 101, .leader = 101 };
	struct lens_config *config = lens_config_create();
	struct lens_env *env = stale_environment();
	struct lens_carrier *out = attributes(env, &launch, config);

	(void)state;
	/* A step runs on any node. */
	assert_null(lens_carrier_get(out, "slurm.head_node.name"));
	lens_carrier_destroy(out);
	launch.head_node = "n9";
	out = attributes(env, &launch, config);
	assert_string_equal(lens_carrier_get(out, "slurm.head_node.name"), "n9");
	lens_carrier_destroy(out);
	/* In the hooks before task_init the batch script's variable may be an outer job's. */
	launch.place = LENS_PLACE_BATCH;
	out = attributes(env, &launch, config);
	assert_string_equal(lens_carrier_get(out, "slurm.head_node.name"), "n9");
	lens_carrier_destroy(out);
	lens_env_destroy(env);
	lens_config_destroy(config);
}

static void the_site_adds_attributes_and_no_run(void **state)
{
	static char *const pod[] = { "KUBERNETES_SERVICE_HOST=1", "K8S_POD_NAME=p", NULL };
	const struct lens_launch launch = { .job = 101, .leader = 101, .daemon_env = pod };
	struct lens_config *config = lens_config_create();
	struct lens_env *env = stale_environment();
	struct lens_carrier *out;

	(void)state;
	assert_int_equal(lens_config_set(config, "Attributes", "site=a%2Cb,nemo.run.id=x", NULL),
			 0);
	assert_int_equal(lens_config_set(config, "Environment", "prod", NULL), 0);
	out = attributes(env, &launch, config);
	assert_string_equal(lens_carrier_get(out, "site"), "a,b");
	assert_string_equal(lens_carrier_get(out, "nemo.run.id"), "run");
	assert_string_equal(lens_carrier_get(out, "deployment.environment"), "prod");
	assert_string_equal(lens_carrier_get(out, "k8s.pod.name"), "p");
	assert_null(lens_carrier_get(out, "host.name"));
	lens_carrier_destroy(out);
	lens_env_destroy(env);
	lens_config_destroy(config);
}

static void an_instance_keeps_its_rank_in_255_bytes(void **state)
{
	const struct lens_rank rank = { .rank = 4294967294U, .world = 4294967295U, .local = 7 };
	struct lens_carrier *out = lens_carrier_create();
	char run[256], want[256];

	(void)state;
	assert_int_equal(lens_launch_rank_attributes(out, &rank, "exp"), 0);
	assert_string_equal(lens_carrier_get(out, "nv.dl.rank"), "4294967294");
	assert_string_equal(lens_carrier_get(out, "nv.dl.world_size"), "4294967295");
	assert_string_equal(lens_carrier_get(out, "nv.dl.local_rank"), "7");
	assert_string_equal(lens_carrier_get(out, "service.instance.id"), "exp-rank4294967294");
	/* 85 characters of three bytes: 240 of them fit before the rank, 80 characters. */
	for (size_t i = 0; i < 255; i += 3)
		memcpy(run + i, "\xe2\x82\xac", 3);
	run[255] = '\0';
	assert_int_equal(lens_launch_rank_attributes(out, &rank, run), 0);
	snprintf(want, sizeof(want), "%.240s-rank4294967294", run);
	assert_string_equal(lens_carrier_get(out, "service.instance.id"), want);
	lens_carrier_destroy(out);
}

static void the_resource_of_the_jobs_own_spans(void **state)
{
	const struct lens_launch launch = { .place = LENS_PLACE_STEP, .job = 101, .leader = 101 };
	struct lens_settings settings = { .run_id = (char *)"exp1" };
	struct lens_config *config = lens_config_create();
	struct lens_env *env = stale_environment();
	struct lens_carrier *out;

	(void)state;
	environment_set(env, "SLURM_NTASKS", "4");
	environment_set(env, "SLURM_JOB_NUM_NODES", "2");
	environment_set(env, "CUDA_VISIBLE_DEVICES", "0");
	environment_set(env, LENS_ATTRIBUTES_NAME,
			"slurm.job.name=mine,slurm.nnodes=x,nemo.run.id=c,service.name=svc");
	out = lens_launch_resource(env, &launch, config, &settings);
	assert_non_null(out);
	assert_string_equal(lens_carrier_get(out, "slurm.job.name"), "mine");
	assert_string_equal(lens_carrier_get(out, "slurm.nnodes"), "2");
	assert_string_equal(lens_carrier_get(out, "nemo.run.id"), "exp1");
	/* A step's task count and a task's devices are not the job's, nor is the task's service. */
	assert_null(lens_carrier_get(out, "slurm.ntasks"));
	assert_null(lens_carrier_get(out, "host.gpu.count"));
	assert_null(lens_carrier_get(out, "service.name"));
	assert_null(lens_carrier_get(out, "nemo.user.id"));
	lens_carrier_destroy(out);
	settings.run_id = NULL;
	out = lens_launch_resource(env, &launch, config, &settings);
	assert_string_equal(lens_carrier_get(out, "nemo.run.id"), "c");
	lens_carrier_destroy(out);
	environment_set(env, LENS_ATTRIBUTES_NAME, "nemo.user.id=theirs");
	out = lens_launch_resource(env, &launch, config, &settings);
	assert_string_equal(lens_carrier_get(out, "nemo.user.id"), "theirs");
	lens_carrier_destroy(out);
	settings.user = (char *)"me";
	out = lens_launch_resource(env, &launch, config, &settings);
	assert_string_equal(lens_carrier_get(out, "nemo.user.id"), "me");
	lens_carrier_destroy(out);
	lens_env_destroy(env);
	lens_config_destroy(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_trace_is_of_leader_and_attempt),
		cmocka_unit_test(spans_are_those_that_the_agent_sends),
		cmocka_unit_test(a_step_has_a_name),
		cmocka_unit_test(the_truth_is_put_in_place),
		cmocka_unit_test(what_the_launch_does_not_know_stays),
		cmocka_unit_test(who_names_the_run),
		cmocka_unit_test(a_stale_environment_does_not_count),
		cmocka_unit_test(the_head_node_is_what_is_known_of_it),
		cmocka_unit_test(the_site_adds_attributes_and_no_run),
		cmocka_unit_test(an_instance_keeps_its_rank_in_255_bytes),
		cmocka_unit_test(the_resource_of_the_jobs_own_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
