/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each call of each kind that the hooks make fails once, and from there on: they succeed all the
 * same, nothing is left, and what the agent will read is what was meant.
 */
#include "tests/spankhost/jobs.h"

#include "tests/faults/preloaded.h"
#include "tests/faults/reading.h"

static const char *const kind_names[] = FAULT_NAMES;
/* Of a job with everything that is optional. */
static const char *const options[] = { "lens-strategy=all_ranks", "lens-run-id=r 1", NULL };

static struct fault_plan *plan;
static faults_arm_fn *arm;

static void enter(void)
{
	arm(true);
}

static void leave(void)
{
	arm(false);
}

static faults_left_fn *blocks_left;

/* libc keeps the words of a look-up that failed until they were asked for. */
static size_t left(void)
{
	dlerror();
	dlerror();
	return blocks_left();
}

/* One job as far as it has come, and the one process of it that is played again and again. */
struct play {
	struct scene *scene;
	struct host_job job;
	struct host_step step;
	char **user, **batch;
};

typedef void play_fn(struct play *play);

static void play_slurmd(struct play *play)
{
	host_slurmd(play->scene->host);
}

static void play_sbatch(struct play *play)
{
	const struct host_submission submission = { .env = play->user, .options = options };
	struct host_job job = { .id = play->job.id, .nodes = 1, .tasks = 1 };

	host_submit(play->scene->host, &submission, &job, false);
	host_job_clear(&job);
}

static void play_srun(struct play *play)
{
	const struct host_submission submission = { .env = play->batch };
	struct host_step step = { .nodes = 1, .tasks = 1 };

	host_srun(play->scene->host, &submission, &play->job, &step);
	host_step_clear(&step);
}

static void play_prolog(struct play *play)
{
	host_prolog(play->scene->host, &play->job, 1);
}

static void play_batch(struct play *play)
{
	const struct host_step step = { .tasks = 1 };

	host_batch(play->scene->host, &play->job, &step);
}

static void play_step(struct play *play)
{
	host_step_run(play->scene->host, &play->job, &play->step);
}

static void play_epilog(struct play *play)
{
	host_epilog(play->scene->host, &play->job, 1);
}

/* --- the loop */

/* The descriptors that each process of the host has more at its end. */
static void assert_no_descriptors(const struct host *host)
{
	int added[64] = { 0 };

	for (const struct host_event *e = NULL; (e = host_event_next(host, e));) {
		if (e->kind != HOST_HOOK || e->process >= 64 || !strcmp(e->hook, "task_init"))
			continue;
		added[e->process] += e->fds_added;
	}
	for (size_t i = 0; i < 64; i++)
		assert_true(added[i] <= 0);
}

static void run_once(struct play *play, play_fn *body, const struct saved *before,
		     struct knowledge *knowledge, bool learn)
{
	struct reading reading = {
		.knowledge = knowledge, .before = before, .plan = plan, .learn = learn
	};

	state_restore(play->scene, before);
	host_destroy(play->scene->host);
	play->scene->host = host_create(&play->scene->site);
	assert_non_null(play->scene->host);
	plan->seen = plan->hits = 0;
	plan->lines_length = 0;
	body(play);
	scene_harmless(play->scene);
	assert_no_descriptors(play->scene->host);
	state_each(play->scene, file_check, &reading);
}

/* Every call of KIND in BODY: how many there were. */
static uint32_t each_call(struct play *play, play_fn *body, const struct saved *before,
			  struct knowledge *knowledge, enum fault_kind kind, bool onwards)
{
	uint32_t number = 0;

	do {
		plan->kind = kind;
		plan->at = ++number;
		plan->onwards = onwards;
		run_once(play, body, before, knowledge, false);
	} while (plan->hits > 0);
	plan->at = 0;
	return number - 1;
}

static void each_kind(struct play *play, play_fn *body, const char *name)
{
	struct saved before = { 0 };
	struct knowledge knowledge = { 0 };
	uint32_t calls = 0;

	state_each(play->scene, save_one, &before);
	plan->at = 0;
	run_once(play, body, &before, &knowledge, true);
	for (enum fault_kind kind = 0; kind < FAULT_KINDS; kind++) {
		uint32_t count = each_call(play, body, &before, &knowledge, kind, false);

		each_call(play, body, &before, &knowledge, kind, true);
		print_message("# %s: %u calls of %s\n", name, count, kind_names[kind]);
		calls += count;
	}
	assert_true(calls > 0);
	state_restore(play->scene, &before);
	saved_clear(&before);
}

/* --- the processes, in the order of a job */

static void play_begin(struct play *play, struct scene *scene)
{
	*play = (struct play){ .scene = scene, .user = host_env_copy(scene_user_env()) };
	play->job = (struct host_job){ .id = 50, .nodes = 1, .tasks = 1 };
	play->step = (struct host_step){ .nodes = 1, .tasks = 1 };
	scene_argument(scene, "Environment=test");
	scene_release(scene, HOST_26_05);
}

static void play_end(struct play *play)
{
	host_env_free(play->user);
	host_env_free(play->batch);
	host_step_clear(&play->step);
	host_job_clear(&play->job);
}

static void submit(struct play *play)
{
	jobs_submit(play->scene, &play->job, options, play->user);
}

static void run_batch(struct play *play)
{
	struct host_submission submission = { 0 };

	play->batch = jobs_batch(play->scene, &play->job);
	submission.env = play->batch;
	assert_int_equal(host_srun(play->scene->host, &submission, &play->job, &play->step), 0);
}

/* A stand-in for the agent, which is there in a moment and gone. */
static void agent_put(struct play *play)
{
	struct scene *scene = play->scene;

	snprintf(scene->texts[1], sizeof(scene->texts[1]), "AgentPath=/bin/true");
}

static void slurmd_init(void **state)
{
	struct play play;

	play_begin(&play, *state);
	agent_put(&play);
	each_kind(&play, play_slurmd, "slurmd");
	play_end(&play);
}

static void sbatch(void **state)
{
	struct play play;

	play_begin(&play, *state);
	each_kind(&play, play_sbatch, "sbatch");
	play_end(&play);
}

static void srun_in_a_job(void **state)
{
	struct play play;

	play_begin(&play, *state);
	submit(&play);
	host_prolog(play.scene->host, &play.job, 1);
	run_batch(&play);
	each_kind(&play, play_srun, "srun");
	play_end(&play);
}

static void prolog(void **state)
{
	struct play play;

	play_begin(&play, *state);
	submit(&play);
	agent_put(&play);
	each_kind(&play, play_prolog, "prolog");
	play_end(&play);
}

static void prolog_after_a_requeue(void **state)
{
	struct play play;

	play_begin(&play, *state);
	submit(&play);
	host_prolog(play.scene->host, &play.job, 1);
	play.job.restarts = 1;
	each_kind(&play, play_prolog, "prolog after a requeue");
	play_end(&play);
}

static void batch_script(void **state)
{
	struct play play;

	play_begin(&play, *state);
	submit(&play);
	host_prolog(play.scene->host, &play.job, 1);
	each_kind(&play, play_batch, "batch");
	play_end(&play);
}

static void step_of_a_task(void **state)
{
	struct play play;

	play_begin(&play, *state);
	submit(&play);
	host_prolog(play.scene->host, &play.job, 1);
	run_batch(&play);
	each_kind(&play, play_step, "step");
	play_end(&play);
}

static void epilog(void **state)
{
	struct play play;

	play_begin(&play, *state);
	submit(&play);
	host_prolog(play.scene->host, &play.job, 1);
	run_batch(&play);
	play_step(&play);
	each_kind(&play, play_epilog, "epilog");
	play_end(&play);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		scene_test(slurmd_init),
		scene_test(sbatch),
		scene_test(srun_in_a_job),
		scene_test(prolog),
		scene_test(prolog_after_a_requeue),
		scene_test(batch_script),
		scene_test(step_of_a_task),
		scene_test(epilog),
	};
	const struct host_watch watch = { .enter = enter, .leave = leave, .left = left };

	(void)argc;
	preloaded_begin(argv);
	plan = ((faults_plan_fn *)preloaded_find(FAULTS_PLAN))();
	arm = (faults_arm_fn *)preloaded_find(FAULTS_ARM);
	blocks_left = (faults_left_fn *)preloaded_find(FAULTS_LEFT);
	host_watch = &watch;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
