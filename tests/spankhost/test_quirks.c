/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fake host answers the probe as a real Slurm does: the same scenarios, the same table
 * (quirks.txt), which tests/cluster/quirks.bats holds against the installed Slurm.
 */
#include "tests/spankhost/quirks.h"
#include "tests/spankhost/scene.h"

#include <sys/stat.h>

struct play {
	struct scene *scene;
	char **env;   /* the user's */
	uint32_t job; /* the next id */
};

static char **user_env(void)
{
	char **env = host_env_copy(scene_user_env());

	host_env_set(&env, "PROBE_USER", "me");
	return env;
}

static struct host_job job_make(struct play *play, uint32_t nodes, uint32_t tasks)
{
	return (struct host_job){ .id = play->job++, .nodes = nodes, .tasks = tasks };
}

static void submit(struct play *play, struct host_job *job, const char *const *options,
		   char *const *env, bool export_none)
{
	const struct host_submission submission = { .env = env,
						    .options = options,
						    .export_none = export_none };

	assert_int_equal(host_submit(play->scene->host, &submission, job, false), 0);
	host_env_set(&job->env, "SLURM_JOB_NAME", "plain");
}

/* The batch script of JOB runs; its environment, which the caller frees. */
static char **batch(struct play *play, const struct host_job *job, const int *status)
{
	const struct host_step step = { .tasks = 1, .status = status };
	char **env;

	host_batch(play->scene->host, job, &step);
	env = host_task_env(play->scene->host, job->id, SLURM_BATCH_SCRIPT, 0);
	assert_non_null(env);
	return env;
}

/* srun in ENV; the environment of the step's first task, which the caller frees. */
static char **srun(struct play *play, struct host_job *job, char *const *env,
		   const char *const *options, struct host_step step)
{
	const struct host_submission submission = { .env = env, .options = options };
	char **own = NULL;

	assert_int_equal(host_srun(play->scene->host, &submission, job, &step), 0);
	if (!host_env_get(env, "SLURM_JOB_ID"))
		host_job_begin(play->scene->host, job);
	host_step_run(play->scene->host, job, &step);
	own = host_task_env(play->scene->host, job->id, step.id, step.task_offset);
	assert_non_null(own);
	host_step_clear(&step);
	return own;
}

static void end(struct play *play, struct host_job *job)
{
	host_job_end(play->scene->host, job);
	host_job_clear(job);
}

static const char *const both[] = { "probe-flag", "probe-value=V", NULL };

static void plain(struct play *play)
{
	static const int batch_status[] = { 5 << 8 }, step_status[] = { 3 << 8, 3 << 8 };
	struct host_job job = job_make(play, 2, 4);
	char **env;

	submit(play, &job, both, play->env, false);
	host_job_begin(play->scene->host, &job);
	env = batch(play, &job, batch_status);
	host_env_free(srun(play, &job, env, NULL,
			   (struct host_step){ .nodes = 2, .tasks = 2, .status = step_status }));
	host_env_free(env);
	job.status = batch_status[0];
	end(play, &job);
}

/* A job of one node whose script runs one srun. */
static void one(struct play *play, struct host_job *job)
{
	char **env;

	host_job_begin(play->scene->host, job);
	env = batch(play, job, NULL);
	host_env_free(srun(play, job, env, NULL, (struct host_step){ .nodes = 1, .tasks = 1 }));
	host_env_free(env);
	end(play, job);
}

static void array(struct play *play)
{
	uint32_t first = play->job;

	for (uint32_t i = 0; i < 2; i++) {
		struct host_job job = job_make(play, 1, 1);

		job.array_job = first;
		job.array_task = 3 + i;
		submit(play, &job, NULL, play->env, false);
		one(play, &job);
	}
}

static void requeue(struct play *play)
{
	static const int terminated[] = { 15 };
	struct host_job job = job_make(play, 1, 1);

	submit(play, &job, NULL, play->env, false);
	host_job_begin(play->scene->host, &job);
	host_env_free(batch(play, &job, terminated));
	job.restarts = 1;
	host_job_end(play->scene->host, &job); /* shows the next number */
	one(play, &job);
}

static void het(struct play *play)
{
	struct host_job leader = job_make(play, 1, 1);
	struct host_job other = job_make(play, 1, 2);
	const struct host_submission submission = { .env = play->env, .components = 2 };
	struct host_step steps[2] = {
		{ .nodes = 1, .tasks = 1, .all_tasks = 3 },
		{ .nodes = 1, .tasks = 2, .all_tasks = 3, .task_offset = 1, .node_offset = 1 },
	};
	struct host_submission inner;
	char **env;

	leader.het_leader = other.het_leader = leader.id;
	other.first = 2;
	other.het_offset = 1;
	assert_int_equal(host_submit(play->scene->host, &submission, &leader, false), 0);
	other.control = host_env_copy(leader.control);
	host_job_begin(play->scene->host, &leader);
	host_job_begin(play->scene->host, &other);
	env = batch(play, &leader, NULL);
	inner = (struct host_submission){ .env = env, .components = 2 };
	assert_int_equal(host_srun(play->scene->host, &inner, &leader, &steps[0]), 0);
	steps[1].env = host_env_copy(steps[0].env);
	host_step_run(play->scene->host, &leader, &steps[0]);
	host_step_run(play->scene->host, &other, &steps[1]);
	host_step_clear(&steps[0]);
	host_step_clear(&steps[1]);
	host_env_free(env);
	end(play, &leader);
	end(play, &other);
}

static void export_none(struct play *play)
{
	struct host_job job = job_make(play, 1, 1);

	submit(play, &job, both, play->env, true);
	one(play, &job);
}

static void nested(struct play *play)
{
	static const char *const options[] = { "probe-value=OUTER", NULL };
	struct host_job outer = job_make(play, 1, 1);
	struct host_job inner;
	char **script, **task;

	outer.array_job = outer.id;
	outer.array_task = 7;
	submit(play, &outer, options, play->env, false);
	host_job_begin(play->scene->host, &outer);
	script = batch(play, &outer, NULL);
	host_env_set(&script, "SLURM_RESTART_COUNT", "77");
	task = srun(play, &outer, script, NULL, (struct host_step){ .nodes = 1, .tasks = 1 });
	inner = job_make(play, 1, 1);
	submit(play, &inner, NULL, task, false);
	host_env_free(task);
	host_env_free(script);
	end(play, &outer);
	one(play, &inner);
}

static void setup_fails(struct play *play)
{
	const struct host_step step = { .tasks = 1, .setup_fails = true };
	struct host_job job = job_make(play, 1, 1);

	submit(play, &job, NULL, play->env, false);
	host_job_begin(play->scene->host, &job);
	host_batch(play->scene->host, &job, &step);
	end(play, &job);
}

static void own_allocation(struct play *play)
{
	static const char *const options[] = { "probe-value=S", NULL };
	struct host_job job = job_make(play, 1, 2);

	host_env_free(
		srun(play, &job, play->env, options, (struct host_step){ .nodes = 1, .tasks = 2 }));
	end(play, &job);
}

static void salloc(struct play *play)
{
	static const char *const options[] = { "probe-value=A", NULL };
	struct host_submission submission = { .env = play->env, .options = options };
	struct host_job job = job_make(play, 1, 2);

	assert_int_equal(host_submit(play->scene->host, &submission, &job, true), 0);
	host_job_begin(play->scene->host, &job);
	host_env_free(
		srun(play, &job, job.env, NULL, (struct host_step){ .nodes = 1, .tasks = 2 }));
	end(play, &job);
}

static void bad(struct play *play)
{
	static const char *const options[] = { "probe-value=bad", NULL };
	const struct host_submission submission = { .env = play->env, .options = options };
	struct host_job job = job_make(play, 1, 1);

	assert_int_equal(host_submit(play->scene->host, &submission, &job, false), 255);
	assert_int_equal(scene_count(play->scene, HOST_OUTPUT, "sbatch", "--probe-value"), 1);
}

static void forged(struct play *play)
{
	struct host_job job = job_make(play, 1, 1);

	host_env_set(&play->env, "_SLURM_SPANK_OPTION_probe_probe_value", "bad");
	submit(play, &job, NULL, play->env, false);
	one(play, &job);
}

static void slurmd(struct play *play)
{
	host_slurmd(play->scene->host); /* of n1 */
	host_slurmd(play->scene->host); /* of n2 */
}

static const struct {
	const char *name;
	void (*run)(struct play *play);
} scenarios[] = {
	{ "slurmd", slurmd },
	{ "plain", plain },
	{ "array", array },
	{ "requeue", requeue },
	{ "het", het },
	{ "exportnone", export_none },
	{ "nested", nested },
	{ "setupfail", setup_fails },
	{ "srun", own_allocation },
	{ "salloc", salloc },
	{ "bad", bad },
	{ "forged", forged },
};

static void compare_release(struct scene *scene, enum host_release release)
{
	char table[512];
	int differences = 0;

	snprintf(table, sizeof(table), "%s/tests/spankhost/quirks.txt",
		 getenv("LENS_TEST_SRCDIR") ? getenv("LENS_TEST_SRCDIR") : ".");
	scene->site.plugin = scene_plugin("LENS_PROBE_SO", "tests/spankhost/.libs/probe.so");
	scene->site.release = release;
	scene->site.contain = true;
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		struct play play = { .scene = scene, .env = user_env(), .job = 10 };
		char logs[300];
		int different;

		snprintf(logs, sizeof(logs), "%s/%s", scene->path, scenarios[i].name);
		assert_int_equal(chmod(scene->path, 0755), 0);
		assert_int_equal(mkdir(logs, 0700), 0);
		assert_int_equal(chmod(logs, 01777), 0);
		scene->argument_count = 0;
		scene_argument(scene, "log=%s", logs);
		scene->arguments[1] = NULL;
		host_destroy(scene->host);
		scene->host = host_create(&scene->site);
		assert_non_null(scene->host);
		scenarios[i].run(&play);
		host_env_free(play.env);
		different = quirks_compare(table, host_release_names[release], scenarios[i].name,
					   logs, getuid() == 0, NULL, stderr);
		if (different)
			fprintf(stderr, "# ^ %s of %s\n", scenarios[i].name,
				host_release_names[release]);
		differences += different != 0;
	}
	assert_int_equal(differences, 0);
}

static void it_answers_as_slurm_22_05(void **state)
{
	compare_release(*state, HOST_22_05);
}

static void it_answers_as_slurm_24_11(void **state)
{
	compare_release(*state, HOST_24_11);
}

static void it_answers_as_slurm_26_05(void **state)
{
	compare_release(*state, HOST_26_05);
}

/* The comparison itself can fail. */
static void another_releases_answers_are_told_apart(void **state)
{
	struct scene *scene = *state;
	char table[512], logs[300];
	FILE *out = fopen("/dev/null", "w");

	compare_release(scene, HOST_22_05);
	snprintf(table, sizeof(table), "%s/tests/spankhost/quirks.txt",
		 getenv("LENS_TEST_SRCDIR") ? getenv("LENS_TEST_SRCDIR") : ".");
	snprintf(logs, sizeof(logs), "%s/plain", scene->path);
	assert_non_null(out);
	assert_true(quirks_compare(table, "26.05", "plain", logs, true, NULL, out) > 5);
	assert_int_equal(quirks_compare(table, "26.05", "nowhere", logs, true, NULL, out), -1);
	assert_int_equal(quirks_compare("/nonexistent", "26.05", "plain", logs, true, NULL, out),
			 -1);
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scene_test(it_answers_as_slurm_22_05),
		scene_test(it_answers_as_slurm_24_11),
		scene_test(it_answers_as_slurm_26_05),
		scene_test(another_releases_answers_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
