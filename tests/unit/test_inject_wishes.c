/* SPDX-License-Identifier: Apache-2.0 */
/* What options, variables, the carrier and the site ask for, and who wins. */
#include "lib/core/inject.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/inject_sample.h"

static struct lens_env *task_environment(void)
{
	return environment("PATH=/bin", "SLURM_JOB_ID=100", "SLURM_JOB_NAME=train",
			   "SLURM_NTASKS=8", "SLURM_PROCID=3", "SLURM_STEP_ID=0");
}

/* Variable and key always agree, whoever named the run. */
static void the_run_id(void **state)
{
	static const struct {
		const char *option, *variable, *carrier, *site, *out;
	} cases[] = {
		{ "o", "v", "nemo.run.id=c", "nemo.run.id=s", "o" },
		{ NULL, "v", "nemo.run.id=c", "nemo.run.id=s", "v" },
		{ NULL, NULL, "nemo.run.id=c", "nemo.run.id=s", "c" },
		{ NULL, NULL, "team=a", "nemo.run.id=s", "100" },
		{ NULL, NULL, NULL, NULL, "100" },
		{ NULL, "", "nemo.run.id=", NULL, "100" },
		{ NULL, "v", "nemo.run.id=", NULL, "v" },
		{ "exp/1,a=b", NULL, NULL, NULL, "exp/1,a=b" },
		{ NULL, NULL, "nemo.run.id=a%2Cb", NULL, "a,b" },
		/* it becomes a variable too: no control character */
		{ NULL, NULL, "nemo.run.id=a%0Ab%01", NULL, "100" },
	};
	const struct lens_launch launch = step_launch(100, 0);
	const struct lens_rank rank = { .rank = 3, .world = 8, .local = 3 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sample *sample = *state;
		struct lens_env *env = task_environment(), *out;
		char instance[64];

		lens_options_clear(&sample->options);
		sample_option(sample, "lens", "on");
		if (cases[i].option)
			sample_option(sample, "lens-run-id", cases[i].option);
		sample_key(sample, "Attributes", cases[i].site ? cases[i].site : "");
		environment_set(env, "NEMO_LENS_RUN_ID", cases[i].variable);
		environment_set(env, LENS_ATTRIBUTES_NAME, cases[i].carrier);
		out = sample_tell(sample, env, &launch, &rank);
		expect_text("NEMO_LENS_RUN_ID",
			    lens_env_get(lens_env_array(out), "NEMO_LENS_RUN_ID"), cases[i].out,
			    (int)i);
		expect_key(out, "nemo.run.id", cases[i].out, (int)i);
		snprintf(instance, sizeof(instance), "%s-rank3", cases[i].out);
		assert_key(out, "service.instance.id", instance);
		lens_env_destroy(out);
		lens_env_destroy(env);
	}
}

static void a_run_id_that_is_none(void **state)
{
	struct sample *sample = *state;
	const struct lens_launch launch = batch_launch(100);
	struct lens_env *env = task_environment(), *out, *clean;

	environment_set(env, "NEMO_LENS_RUN_ID", "a\nb");
	out = sample_tell(sample, env, &launch, NULL);
	assert_int_equal(sample->problems, 1);
	assert_non_null(strstr(sample->problem, "NEMO_LENS_RUN_ID"));
	assert_variable(out, "NEMO_LENS_RUN_ID", "100");
	assert_key(out, "nemo.run.id", "100");
	clean = lens_mark_clean(lens_env_array(out), 100, NULL);
	assert_same_environment(clean, env);
	lens_env_destroy(clean);
	lens_env_destroy(out);
	lens_env_destroy(env);
}

static void a_run_id_by_option_beats_an_attribute_by_option(void **state)
{
	const struct lens_launch launch = batch_launch(100);
	struct lens_env *env = task_environment(), *out, *clean;

	sample_option(*state, "lens-attr", "nemo.run.id=attr,team=b%2Cc,slurm.job.name=opt");
	environment_set(env, LENS_ATTRIBUTES_NAME, "team=a,slurm.job.name=mine");
	out = sample_tell(*state, env, &launch, NULL);
	assert_key(out, "team", "b,c");
	assert_key(out, "slurm.job.name", "opt");
	assert_key(out, "nemo.run.id", "100");
	assert_variable(out, "NEMO_LENS_RUN_ID", "100");
	clean = lens_mark_clean(lens_env_array(out), 100, NULL);
	assert_key(clean, "team", "a");
	assert_key(clean, "slurm.job.name", "mine");
	assert_key(clean, "nemo.run.id", NULL);
	lens_env_destroy(clean);
	lens_env_destroy(out);
	lens_env_destroy(env);
}

static void the_service(void **state)
{
	static const struct {
		const char *option, *variable, *carrier, *site;
		const char *out_variable, *out_key;
	} cases[] = {
		{ NULL, NULL, NULL, NULL, NULL, NULL },
		{ NULL, NULL, NULL, "site", NULL, "site" },
		{ NULL, NULL, "service.name=c", "site", NULL, "c" },
		{ NULL, "v", NULL, "site", "v", NULL },
		{ NULL, "", NULL, "site", "", "site" },
		{ NULL, "v", "service.name=c", NULL, "v", "c" },
		{ "o", "v", "service.name=c", "site", "o", "o" },
		{ "o", NULL, NULL, NULL, "o", "o" },
	};
	const struct lens_launch launch = batch_launch(100);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sample *sample = *state;
		struct lens_env *env = task_environment(), *out;

		lens_options_clear(&sample->options);
		sample_option(sample, "lens", "on");
		if (cases[i].option)
			sample_option(sample, "lens-service", cases[i].option);
		sample_key(sample, "TaskServiceName", cases[i].site ? cases[i].site : "");
		environment_set(env, "OTEL_SERVICE_NAME", cases[i].variable);
		environment_set(env, LENS_ATTRIBUTES_NAME, cases[i].carrier);
		out = sample_tell(sample, env, &launch, NULL);
		expect_text("OTEL_SERVICE_NAME",
			    lens_env_get(lens_env_array(out), "OTEL_SERVICE_NAME"),
			    cases[i].out_variable, (int)i);
		expect_key(out, "service.name", cases[i].out_key, (int)i);
		lens_env_destroy(out);
		lens_env_destroy(env);
	}
}

static void the_endpoint(void **state)
{
	static const char endpoint[] = "OTEL_EXPORTER_OTLP_ENDPOINT";
	static const char protocol[] = "OTEL_EXPORTER_OTLP_PROTOCOL";
	const struct lens_launch launch = batch_launch(100);
	struct sample *sample = *state;
	struct lens_env *env = task_environment(), *out, *clean;

	sample_key(sample, "Endpoint", "http://agent:4318");
	sample_key(sample, "TaskEndpoint", "http://tasks:4318");
	out = sample_tell(sample, env, &launch, NULL);
	assert_variable(out, endpoint, "http://tasks:4318");
	assert_variable(out, protocol, "http/protobuf");
	lens_env_destroy(out);

	environment_set(env, protocol, "grpc");
	out = sample_tell(sample, env, &launch, NULL);
	assert_variable(out, endpoint, "http://tasks:4318");
	assert_variable(out, protocol, "grpc");
	lens_env_destroy(out);

	/* Empty is not set, and comes back as it was. */
	environment_set(env, endpoint, "");
	out = sample_tell(sample, env, &launch, NULL);
	assert_variable(out, endpoint, "http://tasks:4318");
	clean = lens_mark_clean(lens_env_array(out), 100, NULL);
	assert_same_environment(clean, env);
	lens_env_destroy(clean);
	lens_env_destroy(out);

	environment_set(env, endpoint, "http://mine:4317");
	out = sample_tell(sample, env, &launch, NULL);
	assert_variable(out, endpoint, "http://mine:4317");
	assert_variable(out, protocol, "grpc");
	lens_env_destroy(out);

	sample_option(sample, "lens-endpoint", "http://option:4318");
	out = sample_tell(sample, env, &launch, NULL);
	assert_variable(out, endpoint, "http://option:4318");
	lens_env_destroy(out);
	lens_env_destroy(env);
}

/* Where the agent has a protocol of the network, the tasks have the same. */
static void the_protocol_is_the_agents(void **state)
{
	static const struct {
		const char *agent, *tasks;
	} cases[] = {
		{ "grpc", "grpc" },
		{ "HTTP/JSON", "http/json" },
		{ "http/protobuf", "http/protobuf" },
		{ "file", "http/protobuf" },
	};
	const struct lens_launch launch = batch_launch(100);
	struct lens_env *env = task_environment();

	sample_key(*state, "TaskEndpoint", "http://tasks:4317");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_env *out;

		sample_key(*state, "Protocol", cases[i].agent);
		out = sample_tell(*state, env, &launch, NULL);
		assert_variable(out, "OTEL_EXPORTER_OTLP_PROTOCOL", cases[i].tasks);
		lens_env_destroy(out);
	}
	lens_env_destroy(env);
}

static void the_strategies(void **state)
{
	static const struct {
		const char *strategy, *rank, *rate;
		const char *exports; /* of the world's ranks, on nodes of four */
	} cases[] = {
		{ NULL, NULL, NULL, "00000001" },
		{ "single_rank", "2", NULL, "00100000" },
		{ "single_rank", "8", NULL, "00000000" },
		{ "all_ranks", NULL, NULL, "11111111" },
		{ "first_rank_per_node", NULL, NULL, "10001000" },
		{ "sampled", NULL, "0.25", "00011110" },
		{ "sampled", NULL, "0", "00000000" },
	};
	const struct lens_launch launch = step_launch(100, 0);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_env *env = task_environment();

		environment_set(env, "NEMO_LENS_EXPORT_STRATEGY", cases[i].strategy);
		environment_set(env, "NEMO_LENS_EXPORT_RANK", cases[i].rank);
		environment_set(env, "NEMO_LENS_EXPORT_SAMPLE_RATE", cases[i].rate);
		for (uint32_t r = 0; r < 8; r++) {
			const struct lens_rank rank = { .rank = r, .world = 8, .local = r % 4 };
			struct sample *sample = *state;
			struct lens_env *out = sample_tell(sample, env, &launch, &rank), *clean;
			bool want = cases[i].exports[r] == '1';
			char place[16];

			if (sample->exports != want)
				fail_msg("case %zu, rank %u", i, r);
			assert_variable(out, "NEMO_LENS_ENABLED", want ? "1" : "0");
			assert_variable(out, "NEMO_LENS_EXPORT_STRATEGY", "all_ranks");
			assert_variable(out, "NEMO_LENS_EXPORT_RANK", cases[i].rank);
			snprintf(place, sizeof(place), "0/%u", r);
			assert_span(out, &launch, want ? "slurm.task" : "slurm.step",
				    want ? place : "0");
			clean = lens_mark_clean(lens_env_array(out), 100, NULL);
			assert_same_environment(clean, env);
			lens_env_destroy(clean);
			lens_env_destroy(out);
		}
		lens_env_destroy(env);
	}
}

static void a_rank_outside_the_world_is_said(void **state)
{
	const struct lens_launch launch = step_launch(100, 0);
	struct sample *sample = *state;
	struct lens_env *env = task_environment();

	sample_option(sample, "lens-rank", "4294967296");
	for (uint32_t r = 0; r < 4; r++) {
		const struct lens_rank rank = { .rank = r, .world = 4, .local = r % 2 };
		struct lens_env *out = sample_tell(sample, env, &launch, &rank);

		assert_false(sample->exports);
		assert_int_equal(sample->problems, 1);
		assert_string_equal(sample->problem,
				    "single_rank: rank 4294967296 is outside the step's 4 ranks, "
				    "so no rank exports");
		lens_env_destroy(out);
	}
	lens_env_destroy(env);
}

static void a_launcher_passes_the_strategy_on(void **state)
{
	struct lens_launch launch = step_launch(100, 0);
	const struct lens_rank rank = { .rank = 1, .world = 2, .local = 0 };
	struct sample *sample = *state;
	struct lens_env *env = task_environment(), *out, *clean;

	launch.launched = true;
	environment_set(env, "NEMO_LENS_EXPORT_RANK", "5");
	sample_option(sample, "lens-strategy", "sampled");
	sample_key(sample, "SampleRate", "0.1");
	out = sample_tell(sample, env, &launch, &rank);
	assert_true(sample->exports);
	assert_variable(out, "NEMO_LENS_ENABLED", "1");
	assert_variable(out, "NEMO_LENS_EXPORT_STRATEGY", "sampled");
	assert_variable(out, "NEMO_LENS_EXPORT_RANK", "5");
	assert_variable(out, "NEMO_LENS_EXPORT_SAMPLE_RATE", "0.1");
	assert_key(out, "nv.dl.rank", NULL);
	assert_key(out, "nv.dl.world_size", NULL);
	assert_key(out, "service.instance.id", NULL);
	clean = lens_mark_clean(lens_env_array(out), 100, NULL);
	assert_same_environment(clean, env);
	lens_env_destroy(clean);
	lens_env_destroy(out);
	lens_env_destroy(env);
}

static void the_gate_of_the_sdk(void **state)
{
	static const struct {
		const char *users;
		uint32_t rank;
		const char *out;
	} cases[] = {
		{ NULL, 0, "true" },   { NULL, 1, NULL }, { "false", 0, "false" },
		{ "true", 1, "true" }, { "", 0, "true" },
	};
	const struct lens_launch launch = step_launch(100, 0);

	sample_key(*state, "Gate", "otel");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lens_rank rank = { .rank = cases[i].rank, .world = 2, .local = 0 };
		struct lens_env *env = task_environment(), *out;

		environment_set(env, "OTEL_SDK_DISABLED", cases[i].users);
		out = sample_tell(*state, env, &launch, &rank);
		assert_variable(out, "OTEL_SDK_DISABLED", cases[i].out);
		lens_env_destroy(out);
		lens_env_destroy(env);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		sample_test(the_run_id),
		sample_test(a_run_id_that_is_none),
		sample_test(a_run_id_by_option_beats_an_attribute_by_option),
		sample_test(the_service),
		sample_test(the_endpoint),
		sample_test(the_protocol_is_the_agents),
		sample_test(the_strategies),
		sample_test(a_rank_outside_the_world_is_said),
		sample_test(a_launcher_passes_the_strategy_on),
		sample_test(the_gate_of_the_sdk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
