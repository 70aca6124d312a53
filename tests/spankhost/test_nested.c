/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs submitted from inside a job: nothing of the outer one's identity is theirs. */
#include "tests/spankhost/jobs.h"

static const char *const lens[] = { "lens", NULL };

/* How a job inside another is submitted, and whether its node has prologs. */
struct nesting {
	bool plugin_there; /* the submitting node has lens.so */
	bool run_in_job;
};

static void expect_own_identity(char *const *env)
{
	jobs_expect(env, "slurm.job.id", "101");
	jobs_expect(env, "slurm.array.job_id", "101");
	jobs_expect(env, "slurm.array.task_id", "0");
	jobs_expect(env, "slurm.restart_count", "0");
	jobs_expect(env, "nemo.run.id", "101");
	jobs_expect(env, "team", "a");
}

/* Submitted from a step of a requeued array element: Slurm hands all of that on. */
static void nest(struct scene *scene, struct nesting nesting)
{
	struct host_job outer = {
		.id = 36, .array_job = 36, .array_task = 2, .restarts = 2, .nodes = 1, .tasks = 1
	};
	struct host_job inner = { .id = 101, .nodes = 1, .tasks = 1 };
	char **user = host_env_copy(scene_user_env()), **script, **task, **own;
	char traces[2][33];

	host_env_set(&user, "OTEL_RESOURCE_ATTRIBUTES", "team=a");
	jobs_submit(scene, &outer, lens, user);
	host_job_begin(scene->host, &outer);
	script = jobs_batch(scene, &outer);
	jobs_srun(scene, &outer, script, NULL, (struct host_step){ .nodes = 1, .tasks = 1 });
	task = jobs_task(scene, 36, 0, 0);
	jobs_trace(task, 1, traces[0]);
	if (nesting.plugin_there) {
		jobs_submit(scene, &inner, NULL, task);
		assert_null(host_env_get(inner.env, "SLURM_RESTART_COUNT"));
		assert_null(host_env_get(inner.env, "SLURM_ARRAY_TASK_ID"));
	} else {
		inner.env = host_env_copy(task);
		host_env_set(&inner.env, "_SLURM_SPANK_OPTION_lens_lens", "");
	}
	host_job_begin(scene->host, &inner);
	host_env_free(script);
	script = jobs_batch(scene, &inner);
	jobs_srun(scene, &inner, script, NULL, (struct host_step){ .nodes = 1, .tasks = 1 });
	own = jobs_task(scene, 101, 0, 0);
	expect_own_identity(script);
	expect_own_identity(own);
	jobs_trace(own, 1, traces[1]);
	assert_string_not_equal(traces[0], traces[1]);
	scene_harmless(scene);
	host_env_free(user);
	host_env_free(script);
	host_env_free(task);
	host_env_free(own);
	host_job_clear(&outer);
	host_job_clear(&inner);
	scene_state_clear(scene);
}

static void a_nested_job_is_its_own(void **state)
{
	struct scene *scene = *state;

	EVERY_RELEASE(scene, release)
	{
		nest(scene, (struct nesting){ .plugin_there = true });
	}
}

static void a_nested_job_of_a_bare_submit_host_is_its_own(void **state)
{
	struct scene *scene = *state;

	EVERY_RELEASE(scene, release)
	{
		nest(scene, (struct nesting){ .plugin_there = false });
	}
}

static void a_nested_job_without_prologs_is_its_own(void **state)
{
	struct scene *scene = *state;

	scene->site.run_in_job = true;
	for (enum host_release release = HOST_24_11; release < HOST_RELEASES; release++) {
		scene_release(scene, release);
		nest(scene, (struct nesting){ .plugin_there = true });
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scene_test(a_nested_job_is_its_own),
		scene_test(a_nested_job_of_a_bare_submit_host_is_its_own),
		scene_test(a_nested_job_without_prologs_is_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
