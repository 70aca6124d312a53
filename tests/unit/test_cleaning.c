/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/core/cleaning.h"
#include "tests/unit/environment.h"

#include <errno.h>
#include <stdio.h>

#define OUTER_TRACE "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01"
#define LENS_TRACE  "00-cccccccccccccccccccccccccccccccc-dddddddddddddddd-01"

/* What srun inside a batch script hands on, in which lens set and took out variables. */
static struct lens_env *inherited(void)
{
	struct lens_env *env = environment(
		"PATH=/bin", "OTEL_RESOURCE_ATTRIBUTES=slurm.job.id.raw=100,slurm.ntasks=4,team=a",
		"NEMO_LENS_ENABLED=1", "NEMO_LENS_RUN_ID=100", "TRACEPARENT=" LENS_TRACE,
		"SLURM_PROCID=0");
	struct lens_mark *mark = lens_mark_create(100, 0);
	char *text;

	assert_int_equal(lens_mark_add_key(mark, "slurm.job.id.raw", "100"), 0);
	assert_int_equal(lens_mark_keep_key(mark, "slurm.ntasks", "many"), 0);
	assert_int_equal(lens_mark_add_key(mark, "slurm.ntasks", "4"), 0);
	assert_int_equal(lens_mark_add_variable(mark, "NEMO_LENS_ENABLED", "1"), 0);
	assert_int_equal(lens_mark_add_variable(mark, "NEMO_LENS_RUN_ID", "100"), 0);
	assert_int_equal(lens_mark_keep_variable(mark, "TRACEPARENT", OUTER_TRACE), 0);
	assert_int_equal(lens_mark_add_variable(mark, "TRACEPARENT", LENS_TRACE), 0);
	assert_int_equal(lens_mark_keep_variable(mark, "TRACESTATE", "x=1"), 0);
	assert_int_equal(lens_mark_add_variable(mark, "TRACESTATE", NULL), 0);
	text = lens_mark_format(mark);
	environment_set(env, LENS_MARK_NAME, text);
	environment_set(env, LENS_ASKED_NAME, "v=1");
	free(text);
	lens_mark_destroy(mark);
	return env;
}

static struct lens_cleaning *cleaning_of(const struct lens_env *env)
{
	struct lens_mark *mark;
	struct lens_env *clean = lens_mark_clean(lens_env_array(env), 100, &mark);
	struct lens_cleaning *cleaning = lens_cleaning_create(lens_env_array(env), clean, mark);

	assert_non_null(cleaning);
	lens_env_destroy(clean);
	lens_mark_destroy(mark);
	return cleaning;
}

/* A task's environment has what Slurm adds, and lens's variables as they were. */
static void a_task_is_cleaned_as_its_step_was(void **state)
{
	struct lens_env *env = inherited(), *clean, *repeated;
	struct lens_cleaning *cleaning = cleaning_of(env);

	(void)state;
	environment_set(env, "SLURM_PROCID", "3");
	environment_set(env, "PATH", NULL);
	environment_set(env, "CUDA_VISIBLE_DEVICES", "0,1");
	clean = lens_mark_clean(lens_env_array(env), 100, NULL);
	repeated = lens_cleaning_repeat(cleaning, lens_env_array(env));
	assert_non_null(repeated);
	assert_same_environment(repeated, clean);
	assert_variable(repeated, LENS_ATTRIBUTES_NAME, "slurm.ntasks=many,team=a");
	assert_variable(repeated, "TRACEPARENT", OUTER_TRACE);
	assert_variable(repeated, "TRACESTATE", "x=1");
	assert_variable(repeated, "NEMO_LENS_RUN_ID", NULL);
	lens_env_destroy(repeated);
	lens_env_destroy(clean);
	lens_cleaning_destroy(cleaning);
	lens_env_destroy(env);
}

/* What somebody changed since is the user's: the mark has to say of each what it is. */
static void another_value_is_not_taken_for_the_same(void **state)
{
	static const char *const names[] = {
		LENS_MARK_NAME,     LENS_ASKED_NAME, LENS_ATTRIBUTES_NAME, "NEMO_LENS_ENABLED",
		"NEMO_LENS_RUN_ID", "TRACEPARENT",   "TRACESTATE",
	};
	struct lens_env *env = inherited();
	struct lens_cleaning *cleaning = cleaning_of(env);

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct lens_env *changed = lens_env_copy(env), *repeated;

		environment_set(changed, names[i], "theirs");
		assert_null(lens_cleaning_repeat(cleaning, lens_env_array(changed)));
		environment_set(changed, names[i], NULL);
		repeated = lens_cleaning_repeat(cleaning, lens_env_array(changed));
		if (repeated && lens_env_value(env, names[i]))
			fail_msg("%s is gone, and nobody saw it", names[i]);
		lens_env_destroy(repeated);
		lens_env_destroy(changed);
	}
	lens_cleaning_destroy(cleaning);
	lens_env_destroy(env);
}

static void without_a_mark(void **state)
{
	struct lens_env *env = environment("PATH=/bin", "OTEL_RESOURCE_ATTRIBUTES=team=a"), *clean;
	struct lens_cleaning *cleaning = cleaning_of(env);

	(void)state;
	clean = lens_cleaning_repeat(cleaning, lens_env_array(env));
	assert_same_environment(clean, env);
	lens_env_destroy(clean);
	environment_set(env, LENS_MARK_NAME, "v=1,job=1,attempt=0,end=");
	assert_null(lens_cleaning_repeat(cleaning, lens_env_array(env)));
	assert_null(lens_cleaning_repeat(NULL, lens_env_array(env)));
	errno = EAGAIN;
	lens_cleaning_destroy(cleaning);
	lens_cleaning_destroy(NULL);
	assert_int_equal(errno, EAGAIN);
	lens_env_destroy(env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_is_cleaned_as_its_step_was),
		cmocka_unit_test(another_value_is_not_taken_for_the_same),
		cmocka_unit_test(without_a_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
