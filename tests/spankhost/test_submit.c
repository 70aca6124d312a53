/* SPDX-License-Identifier: Apache-2.0 */
/* Options and the environment on their ways from the user to the nodes. */
#include "tests/spankhost/jobs.h"

static const char *const lens[] = { "lens", NULL };

static struct host_job one_node(uint32_t id)
{
	return (struct host_job){ .id = id, .nodes = 1, .tasks = 2 };
}

static const struct host_step one_step = { .nodes = 1, .tasks = 2 };

/* Whatever lens sets. */
static void expect_untouched(char *const *env)
{
	static const char *const names[] = {
		"OTEL_RESOURCE_ATTRIBUTES", "NEMO_LENS_ENABLED", "NEMO_LENS_EXPORT_STRATEGY",
		"NEMO_LENS_RUN_ID",         "TRACEPARENT",       "SLURM_LENS_MARK"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (host_env_get(env, names[i]))
			fail_msg("%s=%s", names[i], host_env_get(env, names[i]));
}

static void a_bad_option_stops_the_submission(void **state)
{
	static const char *const bad[][2] = { { "lens-strategy=some", NULL },
					      { "lens-sample-rate=1.5", NULL },
					      { "lens-rank=-2", NULL },
					      { "lens=maybe", NULL },
					      { "lens-run-id=a\nb", NULL } };
	struct scene *scene = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct host_submission submission = { .env = scene_user_env(),
							    .options = bad[i] };
		struct host_job job = one_node(1);
		struct host_step step = one_step;
		char option[64];

		snprintf(option, sizeof(option), "--%.*s", (int)strcspn(bad[i][0], "="), bad[i][0]);
		scene_release(scene, HOST_22_05);
		assert_int_equal(host_submit(scene->host, &submission, &job, false), 255);
		assert_int_equal(host_submit(scene->host, &submission, &job, true), 255);
		assert_int_equal(host_srun(scene->host, &submission, &job, &step), 1);
		/* one line of lens's, then Slurm's own */
		assert_int_equal(scene_count(scene, HOST_LOG, NULL, option), 6);
		assert_int_equal(scene_count(scene, HOST_OUTPUT, NULL, option), 3);
		scene_harmless(scene);
	}
}

/* An outer job's option arrives as a variable, past any command line. */
static void a_bad_option_in_the_environment_stops_srun(void **state)
{
	struct scene *scene = *state;
	char **user = host_env_copy(scene_user_env());
	struct host_submission submission = { 0 };
	struct host_job job = one_node(1);
	struct host_step step = one_step;

	host_env_set(&user, "SLURM_SPANK__SLURM_SPANK_OPTION_lens_lens_sample_rate", "2");
	submission.env = user;
	scene_release(scene, HOST_24_11);
	assert_int_equal(host_srun(scene->host, &submission, &job, &step), 1);
	assert_true(scene_count(scene, HOST_OUTPUT, "srun", "--lens-sample-rate") > 0);
	host_env_free(user);
}

static void a_forged_option_is_said_and_ignored(void **state)
{
	struct scene *scene = *state;

	for (enum host_release release = HOST_22_05; release < HOST_RELEASES; release++) {
		struct host_job job = one_node(5);
		char **user = host_env_copy(scene_user_env()), **batch;

		host_env_set(&user, "_SLURM_SPANK_OPTION_lens_lens_sample_rate", "9");
		scene_release(scene, release);
		jobs_submit(scene, &job, lens, user);
		host_job_begin(scene->host, &job);
		batch = jobs_batch(scene, &job);
		assert_true(jobs_exports(batch));
		assert_int_equal(scene_count(scene, HOST_LOG, "batch", "lens-sample-rate"), 1);
		scene_harmless(scene);
		host_env_free(user);
		host_env_free(batch);
		host_job_clear(&job);
		scene_state_clear(scene);
	}
}

static void an_option_holds_inside_also_with_export_none(void **state)
{
	static const char *const options[] = { "lens", "lens-strategy=all_ranks",
					       "lens-run-id=exp 1", NULL };
	struct scene *scene = *state;

	for (int none = 0; none < 2; none++) {
		for (enum host_release release = HOST_22_05; release < HOST_RELEASES; release++) {
			const struct host_submission submission = { .env = scene_user_env(),
								    .options = options,
								    .export_none = none };
			struct host_job job = one_node(6);
			char **batch, **task;

			scene_release(scene, release);
			assert_int_equal(host_submit(scene->host, &submission, &job, false), 0);
			host_job_begin(scene->host, &job);
			batch = jobs_batch(scene, &job);
			assert_true(jobs_exports(batch));
			jobs_expect(batch, "nemo.run.id", "exp%201");
			jobs_srun(scene, &job, batch, NULL, one_step);
			for (uint32_t rank = 0; rank < 2; rank++) {
				task = jobs_task(scene, 6, 0, rank);
				assert_true(jobs_exports(task));
				jobs_expect(task, "nemo.run.id", "exp%201");
				assert_string_equal(host_env_get(task, "NEMO_LENS_RUN_ID"),
						    "exp 1");
				host_env_free(task);
			}
			scene_harmless(scene);
			host_env_free(batch);
			host_job_clear(&job);
			scene_state_clear(scene);
		}
	}
}

static void the_inner_option_wins(void **state)
{
	static const char *const outer[] = { "lens-strategy=all_ranks", NULL };
	static const char *const inner[] = { "lens-strategy=single_rank", "lens-rank=0", NULL };
	struct scene *scene = *state;

	for (enum host_release release = HOST_22_05; release < HOST_RELEASES; release++) {
		struct host_job job = one_node(7);
		struct host_step step = one_step;
		char **batch, **task;

		scene_release(scene, release);
		jobs_submit(scene, &job, outer, scene_user_env());
		host_job_begin(scene->host, &job);
		batch = jobs_batch(scene, &job);
		jobs_srun(scene, &job, batch, inner, step);
		step.id = 1;
		jobs_srun(scene, &job, batch, NULL, step);
		task = jobs_task(scene, 7, 0, 1);
		assert_false(jobs_exports(task));
		host_env_free(task);
		task = jobs_task(scene, 7, 1, 1);
		assert_true(jobs_exports(task));
		host_env_free(task);
		scene_harmless(scene);
		host_env_free(batch);
		host_job_clear(&job);
		scene_state_clear(scene);
	}
}

/* A step switched off gets the user's own environment back. */
static void off_inside_restores_the_users_environment(void **state)
{
	static const char *const off[] = { "lens=off", NULL };
	static const char parent[] = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01";
	struct scene *scene = *state;

	for (enum host_release release = HOST_22_05; release < HOST_RELEASES; release++) {
		struct host_job job = one_node(8);
		char **user = host_env_copy(scene_user_env()), **batch, **task;

		host_env_set(&user, "OTEL_RESOURCE_ATTRIBUTES", "team=a");
		host_env_set(&user, "TRACEPARENT", parent);
		scene_release(scene, release);
		jobs_submit(scene, &job, lens, user);
		host_job_begin(scene->host, &job);
		batch = jobs_batch(scene, &job);
		jobs_srun(scene, &job, batch, off, one_step);
		task = jobs_task(scene, 8, 0, 0);
		assert_string_equal(host_env_get(task, "OTEL_RESOURCE_ATTRIBUTES"), "team=a");
		assert_string_equal(host_env_get(task, "TRACEPARENT"), parent);
		host_env_set(&task, "OTEL_RESOURCE_ATTRIBUTES", NULL);
		host_env_set(&task, "TRACEPARENT", NULL);
		expect_untouched(task);
		scene_harmless(scene);
		host_env_free(user);
		host_env_free(batch);
		host_env_free(task);
		host_job_clear(&job);
		scene_state_clear(scene);
	}
}

static void the_users_variable_silences_the_option(void **state)
{
	struct scene *scene = *state;
	struct host_job job = one_node(9);
	char **user = host_env_copy(scene_user_env()), **batch;

	host_env_set(&user, "NEMO_LENS_ENABLED", "0");
	scene_release(scene, HOST_22_05);
	jobs_submit(scene, &job, lens, user);
	assert_null(host_env_get(job.control, "LENS"));
	host_job_begin(scene->host, &job);
	batch = jobs_batch(scene, &job);
	assert_string_equal(host_env_get(batch, "NEMO_LENS_ENABLED"), "0");
	assert_int_equal(scene_count(scene, HOST_SETENV, NULL, ""), 0);
	scene_harmless(scene);
	host_env_free(user);
	host_env_free(batch);
	host_job_clear(&job);
}

/* srun --export=ALL,NAME=value leaves alone what srun's own environment has: so lens takes its
 * own values out of that. */
static void a_value_on_sruns_command_line_is_the_users(void **state)
{
	static const char *const exports[] = { "OTEL_RESOURCE_ATTRIBUTES=team=b", NULL };
	struct scene *scene = *state;

	for (enum host_release release = HOST_22_05; release < HOST_RELEASES; release++) {
		struct host_job job = one_node(10);
		struct host_step step = one_step;
		struct host_submission inner = { .exports = exports };
		char **batch, **task;

		scene_release(scene, release);
		jobs_submit(scene, &job, lens, scene_user_env());
		host_job_begin(scene->host, &job);
		batch = jobs_batch(scene, &job);
		inner.env = batch;
		assert_int_equal(host_srun(scene->host, &inner, &job, &step), 0);
		host_step_run(scene->host, &job, &step);
		task = jobs_task(scene, 10, 0, 0);
		jobs_expect(task, "team", "b");
		jobs_expect(task, "slurm.job.id", "10");
		scene_harmless(scene);
		host_env_free(batch);
		host_env_free(task);
		host_step_clear(&step);
		host_job_clear(&job);
		scene_state_clear(scene);
	}
}

static void the_prolog_learns_of_the_option(void **state)
{
	struct scene *scene = *state;
	struct host_job job = one_node(11);

	scene_release(scene, HOST_26_05);
	jobs_submit(scene, &job, lens, scene_user_env());
	assert_non_null(host_env_get(job.control, "LENS"));
	host_prolog(scene->host, &job, 1);
	assert_int_equal(jobs_records(scene, "note"), 1);
	host_epilog(scene->host, &job, 1);
	assert_int_equal(jobs_files(scene, 2), 1); /* it is lens's: kept for the agent */
	scene_harmless(scene);
	host_job_clear(&job);
}

static void bad_settings_are_one_warning_with_lens_and_none_without(void **state)
{
	struct scene *scene = *state;

	scene_argument(scene, "config=%s/none.conf", scene->path);
	scene_argument(scene, "Colour=blue");
	scene_release(scene, HOST_22_05);
	for (int opted = 0; opted < 2; opted++) {
		const struct host_submission submission = { .env = scene_user_env(),
							    .options = opted ? lens : NULL };
		struct host_job job = one_node(12);

		host_events_clear(scene->host);
		assert_int_equal(host_submit(scene->host, &submission, &job, false), 0);
		assert_int_equal(scene_count(scene, HOST_LOG, "sbatch", ""), opted);
		assert_int_equal(scene_count(scene, HOST_OUTPUT, "sbatch", "warning"), opted);
		host_job_clear(&job);
	}
	scene_harmless(scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scene_test(a_bad_option_stops_the_submission),
		scene_test(a_bad_option_in_the_environment_stops_srun),
		scene_test(a_forged_option_is_said_and_ignored),
		scene_test(an_option_holds_inside_also_with_export_none),
		scene_test(the_inner_option_wins),
		scene_test(off_inside_restores_the_users_environment),
		scene_test(the_users_variable_silences_the_option),
		scene_test(a_value_on_sruns_command_line_is_the_users),
		scene_test(the_prolog_learns_of_the_option),
		scene_test(bad_settings_are_one_warning_with_lens_and_none_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
