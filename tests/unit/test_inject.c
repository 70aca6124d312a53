/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/inject.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/inject_sample.h"

static struct lens_env *batch_environment(void)
{
	return environment("PATH=/bin", "SLURM_JOB_ID=12345", "SLURM_JOB_NAME=train",
			   "SLURM_CLUSTER_NAME=mini", "SLURM_JOB_NUM_NODES=2", "SLURM_NTASKS=4",
			   "SLURMD_NODENAME=n1", "RANK=7");
}

static void the_batch_script_is_no_rank(void **state)
{
	const struct lens_launch launch = batch_launch(12345);
	struct lens_env *env = batch_environment();
	struct lens_env *out = sample_tell(*state, env, &launch, NULL);
	struct sample *sample = *state;

	assert_true(sample->exports);
	assert_int_equal(sample->problems, 0);
	assert_variable(out, "NEMO_LENS_ENABLED", "1");
	assert_variable(out, "NEMO_LENS_RUN_ID", "12345");
	assert_variable(out, "TRACEPARENT",
			"00-596be2a5d217a7f5994b1f8309615239-49d65fd1de64fc08-01");
	assert_key(out, "slurm.job.id", "12345");
	assert_key(out, "nemo.run.id", "12345");
	assert_key(out, "slurm.job.name", "train");
	assert_key(out, "slurm.head_node.name", "n1");
	assert_key(out, "slurm.nnodes", "2");
	assert_key(out, "host.name", "h");
	assert_key(out, "nv.dl.rank", NULL);
	assert_key(out, "nv.dl.world_size", NULL);
	assert_key(out, "nv.dl.local_rank", NULL);
	assert_key(out, "service.instance.id", NULL);
	assert_key(out, "service.name", NULL);
	assert_variable(out, "OTEL_EXPORTER_OTLP_ENDPOINT", NULL);
	assert_variable(out, "OTEL_SERVICE_NAME", NULL);
	assert_variable(out, "OTEL_SDK_DISABLED", NULL);
	lens_env_destroy(out);
	lens_env_destroy(env);
}

static void a_task_is_a_rank(void **state)
{
	const struct lens_launch launch = step_launch(12345, 0);
	const struct lens_rank rank = { .rank = 3, .world = 4, .local = 1 };
	struct lens_env *env = batch_environment(), *out = sample_tell(*state, env, &launch, &rank);
	struct sample *sample = *state;

	assert_true(sample->exports);
	assert_variable(out, "NEMO_LENS_ENABLED", "1");
	assert_variable(out, "NEMO_LENS_EXPORT_STRATEGY", "all_ranks");
	assert_variable(out, "TRACEPARENT",
			"00-596be2a5d217a7f5994b1f8309615239-e0f506154ca20ab8-01");
	assert_key(out, "nv.dl.rank", "3");
	assert_key(out, "nv.dl.world_size", "4");
	assert_key(out, "nv.dl.local_rank", "1");
	assert_key(out, "service.instance.id", "12345-rank3");
	assert_key(out, "slurm.head_node.name", NULL);
	lens_env_destroy(out);
	lens_env_destroy(env);
}

static void a_value_is_joined_without_an_empty_entry(void **state)
{
	static const struct {
		const char *user, *ours;
	} cases[] = {
		{ "", "" },
		{ ",", "" },
		{ " , ,, ", "" },
		{ "team=a,", "team=a" },
		{ " , team=a ,, ", "team=a" },
		{ "team=a,team=b", "team=b" },
	};
	const struct lens_launch launch = batch_launch(12345);
	struct lens_env *env = batch_environment();
	struct lens_env *plain = sample_tell(*state, env, &launch, NULL);
	const char *ours = lens_env_get(lens_env_array(plain), LENS_ATTRIBUTES_NAME);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_env *out;
		char *want;

		environment_set(env, LENS_ATTRIBUTES_NAME, cases[i].user);
		out = sample_tell(*state, env, &launch, NULL);
		if (asprintf(&want, "%s%s%s", ours, *cases[i].ours ? "," : "", cases[i].ours) < 0)
			fail_msg("out of memory");
		assert_variable(out, LENS_ATTRIBUTES_NAME, want);
		assert_int_equal(((struct sample *)*state)->problems, 0);
		free(want);
		lens_env_destroy(out);
	}
	lens_env_destroy(plain);
	lens_env_destroy(env);
}

/* One problem names the entry and not its value; what stays is written so that every reader
 * takes it. */
static void malformed_entries(void **state)
{
	static const struct {
		const char *user, *key, *value;
		const char *problem; /* NULL: none */
	} cases[] = {
		{ "foo", "foo", NULL, "`foo`" },
		{ "team=a=b", "team", "a=b", NULL },
		{ "k=%ZZ", "k", "%ZZ", NULL },
		{ "k=", "k", "", NULL },
		{ "'team=a", "'team", "a", NULL },
		{ "=secret", "", NULL, "`=`" },
		{ "a%ZZ=secret,team=b", "team", "b", "`a%ZZ`" },
		{ "k=secret%00,foo", "k", NULL, "2 malformed entries" },
		{ "k=a%E9b", "k",
		  "a\xef\xbf\xbd"
		  "b",
		  NULL },
		{ "slurm.job.name=mine", "slurm.job.name", "mine", NULL },
		{ "slurm.job.name = mine ", "slurm.job.name", "mine", NULL },
		{ "slurm.ntasks=many", "slurm.ntasks", "4", NULL },
		{ "slurm.ntasks=+8", "slurm.ntasks", "+8", NULL },
		{ "service.name=svc%2C1", "service.name", "svc,1", NULL },
	};
	const struct lens_launch launch = batch_launch(12345);
	struct sample *sample = *state;
	struct lens_env *env = batch_environment();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_env *out;
		const char *carrier;

		environment_set(env, LENS_ATTRIBUTES_NAME, cases[i].user);
		out = sample_tell(sample, env, &launch, NULL);
		expect_key(out, cases[i].key, cases[i].value, (int)i);
		assert_key(out, "slurm.job.id", "12345");
		carrier = lens_env_get(lens_env_array(out), LENS_ATTRIBUTES_NAME);
		assert_null(strstr(carrier, "%ZZ"));
		assert_null(strstr(carrier, "%E9"));
		assert_int_equal(sample->problems, cases[i].problem != NULL);
		if (cases[i].problem && (!strstr(sample->problem, cases[i].problem) ||
					 strstr(sample->problem, "secret")))
			fail_msg("case %zu: %s", i, sample->problem);
		lens_env_destroy(out);
	}
	lens_env_destroy(env);
}

static void a_key_is_there_once(void **state)
{
	const struct lens_launch launch = step_launch(12345, 0);
	const struct lens_rank rank = { .rank = 3, .world = 4, .local = 1 };
	struct lens_env *env = batch_environment(), *out;
	const char *carrier;

	environment_set(env, LENS_ATTRIBUTES_NAME,
			"nv.dl.rank=9,slurm.job.name=mine,slurm.job.name=yours,nv.dl.rank=8");
	out = sample_tell(*state, env, &launch, &rank);
	assert_key(out, "nv.dl.rank", "8");
	assert_key(out, "slurm.job.name", "yours");
	carrier = lens_env_get(lens_env_array(out), LENS_ATTRIBUTES_NAME);
	assert_null(strstr(strstr(carrier, "nv.dl.rank=") + 1, "nv.dl.rank="));
	assert_null(strstr(strstr(carrier, "slurm.job.name=") + 1, "slurm.job.name="));
	lens_env_destroy(out);
	lens_env_destroy(env);
}

static void a_job_name_of_any_bytes(void **state)
{
	const struct lens_launch launch = batch_launch(12345);
	struct lens_env *env = batch_environment(), *out;
	char name[401] = "", carrier[500];

	environment_set(env, "SLURM_JOB_NAME", "caf\xe9");
	out = sample_tell(*state, env, &launch, NULL);
	assert_non_null(strstr(lens_env_get(lens_env_array(out), LENS_ATTRIBUTES_NAME),
			       ",slurm.job.name=caf%EF%BF%BD,"));
	lens_env_destroy(out);
	environment_set(env, "SLURM_JOB_NAME", "\xf0\x9f\x9a\x80, a=b%");
	out = sample_tell(*state, env, &launch, NULL);
	assert_non_null(strstr(lens_env_get(lens_env_array(out), LENS_ATTRIBUTES_NAME),
			       ",slurm.job.name=%F0%9F%9A%80%2C%20a%3Db%25,"));
	lens_env_destroy(out);
	for (size_t i = 0; i < 200; i++)
		strcat(name, "\xc3\xa9");
	environment_set(env, "SLURM_JOB_NAME", name);
	out = sample_tell(*state, env, &launch, NULL);
	name[254] = '\0';
	assert_key(out, "slurm.job.name", name);
	lens_env_destroy(out);
	/* The user's own value is never cut. */
	memset(name, 'n', sizeof(name) - 1);
	snprintf(carrier, sizeof(carrier), "slurm.job.name=%s", name);
	environment_set(env, LENS_ATTRIBUTES_NAME, carrier);
	out = sample_tell(*state, env, &launch, NULL);
	assert_key(out, "slurm.job.name", name);
	lens_env_destroy(out);
	lens_env_destroy(env);
}

static void the_attempt_is_not_the_environments(void **state)
{
	struct lens_launch launch = batch_launch(12345);
	struct lens_env *env = batch_environment(), *out;

	launch.attempt = 1;
	environment_set(env, "SLURM_RESTART_COUNT", "77");
	out = sample_tell(*state, env, &launch, NULL);
	assert_key(out, "slurm.restart_count", "1");
	assert_variable(out, "SLURM_RESTART_COUNT", "77");
	assert_non_null(strstr(lens_env_get(lens_env_array(out), "TRACEPARENT"),
			       "ac7efdcece563fbeb417de698473a515"));
	lens_env_destroy(out);
	lens_env_destroy(env);
}

static void an_array_only_where_it_is_one(void **state)
{
	struct lens_launch launch = batch_launch(12345);
	struct lens_env *env = batch_environment(), *out;
	struct lens_mark *mark;

	environment_set(env, "SLURM_ARRAY_JOB_ID", "12300");
	environment_set(env, "SLURM_ARRAY_TASK_ID", "0");
	environment_set(env, "SLURM_ARRAY_TASK_COUNT", "64");
	out = sample_tell(*state, env, &launch, NULL);
	assert_key(out, "slurm.job.id", "12345");
	assert_key(out, "slurm.array.job_id", "12345");
	assert_key(out, "slurm.array.task_id", "0");
	assert_key(out, "slurm.array.count", "1");
	assert_variable(out, "SLURM_ARRAY_JOB_ID", "12300");
	lens_env_destroy(out);
	launch.array = true;
	out = sample_tell(*state, env, &launch, NULL);
	assert_key(out, "slurm.job.id", "12300_0");
	assert_key(out, "slurm.job.id.raw", "12345");
	assert_key(out, "slurm.array.task_id", "0");
	assert_key(out, "slurm.array.count", "64");
	assert_key(out, "nemo.run.id", "12345");
	assert_span(out, &launch, "slurm.batch", "12345");
	mark = lens_mark_parse(lens_env_get(lens_env_array(out), LENS_MARK_NAME));
	assert_string_equal(lens_mark_fact(mark, "array"), "12300_0");
	lens_mark_destroy(mark);
	lens_env_destroy(out);
	lens_env_destroy(env);
}

/* The second component of a heterogeneous job: its tasks see the leader's id. */
static void a_component_of_a_heterogeneous_job(void **state)
{
	const struct lens_rank rank = { .rank = 2, .world = 3, .local = 1 };
	struct lens_launch launch = step_launch(12346, 1);
	struct lens_env *env = batch_environment(), *out;

	launch.leader = 12345;
	out = sample_tell(*state, env, &launch, &rank);
	assert_key(out, "slurm.job.id", "12345");
	assert_key(out, "slurm.job.id.raw", "12345");
	assert_key(out, "service.instance.id", "12345-rank2");
	assert_span(out, &launch, "slurm.task", "1/2");
	assert_non_null(strstr(lens_env_get(lens_env_array(out), "TRACEPARENT"),
			       "596be2a5d217a7f5994b1f8309615239"));
	lens_env_destroy(out);
	lens_env_destroy(env);
}

static void a_realm_sets_traces_apart(void **state)
{
	const struct lens_launch launch = batch_launch(12345);
	struct lens_env *env = batch_environment(), *out;

	sample_key(*state, "Realm", "east-2026");
	out = sample_tell(*state, env, &launch, NULL);
	expect_span(out, &launch, "east-2026", "slurm.batch", "12345", __LINE__);
	assert_non_null(strstr(lens_env_get(lens_env_array(out), "TRACEPARENT"),
			       "8c16c749709d0265e75ce174fedd21e1"));
	lens_env_destroy(out);
	lens_env_destroy(env);
}

/* --lens-traceparent=parent: the same span, in the submitter's trace and with its state. */
static void spans_may_go_into_the_submitters_trace(void **state)
{
	static const char outer[] = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-00";
	struct lens_launch launch = batch_launch(12345);
	struct lens_env *env = batch_environment(), *out;
	struct lens_mark *mark;

	launch.in_outer = true;
	assert_int_equal(lens_traceparent_parse(&launch.outer, outer), 0);
	environment_set(env, "TRACEPARENT", outer);
	environment_set(env, "TRACESTATE", "x=1");
	out = sample_tell(*state, env, &launch, NULL);
	assert_variable(out, "TRACEPARENT",
			"00-0123456789abcdef0123456789abcdef-49d65fd1de64fc08-00");
	assert_variable(out, "TRACESTATE", "x=1");
	mark = lens_mark_parse(lens_env_get(lens_env_array(out), LENS_MARK_NAME));
	assert_string_equal(lens_mark_fact(mark, "outer"), outer);
	assert_string_equal(lens_mark_fact(mark, "span"), "49d65fd1de64fc08");
	lens_mark_destroy(mark);
	lens_env_destroy(out);
	lens_env_destroy(env);
}

/* Slurm's own id of an attempt, which an outer job's must not stand for. */
static void the_sluid_is_this_attempts(void **state)
{
	struct lens_launch launch = batch_launch(12345);
	struct lens_env *env = batch_environment(), *first, *second;

	launch.sluid = "s1";
	first = sample_tell(*state, env, &launch, NULL);
	assert_variable(first, "LENS_SLURM_SLUID", "s1");
	assert_key(first, "slurm.sluid", "s1");
	launch.sluid = "s2";
	second = sample_tell(*state, first, &launch, NULL);
	assert_variable(second, "LENS_SLURM_SLUID", "s2");
	assert_key(second, "slurm.sluid", "s2");
	lens_env_destroy(first);
	launch.sluid = "";
	first = sample_tell(*state, second, &launch, NULL);
	assert_variable(first, "LENS_SLURM_SLUID", NULL);
	assert_key(first, "slurm.sluid", NULL);
	lens_env_destroy(first);
	lens_env_destroy(second);
	lens_env_destroy(env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		sample_test(the_batch_script_is_no_rank),
		sample_test(a_task_is_a_rank),
		sample_test(a_value_is_joined_without_an_empty_entry),
		sample_test(malformed_entries),
		sample_test(a_key_is_there_once),
		sample_test(a_job_name_of_any_bytes),
		sample_test(the_attempt_is_not_the_environments),
		sample_test(an_array_only_where_it_is_one),
		sample_test(a_component_of_a_heterogeneous_job),
		sample_test(a_realm_sets_traces_apart),
		sample_test(spans_may_go_into_the_submitters_trace),
		sample_test(the_sluid_is_this_attempts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
