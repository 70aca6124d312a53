/* SPDX-License-Identifier: Apache-2.0 */
/* What tasks are told, where Slurm itself tells nothing, something stale, or the wrong thing. */
#include "tests/spankhost/jobs.h"

static const char *const lens[] = { "lens", NULL };

static void each_rank_is_told_its_own(void **state)
{
	struct scene *scene = *state;

	EVERY_RELEASE(scene, release)
	{
		struct host_job job = { .id = 100, .nodes = 2, .tasks = 4 };
		char **batch, trace[33], other[33], text[32];

		jobs_submit(scene, &job, lens, scene_user_env());
		host_job_begin(scene->host, &job);
		batch = jobs_batch(scene, &job);
		assert_true(jobs_exports(batch));
		jobs_expect(batch, "slurm.job.id", "100");
		jobs_expect(batch, "slurm.nnodes", "2");
		jobs_expect(batch, "nv.dl.rank", NULL);
		jobs_trace(batch, 1, trace);
		jobs_srun(scene, &job, batch, NULL, (struct host_step){ .nodes = 2, .tasks = 4 });
		for (uint32_t rank = 0; rank < 4; rank++) {
			char **task = jobs_task(scene, 100, 0, rank);

			snprintf(text, sizeof(text), "%u", rank);
			jobs_expect(task, "nv.dl.rank", text);
			jobs_expect(task, "nv.dl.world_size", "4");
			jobs_expect(task, "nv.dl.local_rank", rank % 2 ? "1" : "0");
			snprintf(text, sizeof(text), "100-rank%u", rank);
			jobs_expect(task, "service.instance.id", text);
			jobs_expect(task, "nemo.run.id", "100");
			jobs_expect(task, "slurm.array.count", "1");
			assert_int_equal(jobs_exports(task), rank == 3);
			jobs_trace(task, 1, other);
			assert_string_equal(other, trace);
			assert_null(host_env_get(task, "RANK"));
			host_env_free(task);
		}
		host_job_end(scene->host, &job);
		assert_int_equal(jobs_records(scene, "task_open"), 5);
		assert_int_equal(jobs_records(scene, "task_end"), 5);
		assert_int_equal(jobs_records(scene, "step_end"), 3);
		scene_harmless(scene);
		host_env_free(batch);
		host_job_clear(&job);
		scene_state_clear(scene);
	}
}

static void who_did_not_opt_in_is_left_alone(void **state)
{
	struct scene *scene = *state;

	EVERY_RELEASE(scene, release)
	{
		struct host_job job = { .id = 100, .nodes = 2, .tasks = 2 };
		char **batch;

		jobs_submit(scene, &job, NULL, scene_user_env());
		assert_null(job.control[0]);
		host_job_begin(scene->host, &job);
		batch = jobs_batch(scene, &job);
		jobs_srun(scene, &job, batch, NULL, (struct host_step){ .nodes = 2, .tasks = 2 });
		assert_int_equal(scene_count(scene, HOST_SETENV, NULL, ""), 0);
		/* slurmd says at its start that lens is there; nothing of a job is said */
		assert_int_equal(scene_count(scene, HOST_LOG, NULL, ""),
				 scene_count(scene, HOST_LOG, NULL, " is loaded; "));
		assert_int_equal(jobs_files(scene, 3), 0);
		host_job_end(scene->host, &job);
		assert_int_equal(jobs_files(scene, 1) + jobs_files(scene, 2), 0);
		scene_harmless(scene);
		host_env_free(batch);
		host_job_clear(&job);
	}
}

static void array_elements_are_told_apart(void **state)
{
	struct scene *scene = *state;

	EVERY_RELEASE(scene, release)
	{
		char traces[2][33], uuids[2][512];

		for (uint32_t i = 0; i < 2; i++) {
			/* the last element has the array's own id, as Slurm gives it */
			struct host_job job = { .id = i ? 36 : 37,
						.array_job = 36,
						.array_task = i ? 4 : 0,
						.nodes = 1,
						.tasks = 1 };
			char **batch, **task;

			jobs_submit(scene, &job, lens, scene_user_env());
			host_job_begin(scene->host, &job);
			batch = jobs_batch(scene, &job);
			jobs_srun(scene, &job, batch, NULL,
				  (struct host_step){ .nodes = 1, .tasks = 1 });
			task = jobs_task(scene, job.id, 0, 0);
			jobs_expect(task, "slurm.job.id", i ? "36_4" : "36_0");
			jobs_expect(task, "slurm.job.id.raw", i ? "36" : "37");
			jobs_expect(task, "slurm.array.job_id", "36");
			jobs_expect(task, "slurm.array.task_id", i ? "4" : "0");
			jobs_trace(task, 1, traces[i]);
			assert_int_equal(jobs_attribute(task, "nv.dl.run.uuid", uuids[i]), 1);
			host_job_end(scene->host, &job);
			host_env_free(task);
			host_env_free(batch);
			host_job_clear(&job);
		}
		assert_string_not_equal(traces[0], traces[1]);
		assert_string_equal(uuids[0], uuids[1]);
		scene_harmless(scene);
		scene_state_clear(scene);
	}
}

/* S_SLURM_RESTART_COUNT is 0 on every attempt; the prolog's word is the true one. */
static void a_requeued_job_is_another_attempt(void **state)
{
	struct scene *scene = *state;

	EVERY_RELEASE(scene, release)
	{
		struct host_job job = { .id = 70, .nodes = 1, .tasks = 1 };
		char traces[2][33];

		jobs_submit(scene, &job, lens, scene_user_env());
		for (uint32_t attempt = 0; attempt < 2; attempt++) {
			char **batch, **task;

			job.restarts = attempt;
			host_job_begin(scene->host, &job);
			batch = jobs_batch(scene, &job);
			jobs_expect(batch, "slurm.restart_count", attempt ? "1" : "0");
			jobs_srun(scene, &job, batch, NULL,
				  (struct host_step){ .nodes = 1, .tasks = 1 });
			task = jobs_task(scene, 70, 0, 0);
			jobs_expect(task, "slurm.restart_count", attempt ? "1" : "0");
			jobs_expect(task, "nemo.run.id", "70");
			jobs_trace(task, 1, traces[attempt]);
			job.restarts = 1; /* the first attempt's epilog shows the next */
			host_job_end(scene->host, &job);
			host_env_free(task);
			host_env_free(batch);
		}
		assert_string_not_equal(traces[0], traces[1]);
		assert_int_equal(jobs_files(scene, 2), 2);
		scene_harmless(scene);
		host_job_clear(&job);
		scene_state_clear(scene);
	}
}

static void a_forged_attempt_is_not_believed(void **state)
{
	struct scene *scene = *state;

	EVERY_RELEASE(scene, release)
	{
		struct host_job job = { .id = 71, .nodes = 1, .tasks = 1 };
		char **batch, **task;

		jobs_submit(scene, &job, lens, scene_user_env());
		host_job_begin(scene->host, &job);
		batch = jobs_batch(scene, &job);
		host_env_set(&batch, "SLURM_RESTART_COUNT", "9");
		host_env_set(&batch, "SLURM_LENS_MARK", NULL);
		host_env_set(&batch, "OTEL_RESOURCE_ATTRIBUTES", NULL);
		jobs_srun(scene, &job, batch, NULL, (struct host_step){ .nodes = 1, .tasks = 1 });
		task = jobs_task(scene, 71, 0, 0);
		jobs_expect(task, "slurm.restart_count", "0");
		scene_harmless(scene);
		host_env_free(task);
		host_env_free(batch);
		host_job_clear(&job);
		scene_state_clear(scene);
	}
}

/* PrologFlags=RunInJob: no note anywhere; the batch task's environment and the mark tell. */
static void without_prologs_the_batch_task_tells_the_attempt(void **state)
{
	struct scene *scene = *state;

	scene->site.run_in_job = true;
	for (enum host_release release = HOST_24_11; release < HOST_RELEASES; release++) {
		struct host_job job = { .id = 72, .nodes = 1, .tasks = 1, .restarts = 2 };
		char **batch, **task, a[33], b[33];

		scene_release(scene, release);
		jobs_submit(scene, &job, lens, scene_user_env());
		host_job_begin(scene->host, &job);
		batch = jobs_batch(scene, &job);
		jobs_expect(batch, "slurm.restart_count", "2");
		jobs_srun(scene, &job, batch, NULL, (struct host_step){ .nodes = 1, .tasks = 1 });
		task = jobs_task(scene, 72, 0, 0);
		jobs_expect(task, "slurm.restart_count", "2");
		jobs_trace(batch, 1, a);
		jobs_trace(task, 1, b);
		assert_string_equal(a, b);
		host_job_end(scene->host, &job);
		assert_int_equal(jobs_files(scene, 1) + jobs_files(scene, 2), 0);
		scene_harmless(scene);
		host_env_free(task);
		host_env_free(batch);
		host_job_clear(&job);
		scene_state_clear(scene);
	}
}

static void a_het_job_is_one_trace_and_one_world(void **state)
{
	struct scene *scene = *state;

	EVERY_RELEASE(scene, release)
	{
		struct host_job leader = { .id = 7, .het_leader = 7, .nodes = 1, .tasks = 1 };
		struct host_job other = { .id = 8,
					  .het_leader = 7,
					  .het_offset = 1,
					  .nodes = 1,
					  .first = 2,
					  .tasks = 2 };
		const struct host_submission submission = { .env = scene_user_env(),
							    .options = lens,
							    .components = 2 };
		struct host_step first = { .nodes = 1, .tasks = 1, .all_tasks = 3 };
		struct host_step second = {
			.nodes = 1, .tasks = 2, .all_tasks = 3, .task_offset = 1, .node_offset = 1
		};
		struct host_submission inner;
		char **batch, trace[33], of_task[33], text[16];

		assert_int_equal(host_submit(scene->host, &submission, &leader, false), 0);
		other.control = host_env_copy(leader.control);
		host_job_begin(scene->host, &leader);
		host_job_begin(scene->host, &other);
		batch = jobs_batch(scene, &leader);
		jobs_trace(batch, 1, trace);
		inner = (struct host_submission){ .env = batch, .components = 2 };
		assert_int_equal(host_srun(scene->host, &inner, &leader, &first), 0);
		second.env = host_env_copy(first.env);
		memcpy(second.packed, first.packed, sizeof(first.packed));
		second.packed_count = first.packed_count;
		host_step_run(scene->host, &leader, &first);
		host_step_run(scene->host, &other, &second);
		for (uint32_t rank = 0; rank < 3; rank++) {
			char **task = jobs_task(scene, rank ? 8 : 7, 0, rank);

			snprintf(text, sizeof(text), "%u", rank);
			jobs_expect(task, "nv.dl.rank", text);
			jobs_expect(task, "nv.dl.world_size", "3");
			jobs_expect(task, "slurm.job.id.raw", "7");
			assert_int_equal(jobs_exports(task), rank == 2);
			jobs_trace(task, 1, of_task);
			assert_string_equal(of_task, trace);
			host_env_free(task);
		}
		/* S_TASK_GLOBAL_ID counts per component: 0 and 1 twice */
		assert_int_equal(jobs_records(scene, "task_end,rank=1"), 1);
		assert_int_equal(jobs_records(scene, "task_end,rank=2"), 1);
		assert_int_equal(jobs_records(scene, "task_end"), 4);
		host_job_end(scene->host, &leader);
		host_job_end(scene->host, &other);
		scene_harmless(scene);
		host_step_clear(&first);
		host_step_clear(&second);
		host_env_free(batch);
		host_job_clear(&leader);
		host_job_clear(&other);
		scene_state_clear(scene);
	}
}

/* Slurm refuses a variable of 128 KiB, writes so into the user's output, and answers success. */
static void what_does_not_fit_stays_the_users(void **state)
{
	struct scene *scene = *state;
	char *big = malloc(131001);

	assert_non_null(big);
	memset(big, 'x', 131000);
	memcpy(big, "team=", 5);
	big[131000] = '\0';
	EVERY_RELEASE(scene, release)
	{
		struct host_job job = { .id = 90, .nodes = 1, .tasks = 1 };
		char **user = host_env_copy(scene_user_env()), **task;

		host_env_set(&user, "OTEL_RESOURCE_ATTRIBUTES", big);
		jobs_srun(scene, &job, user, lens, (struct host_step){ .nodes = 1, .tasks = 1 });
		task = jobs_task(scene, 90, 0, 0);
		assert_string_equal(host_env_get(task, "OTEL_RESOURCE_ATTRIBUTES"), big);
		assert_true(jobs_exports(task));
		assert_int_equal(scene_count(scene, HOST_LOG, "step", "128 KiB"), 1);
		scene_harmless(scene);
		host_env_free(user);
		host_env_free(task);
		host_job_clear(&job);
		scene_state_clear(scene);
	}
	free(big);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scene_test(each_rank_is_told_its_own),
		scene_test(who_did_not_opt_in_is_left_alone),
		scene_test(array_elements_are_told_apart),
		scene_test(a_requeued_job_is_another_attempt),
		scene_test(a_forged_attempt_is_not_believed),
		scene_test(without_prologs_the_batch_task_tells_the_attempt),
		scene_test(a_het_job_is_one_trace_and_one_world),
		scene_test(what_does_not_fit_stays_the_users),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
