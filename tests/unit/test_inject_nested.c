/* SPDX-License-Identifier: Apache-2.0 */
/* Steps in steps, jobs in jobs: what comes out of one level goes into the next. */
#include "lib/core/inject.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/inject_sample.h"

#define OUTER_TRACE "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"

static void set_number(struct lens_env *env, const char *name, uint32_t number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	environment_set(env, name, text);
}

static struct lens_env *copy(const struct lens_env *env)
{
	return environment_make((const char *const *)lens_env_array(env));
}

/* Takes what lens calls the user's and hands back: Slurm's own is not compared. */
static struct lens_env *without_slurm(const struct lens_env *env)
{
	struct lens_env *out = copy(env);

	for (char *const *string = lens_env_array(env); *string; string++) {
		char *name = strndup(*string, strcspn(*string, "="));

		if (strncmp(name, "SLURM", 5) == 0)
			environment_set(out, name, NULL);
		free(name);
	}
	return out;
}

static struct lens_env *users_environment(void)
{
	return environment("PATH=/bin", "OTEL_RESOURCE_ATTRIBUTES=team=a,slurm.segment=mine",
			   "NEMO_LENS_EXPORT_STRATEGY=first_rank_per_node",
			   "TRACEPARENT=" OUTER_TRACE, "TRACESTATE=x=1", "NEMO_LENS_ENABLED=1");
}

/* What Slurm overwrites for a batch script; what an outer step or array left stays. */
static void enter_batch(struct lens_env *env, uint32_t job)
{
	set_number(env, "SLURM_JOB_ID", job);
	set_number(env, "SLURM_NTASKS", 2);
	set_number(env, "SLURM_JOB_NUM_NODES", 1);
	environment_set(env, "SLURM_JOB_NAME", "script");
	environment_set(env, "SLURM_CLUSTER_NAME", "mini");
	environment_set(env, "SLURMD_NODENAME", "n1");
}

static void enter_task(struct lens_env *env, uint32_t job, uint32_t step,
		       const struct lens_rank *rank)
{
	set_number(env, "SLURM_JOB_ID", job);
	set_number(env, "SLURM_STEP_ID", step);
	set_number(env, "SLURM_STEPID", step);
	set_number(env, "SLURM_PROCID", rank->rank);
	set_number(env, "SLURM_LOCALID", rank->local);
	set_number(env, "SLURM_NTASKS", rank->world);
	environment_set(env, "SLURMD_NODENAME", "n2");
}

/* What srun's init does: lens's values go, the mark stays. */
static struct lens_env *srun(const struct lens_env *env)
{
	struct lens_env *out = lens_mark_clean(lens_env_array(env), 0, NULL);

	assert_non_null(out);
	environment_set(out, LENS_MARK_NAME, lens_env_get(lens_env_array(env), LENS_MARK_NAME));
	return out;
}

/* The batch script of job JOB started from ENV. */
static struct lens_env *run_batch(struct sample *sample, const struct lens_env *env, uint32_t job,
				  uint32_t attempt)
{
	struct lens_launch launch = batch_launch(job);
	struct lens_env *in = copy(env), *out;
	char place[16];

	launch.attempt = attempt;
	enter_batch(in, job);
	out = sample_tell(sample, in, &launch, NULL);
	assert_true(sample->exports);
	snprintf(place, sizeof(place), "%u", job);
	assert_span(out, &launch, "slurm.batch", place);
	lens_env_destroy(in);
	return out;
}

/* Rank RANK of two of srun STEP that was started from ENV. */
static struct lens_env *run_task(struct sample *sample, const struct lens_env *env, uint32_t job,
				 uint32_t step, uint32_t rank)
{
	const struct lens_launch launch = step_launch(job, step);
	const struct lens_rank numbers = { .rank = rank, .world = 2, .local = rank };
	struct lens_env *in = srun(env), *out;

	enter_task(in, job, step, &numbers);
	out = sample_tell(sample, in, &launch, &numbers);
	lens_env_destroy(in);
	return out;
}

static void expect_identity(struct lens_env *env, uint32_t job, const char *rank, int line)
{
	struct lens_env *clean = lens_mark_clean(lens_env_array(env), job, NULL), *users, *want;
	char text[16], instance[32];

	snprintf(text, sizeof(text), "%u", job);
	snprintf(instance, sizeof(instance), "%u-rank%s", job, rank ? rank : "");
	expect_key(env, "slurm.job.id", text, line);
	expect_key(env, "slurm.job.id.raw", text, line);
	expect_key(env, "slurm.array.job_id", text, line);
	expect_key(env, "nemo.run.id", text, line);
	expect_text("NEMO_LENS_RUN_ID", lens_env_get(lens_env_array(env), "NEMO_LENS_RUN_ID"), text,
		    line);
	expect_key(env, "nv.dl.rank", rank, line);
	expect_key(env, "nv.dl.local_rank", rank, line);
	expect_key(env, "service.instance.id", rank ? instance : NULL, line);
	expect_key(env, "team", "a", line);
	expect_key(env, "slurm.segment", "mine", line);
	/* And the user's own is there to come back, on each level. */
	users = without_slurm(clean);
	want = users_environment();
	expect_same(users, want, line);
	lens_env_destroy(want);
	lens_env_destroy(users);
	lens_env_destroy(clean);
}

#define assert_identity(env, job, rank) expect_identity(env, job, rank, __LINE__)

static void each_level_has_its_own_identity(void **state)
{
	struct sample *sample = *state;
	struct lens_env *user = users_environment();
	struct lens_env *batch = run_batch(sample, user, 100, 0);
	struct lens_env *task, *inner, *job, *last;

	sample_key(sample, "Gate", "otel");
	sample_key(sample, "TaskEndpoint", "http://tasks:4318");
	assert_identity(batch, 100, NULL);
	task = run_task(sample, batch, 100, 0, 1);
	assert_false(sample->exports);
	assert_variable(task, "OTEL_SDK_DISABLED", "true");
	assert_identity(task, 100, "1");
	/* A task that may not export starts a step and a job. */
	inner = run_task(sample, task, 100, 1, 0);
	assert_true(sample->exports);
	assert_variable(inner, "NEMO_LENS_ENABLED", "1");
	assert_variable(inner, "OTEL_SDK_DISABLED", NULL);
	assert_identity(inner, 100, "0");
	job = run_batch(sample, inner, 101, 0);
	assert_identity(job, 101, NULL);
	assert_key(job, "slurm.head_node.name", "n1");
	last = run_task(sample, job, 101, 0, 0);
	assert_identity(last, 101, "0");
	lens_env_destroy(user);
	lens_env_destroy(batch);
	lens_env_destroy(task);
	lens_env_destroy(inner);
	lens_env_destroy(job);
	lens_env_destroy(last);
}

/* Without an option, by the variable alone: lens's own 0 is not the user's wish. */
static void an_opt_in_by_variable_holds_inside(void **state)
{
	struct sample *sample = *state;
	struct lens_env *user = users_environment(), *batch, *task, *inner;

	lens_options_clear(&sample->options);
	batch = run_batch(sample, user, 100, 0);
	task = run_task(sample, batch, 100, 0, 1);
	assert_variable(task, "NEMO_LENS_ENABLED", "0");
	inner = run_task(sample, task, 100, 1, 0);
	assert_variable(inner, "NEMO_LENS_ENABLED", "1");
	assert_identity(inner, 100, "0");
	lens_env_destroy(user);
	lens_env_destroy(batch);
	lens_env_destroy(task);
	lens_env_destroy(inner);
}

static void telling_twice_is_telling_once(void **state)
{
	const struct lens_launch launches[] = { batch_launch(100), step_launch(100, 0) };
	const struct lens_rank rank = { .rank = 1, .world = 2, .local = 1 };

	for (size_t i = 0; i < 2; i++) {
		struct lens_env *user = users_environment(), *once, *twice;

		enter_batch(user, 100);
		once = sample_tell(*state, user, &launches[i], &rank);
		twice = sample_tell(*state, once, &launches[i], &rank);
		assert_same_environment(twice, once);
		lens_env_destroy(user);
		lens_env_destroy(once);
		lens_env_destroy(twice);
	}
}

static void expect_changed(struct lens_env *a, struct lens_env *b, const char *key, bool changed)
{
	struct lens_carrier *first =
		carrier_make(lens_env_get(lens_env_array(a), LENS_ATTRIBUTES_NAME));
	struct lens_carrier *second =
		carrier_make(lens_env_get(lens_env_array(b), LENS_ATTRIBUTES_NAME));

	assert_non_null(lens_carrier_get(first, key));
	assert_non_null(lens_carrier_get(second, key));
	if ((strcmp(lens_carrier_get(first, key), lens_carrier_get(second, key)) != 0) != changed)
		fail_msg("%s: %s, then %s", key, lens_carrier_get(first, key),
			 lens_carrier_get(second, key));
	lens_carrier_destroy(first);
	lens_carrier_destroy(second);
}

/* A job that was submitted from inside a job runs again, from the environment it was
 * submitted with. */
static void a_requeued_job_is_the_same_run(void **state)
{
	struct sample *sample = *state;
	struct lens_env *user = users_environment(), *batch = run_batch(sample, user, 100, 0);
	struct lens_env *task = run_task(sample, batch, 100, 0, 1);
	struct lens_env *first = run_batch(sample, task, 101, 0), *second;

	environment_set(task, "SLURM_RESTART_COUNT", "1");
	second = run_batch(sample, task, 101, 1);
	assert_identity(first, 101, NULL);
	assert_identity(second, 101, NULL);
	assert_key(second, "slurm.restart_count", "1");
	expect_changed(first, second, "nv.dl.job.uuid", false);
	expect_changed(first, second, "nv.dl.run.uuid", true);
	expect_changed(batch, first, "nv.dl.job.uuid", true);
	expect_changed(batch, first, "nv.dl.run.uuid", true);
	expect_changed(batch, task, "nv.dl.run.uuid", false);
	assert_string_not_equal(lens_env_get(lens_env_array(first), "TRACEPARENT"),
				lens_env_get(lens_env_array(second), "TRACEPARENT"));
	lens_env_destroy(user);
	lens_env_destroy(batch);
	lens_env_destroy(task);
	lens_env_destroy(first);
	lens_env_destroy(second);
}

static void an_explicit_run_id_holds_in_all_that_is_inside(void **state)
{
	struct sample *sample = *state;
	struct lens_env *user = users_environment(), *batch, *job, *task;

	environment_set(user, "NEMO_LENS_RUN_ID", "exp1");
	batch = run_batch(sample, user, 100, 0);
	job = run_batch(sample, batch, 101, 0);
	task = run_task(sample, job, 101, 0, 0);
	assert_key(task, "nemo.run.id", "exp1");
	assert_variable(task, "NEMO_LENS_RUN_ID", "exp1");
	assert_key(task, "service.instance.id", "exp1-rank0");
	assert_key(task, "slurm.job.id", "101");
	lens_env_destroy(user);
	lens_env_destroy(batch);
	lens_env_destroy(job);
	lens_env_destroy(task);
}

static void switched_off_inside_the_users_own_comes_back(void **state)
{
	struct sample *sample = *state;
	struct lens_env *user = users_environment(), *batch, *in, *out, *left;
	const struct lens_launch launch = step_launch(100, 0);
	const struct lens_rank rank = { .rank = 0, .world = 2 };

	environment_set(user, "NEMO_LENS_ENABLED", NULL);
	batch = run_batch(sample, user, 100, 0);
	in = copy(batch);
	enter_task(in, 100, 0, &rank);
	sample_option(sample, "lens", "off");
	out = sample_tell(sample, in, &launch, &rank);
	assert_false(sample->exports);
	assert_variable(out, LENS_MARK_NAME, NULL);
	assert_variable(out, "SLURM_JOB_ID", "100");
	left = without_slurm(out);
	assert_same_environment(left, user);
	lens_env_destroy(user);
	lens_env_destroy(batch);
	lens_env_destroy(in);
	lens_env_destroy(out);
	lens_env_destroy(left);
}

/* Between two levels the user writes an attribute more, opens a span, names a strategy. */
static void what_the_script_changed_is_the_users(void **state)
{
	static const char span[] = "00-596be2a5d217a7f5994b1f8309615239-1111111111111111-01";
	struct sample *sample = *state;
	struct lens_env *user = users_environment(), *batch = run_batch(sample, user, 100, 0);
	struct lens_env *task, *clean;
	char carrier[4096];

	snprintf(carrier, sizeof(carrier), "%s,more=1,slurm.job.name=mine",
		 lens_env_get(lens_env_array(batch), LENS_ATTRIBUTES_NAME));
	environment_set(batch, LENS_ATTRIBUTES_NAME, carrier);
	environment_set(batch, "TRACEPARENT", span);
	environment_set(batch, "NEMO_LENS_EXPORT_STRATEGY", "sampled");
	environment_set(batch, "NEMO_LENS_EXPORT_SAMPLE_RATE", "0");
	task = run_task(sample, batch, 100, 0, 0);
	assert_false(sample->exports);
	assert_key(task, "more", "1");
	assert_key(task, "slurm.job.name", "mine");
	assert_key(task, "slurm.job.id", "100");
	clean = lens_mark_clean(lens_env_array(task), 100, NULL);
	assert_variable(clean, "TRACEPARENT", span);
	assert_variable(clean, "TRACESTATE", NULL);
	assert_variable(clean, "NEMO_LENS_EXPORT_STRATEGY", "sampled");
	lens_env_destroy(user);
	lens_env_destroy(batch);
	lens_env_destroy(task);
	lens_env_destroy(clean);
}

/* --export=NONE keeps SLURM* alone; what only the outer level knew is in the mark. */
static void a_bare_step_and_a_lost_mark(void **state)
{
	struct sample *sample = *state;
	struct lens_env *user = users_environment(), *batch = run_batch(sample, user, 100, 0);
	struct lens_env *bare = environment("SLURM_JOB_ID=100"), *task, *job;
	struct lens_mark *mark;

	environment_set(bare, LENS_MARK_NAME, lens_env_get(lens_env_array(batch), LENS_MARK_NAME));
	mark = lens_mark_parse(lens_env_get(lens_env_array(bare), LENS_MARK_NAME));
	assert_int_equal(lens_mark_job(mark), 100);
	assert_string_equal(lens_mark_fact(mark, "head"), "n1");
	assert_string_equal(lens_mark_fact(mark, "array"), "no");
	lens_mark_destroy(mark);
	task = run_task(sample, bare, 100, 0, 1);
	assert_key(task, "nv.dl.rank", "1");
	assert_key(task, "team", NULL);
	assert_variable(task, "TRACESTATE", NULL);
	/* env -u SLURM_LENS_MARK sbatch: the carrier's own word says whose it is. */
	environment_set(batch, LENS_MARK_NAME, NULL);
	job = run_batch(sample, batch, 101, 0);
	assert_key(job, "slurm.job.id", "101");
	assert_key(job, "nemo.run.id", "101");
	assert_variable(job, "NEMO_LENS_RUN_ID", "101");
	assert_key(job, "team", "a");
	lens_env_destroy(user);
	lens_env_destroy(batch);
	lens_env_destroy(bare);
	lens_env_destroy(task);
	lens_env_destroy(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		sample_test(each_level_has_its_own_identity),
		sample_test(an_opt_in_by_variable_holds_inside),
		sample_test(telling_twice_is_telling_once),
		sample_test(a_requeued_job_is_the_same_run),
		sample_test(an_explicit_run_id_holds_in_all_that_is_inside),
		sample_test(switched_off_inside_the_users_own_comes_back),
		sample_test(what_the_script_changed_is_the_users),
		sample_test(a_bare_step_and_a_lost_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
