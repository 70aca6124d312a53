/* SPDX-License-Identifier: Apache-2.0 */
/* Slurm takes no variable of 128 KiB, and does not say so. */
#include "lib/core/inject.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/core/encoding.h"
#include "tests/unit/inject_sample.h"

/* The longest value that Slurm's setenvf takes for OTEL_RESOURCE_ATTRIBUTES (src/common/env.c). */
#define LONGEST 131045

static struct lens_env *batch_environment(void)
{
	return environment("PATH=/bin", "SLURM_JOB_ID=100", "SLURM_JOB_NAME=train");
}

/* `big=xxx...` of LENGTH bytes in all; the caller frees. */
static char *big_carrier(size_t length)
{
	char *carrier = malloc(length + 1);

	assert_non_null(carrier);
	memset(carrier, 'x', length);
	memcpy(carrier, "big=", 4);
	carrier[length] = '\0';
	return carrier;
}

/* What becomes of a carrier of LENGTH bytes; the caller destroys. */
static struct lens_env *tell_big(struct sample *sample, size_t length)
{
	const struct lens_launch launch = batch_launch(100);
	struct lens_env *env = batch_environment(), *out;
	char *carrier = big_carrier(length);

	environment_set(env, LENS_ATTRIBUTES_NAME, carrier);
	out = sample_tell(sample, env, &launch, NULL);
	free(carrier);
	lens_env_destroy(env);
	return out;
}

static size_t attributes_length(const struct lens_env *env)
{
	return strlen(lens_env_get(lens_env_array(env), LENS_ATTRIBUTES_NAME));
}

static void what_does_not_fit_leaves_the_users_value_whole(void **state)
{
	struct sample *sample = *state;
	struct lens_env *out = tell_big(sample, 131000), *clean;
	char *carrier = big_carrier(131000);

	assert_variable(out, LENS_ATTRIBUTES_NAME, carrier);
	assert_int_equal(sample->problems, 1);
	assert_non_null(strstr(sample->problem, "OTEL_RESOURCE_ATTRIBUTES"));
	assert_non_null(strstr(sample->problem, "128 KiB"));
	/* The rest of the identity is there all the same. */
	assert_variable(out, "NEMO_LENS_ENABLED", "1");
	assert_variable(out, "NEMO_LENS_RUN_ID", "100");
	assert_non_null(lens_env_get(lens_env_array(out), "TRACEPARENT"));
	clean = lens_mark_clean(lens_env_array(out), 100, NULL);
	assert_variable(clean, LENS_ATTRIBUTES_NAME, carrier);
	assert_variable(clean, "NEMO_LENS_RUN_ID", NULL);
	free(carrier);
	lens_env_destroy(clean);
	lens_env_destroy(out);
}

static void the_last_byte_counts(void **state)
{
	struct sample *sample = *state;
	struct lens_env *out = tell_big(sample, 10 * 1024);
	size_t ours = attributes_length(out) - 10 * 1024;

	assert_key(out, "slurm.job.id", "100");
	lens_env_destroy(out);
	out = tell_big(sample, LONGEST - ours);
	assert_int_equal(attributes_length(out), LONGEST);
	assert_int_equal(sample->problems, 0);
	assert_key(out, "slurm.job.id", "100");
	lens_env_destroy(out);
	out = tell_big(sample, LONGEST - ours + 1);
	assert_int_equal(attributes_length(out), LONGEST - ours + 1);
	assert_int_equal(sample->problems, 1);
	assert_key(out, "slurm.job.id", NULL);
	lens_env_destroy(out);
}

/* A mark that cannot be left: said once, and the task is told. */
static void a_mark_that_does_not_fit(void **state)
{
	const struct lens_launch launch = batch_launch(100);
	struct sample *sample = *state;
	struct lens_env *env = batch_environment(), *out;
	char *state_value = malloc(100001);

	memset(state_value, ',', 100000);
	state_value[100000] = '\0';
	environment_set(env, "TRACEPARENT", "x");
	environment_set(env, "TRACESTATE", state_value);
	out = sample_tell(sample, env, &launch, NULL);
	assert_variable(out, LENS_MARK_NAME, NULL);
	assert_int_equal(sample->problems, 1);
	assert_non_null(strstr(sample->problem, LENS_MARK_NAME));
	assert_key(out, "slurm.job.id", "100");
	for (char *const *string = lens_env_array(out); *string; string++)
		assert_true(strlen(*string) + 1 < 131072);
	free(state_value);
	lens_env_destroy(out);
	lens_env_destroy(env);
}

/* A JavaScript SDK drops every attribute when one value has more than 255 characters. */
static void no_value_of_ours_is_longer_than_255_bytes(void **state)
{
	const struct lens_rank rank = { .rank = 4294967294U, .world = 4294967295U, .local = 1 };
	struct lens_launch launch = step_launch(100, 0);
	struct lens_env *env = batch_environment(), *out;
	struct lens_carrier *carrier;
	char longest[301];

	memset(longest, 'y', 300);
	longest[300] = '\0';
	environment_set(env, "SLURM_JOB_NAME", longest);
	environment_set(env, "SLURM_JOB_PARTITION", longest);
	environment_set(env, "SLURM_ARRAY_JOB_ID", longest);
	environment_set(env, "SLURM_ARRAY_TASK_ID", longest);
	environment_set(env, "DEPLOYMENT_ENV", longest);
	environment_set(env, "SLURM_CONTAINER", longest);
	launch.array = true;
	launch.host = longest;
	launch.sluid = longest;
	longest[255] = '\0';
	sample_option(*state, "lens-run-id", longest);
	longest[255] = 'y';
	out = sample_tell(*state, env, &launch, &rank);
	carrier = carrier_make(lens_env_get(lens_env_array(out), LENS_ATTRIBUTES_NAME));
	assert_int_equal(strlen(lens_carrier_get(carrier, "nemo.run.id")), 255);
	assert_int_equal(strlen(lens_carrier_get(carrier, "slurm.job.name")), 255);
	for (size_t i = 0; i < lens_carrier_count(carrier); i++)
		if (strlen(lens_carrier_value(carrier, i)) > LENS_VALUE_MAX)
			fail_msg("%s is %zu bytes", lens_carrier_key(carrier, i),
				 strlen(lens_carrier_value(carrier, i)));
	assert_non_null(
		strstr(lens_carrier_get(carrier, "service.instance.id"), "y-rank4294967294"));
	lens_carrier_destroy(carrier);
	lens_env_destroy(out);
	lens_env_destroy(env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		sample_test(what_does_not_fit_leaves_the_users_value_whole),
		sample_test(the_last_byte_counts),
		sample_test(a_mark_that_does_not_fit),
		sample_test(no_value_of_ours_is_longer_than_255_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
