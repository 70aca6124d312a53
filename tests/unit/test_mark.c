/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/mark.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/unit/environment.h"

#define LENS_TRACE  "00-596be2a5d217a7f5994b1f8309615239-49d65fd1de64fc08-01"
#define OUTER_TRACE "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"

static char *const *array(const struct lens_env *env)
{
	return lens_env_array(env);
}

/* ENV without lens; the caller destroys. */
static struct lens_env *clean(const struct lens_env *env, uint32_t job)
{
	struct lens_env *out = lens_mark_clean(array(env), job, NULL);

	assert_non_null(out);
	return out;
}

static void put_mark(struct lens_env *env, const struct lens_mark *mark)
{
	char *text = lens_mark_format(mark);

	assert_non_null(text);
	environment_set(env, LENS_MARK_NAME, text);
	free(text);
}

/* What a user's environment is before lens. */
static struct lens_env *users_environment(void)
{
	return environment("PATH=/bin", "OTEL_RESOURCE_ATTRIBUTES=team=a,slurm.ntasks=many",
			   "NEMO_LENS_EXPORT_STRATEGY=sampled", "TRACEPARENT=" OUTER_TRACE,
			   "TRACESTATE=x=1,y= 2");
}

/* The same after lens in job 100, attempt 2. */
static struct lens_env *marked_environment(void)
{
	struct lens_env *env = users_environment();
	struct lens_mark *mark = lens_mark_create(100, 2);

	assert_non_null(mark);
	assert_int_equal(lens_mark_keep_key(mark, "slurm.ntasks", "many"), 0);
	assert_int_equal(lens_mark_add_key(mark, "slurm.ntasks", "4"), 0);
	assert_int_equal(lens_mark_add_key(mark, "slurm.job.id.raw", "100"), 0);
	assert_int_equal(lens_mark_add_key(mark, "slurm.job.name", "a, b"), 0);
	environment_set(env, LENS_ATTRIBUTES_NAME,
			"slurm.ntasks=4,slurm.job.id.raw=100,slurm.job.name=a%2C%20b,team=a");
	assert_int_equal(lens_mark_add_variable(mark, "NEMO_LENS_ENABLED", "0"), 0);
	environment_set(env, "NEMO_LENS_ENABLED", "0");
	assert_int_equal(lens_mark_keep_variable(mark, "NEMO_LENS_EXPORT_STRATEGY", "sampled"), 0);
	assert_int_equal(lens_mark_add_variable(mark, "NEMO_LENS_EXPORT_STRATEGY", "all_ranks"), 0);
	environment_set(env, "NEMO_LENS_EXPORT_STRATEGY", "all_ranks");
	assert_int_equal(lens_mark_keep_variable(mark, "TRACEPARENT", OUTER_TRACE), 0);
	assert_int_equal(lens_mark_add_variable(mark, "TRACEPARENT", LENS_TRACE), 0);
	environment_set(env, "TRACEPARENT", LENS_TRACE);
	assert_int_equal(lens_mark_keep_variable(mark, "TRACESTATE", "x=1,y= 2"), 0);
	assert_int_equal(lens_mark_add_variable(mark, "TRACESTATE", NULL), 0);
	environment_set(env, "TRACESTATE", NULL);
	assert_int_equal(lens_mark_set_fact(mark, "head", "n1"), 0);
	put_mark(env, mark);
	lens_mark_destroy(mark);
	return env;
}

static void the_line_goes_there_and_back(void **state)
{
	struct lens_mark *mark = lens_mark_create(4294967295U, 2), *read;
	char *line, *again;

	(void)state;
	assert_int_equal(lens_mark_set_fact(mark, "head", "n1"), 0);
	assert_int_equal(lens_mark_set_fact(mark, "array", "36_3"), 0);
	assert_int_equal(lens_mark_set_fact(mark, "span", NULL), 0);
	assert_int_equal(lens_mark_add_variable(mark, "X", "1"), 0);
	assert_int_equal(lens_mark_add_variable(mark, "Y", NULL), 0);
	assert_int_equal(lens_mark_add_key(mark, "team", ""), 0);
	assert_int_equal(lens_mark_keep_variable(mark, "X", "a=b, c%2C\n"), 0);
	assert_int_equal(lens_mark_keep_key(mark, "team", "t"), 0);
	line = lens_mark_format(mark);
	/* The prints are the first eight digits that `printf %s 1 | sha256sum` says. */
	assert_string_equal(line, "v=1,job=4294967295,attempt=2,head=n1,array=36_3,s.X=6b86b273,"
				  "s.Y=-,k.team=e3b0c442,u.X=a%3Db%2C%20c%252C%0A,o.team=t,end=");
	read = lens_mark_parse(line);
	assert_non_null(read);
	assert_true(lens_mark_job(read) == 4294967295U);
	assert_int_equal(lens_mark_attempt(read), 2);
	assert_string_equal(lens_mark_fact(read, "head"), "n1");
	assert_string_equal(lens_mark_fact(read, "array"), "36_3");
	assert_null(lens_mark_fact(read, "span"));
	again = lens_mark_format(read);
	assert_string_equal(again, line);
	free(line);
	free(again);
	lens_mark_destroy(mark);
	lens_mark_destroy(read);
	lens_mark_destroy(NULL);
}

static void what_is_no_mark(void **state)
{
	static const char *const bad[] = {
		NULL,
		"",
		"1",
		"job=1,attempt=0,end=",
		"v=2,job=1,attempt=0,end=",
		"v=1,end=",
		"v=1,job=1,end=",
		"v=1,attempt=0,end=",
		"v=1,job=,attempt=0,end=",
		"v=1,job=x,attempt=0,end=",
		"v=1,job=-1,attempt=0,end=",
		"v=1,job=4294967296,attempt=0,end=",
		"v=1,job=1,attempt=-1,end=",
		"v=1%00,job=1,attempt=0,end=",
		"v=1,job=1,attempt=0",
		"v=1,job=1,attempt=0,end",
	};
	struct lens_mark *mark;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (lens_mark_parse(bad[i]))
			fail_msg("`%s` was taken for a mark", bad[i] ? bad[i] : "(none)");
	/* A later lens may say more. */
	mark = lens_mark_parse("v=1,job=7,attempt=0,new=1,z.X=2,end=,newer=1");
	assert_non_null(mark);
	assert_int_equal(lens_mark_job(mark), 7);
	lens_mark_destroy(mark);
}

static void lens_goes_and_the_user_comes_back(void **state)
{
	static const uint32_t jobs[] = { 100, 101, 0 };
	struct lens_env *env = marked_environment(), *user = users_environment();

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct lens_mark *mark = NULL;
		struct lens_env *out = lens_mark_clean(array(env), jobs[i], &mark);

		assert_key(out, "team", "a");
		assert_key(out, "slurm.ntasks", "many");
		assert_key(out, "slurm.job.id.raw", NULL);
		assert_key(out, "slurm.job.name", NULL);
		environment_set(out, LENS_ATTRIBUTES_NAME, "team=a,slurm.ntasks=many");
		assert_same_environment(out, user);
		assert_int_equal(lens_mark_job(mark), 100);
		assert_int_equal(lens_mark_attempt(mark), 2);
		assert_string_equal(lens_mark_fact(mark, "head"), "n1");
		lens_mark_destroy(mark);
		lens_env_destroy(out);
	}
	lens_env_destroy(env);
	lens_env_destroy(user);
}

static void cleaning_twice_is_cleaning_once(void **state)
{
	struct lens_env *env = marked_environment();
	struct lens_env *once = clean(env, 100), *twice, *kept;

	(void)state;
	twice = clean(once, 100);
	assert_same_environment(twice, once);
	lens_env_destroy(twice);
	/* srun leaves the mark while it takes the values out. */
	kept = clean(env, 0);
	environment_set(kept, LENS_MARK_NAME, lens_env_get(array(env), LENS_MARK_NAME));
	twice = clean(kept, 100);
	assert_same_environment(twice, once);
	lens_env_destroy(twice);
	lens_env_destroy(kept);
	lens_env_destroy(once);
	lens_env_destroy(env);
}

static void what_was_edited_is_the_users(void **state)
{
	struct lens_env *env = marked_environment(), *out;

	(void)state;
	environment_set(env, "NEMO_LENS_ENABLED", "1");
	environment_set(env, "NEMO_LENS_EXPORT_STRATEGY", "first_rank_per_node");
	environment_set(env, LENS_ATTRIBUTES_NAME,
			"slurm.ntasks=8,slurm.job.id.raw=100,slurm.job.name=a%2c b,team=b");
	out = clean(env, 100);
	assert_variable(out, "NEMO_LENS_ENABLED", "1");
	assert_variable(out, "NEMO_LENS_EXPORT_STRATEGY", "first_rank_per_node");
	assert_key(out, "slurm.ntasks", "8");
	assert_key(out, "team", "b");
	/* Written in another way, the value is the same. */
	assert_key(out, "slurm.job.name", NULL);
	assert_key(out, "slurm.job.id.raw", NULL);
	lens_env_destroy(out);
	/* A key that the user took out stays out, whatever it was before lens. */
	environment_set(env, LENS_ATTRIBUTES_NAME, "slurm.job.id.raw=100");
	out = clean(env, 100);
	assert_variable(out, LENS_ATTRIBUTES_NAME, NULL);
	lens_env_destroy(out);
	lens_env_destroy(env);
}

static void a_trace_state_follows_its_parent(void **state)
{
	struct lens_env *env = marked_environment(), *out;

	(void)state;
	/* A span that the user's script opened has a state of its own, or none. */
	environment_set(env, "TRACEPARENT",
			"00-596be2a5d217a7f5994b1f8309615239-1111111111111111-01");
	out = clean(env, 100);
	assert_variable(out, "TRACESTATE", NULL);
	lens_env_destroy(out);
	environment_set(env, "TRACESTATE", "mine=1");
	out = clean(env, 100);
	assert_variable(out, "TRACESTATE", "mine=1");
	lens_env_destroy(out);
	/* --export=NONE keeps the mark alone. */
	environment_set(env, "TRACEPARENT", NULL);
	environment_set(env, "TRACESTATE", NULL);
	out = clean(env, 100);
	assert_variable(out, "TRACEPARENT", NULL);
	assert_variable(out, "TRACESTATE", NULL);
	lens_env_destroy(out);
	lens_env_destroy(env);
}

static void values_dropped_and_the_mark_kept(void **state)
{
	struct lens_env *env = marked_environment(), *out;
	struct lens_env *bare = environment("PATH=/bin", "OTEL_RESOURCE_ATTRIBUTES=x=1");

	(void)state;
	environment_set(bare, LENS_MARK_NAME, lens_env_get(array(env), LENS_MARK_NAME));
	out = clean(bare, 101);
	environment_set(bare, LENS_MARK_NAME, NULL);
	assert_same_environment(out, bare);
	lens_env_destroy(out);
	lens_env_destroy(bare);
	lens_env_destroy(env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_goes_there_and_back),
		cmocka_unit_test(what_is_no_mark),
		cmocka_unit_test(lens_goes_and_the_user_comes_back),
		cmocka_unit_test(cleaning_twice_is_cleaning_once),
		cmocka_unit_test(what_was_edited_is_the_users),
		cmocka_unit_test(a_trace_state_follows_its_parent),
		cmocka_unit_test(values_dropped_and_the_mark_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
