/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks PLUGIN DIR TASKS STEPS: plays STEPS opted-in steps of TASKS tasks on one node on the
 * fake host, journals below DIR, and prints a line of JSON for each hook: how often it
 * ran, the median of its own time, and of the whole step's init to exit without tasks.
 * hooks PLUGIN DIR load ROUNDS: the median of a first dlopen, each in a process of its own.
 * hooks PLUGIN DIR node TASKS: what the second node of a two-node job leaves, for a backlog.
 */
#include "lib/core/lock.h"
#include "lib/core/statedir.h"
#include "tests/spankhost/host.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SAMPLES_MAX 65536

struct samples {
	size_t count;
	double us[SAMPLES_MAX];
};

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(struct samples *samples)
{
	if (samples->count == 0)
		return 0;
	qsort(samples->us, samples->count, sizeof(samples->us[0]), ascending);
	return samples->us[samples->count / 2];
}

static void add(struct samples *samples, double us)
{
	if (samples->count < SAMPLES_MAX)
		samples->us[samples->count++] = us;
}

static struct samples *samples_create(void)
{
	struct samples *samples = calloc(1, sizeof(*samples));

	if (!samples)
		abort();
	return samples;
}

static char *user_env[] = { (char *)"PATH=/usr/bin:/bin", (char *)"HOME=/tmp", (char *)"USER=user",
			    NULL };
static const char *const user_options[] = { "lens", "lens-strategy=all_ranks", NULL };

static struct host_job submitted(struct host *host, uint32_t nodes, uint32_t tasks)
{
	const struct host_submission submission = { .env = user_env, .options = user_options };
	struct host_job job = { .id = 1000, .nodes = nodes, .tasks = tasks };

	if (host_submit(host, &submission, &job, false) != 0)
		abort();
	return job;
}

/* The step as the batch script's srun sends it. */
static struct host_step stepped(struct host *host, struct host_job *job, char *const *env,
				uint32_t id, uint32_t nodes, uint32_t tasks)
{
	const struct host_submission submission = { .env = env };
	struct host_step step = { .id = id, .nodes = nodes, .tasks = tasks };

	if (host_srun(host, &submission, job, &step) != 0)
		abort();
	return step;
}

static char **batch_env(struct host *host, const struct host_job *job)
{
	const struct host_step script = { .tasks = 1 };
	char **env;

	host_batch(host, job, &script);
	env = host_task_env(host, job->id, 0xfffffffbu, 0);
	if (!env)
		abort();
	return env;
}

/* The hooks of the last step: task_init's, and the sum of those that are not a task's. */
static void collect(const struct host *host, struct samples *task_init, struct samples *per_step)
{
	double sum = 0;

	for (const struct host_event *e = NULL; (e = host_event_next(host, e));) {
		double us = (double)e->ns / 1000;

		if (e->kind != HOST_HOOK || strcmp(e->role, "step") != 0)
			continue;
		if (strcmp(e->hook, "task_init") == 0)
			add(task_init, us);
		else if (strncmp(e->hook, "init", 4) == 0 || strcmp(e->hook, "exit") == 0)
			sum += us;
	}
	add(per_step, sum);
}

static void measure(struct host *host, uint32_t tasks, uint32_t steps)
{
	struct samples *task_init = samples_create(), *per_step = samples_create();
	struct host_job job = submitted(host, 1, tasks);
	char **env;

	host_job_begin(host, &job);
	env = batch_env(host, &job);
	for (uint32_t i = 0; i < steps; i++) {
		struct host_step step = stepped(host, &job, env, i, 1, tasks);

		host_events_clear(host);
		host_step_run(host, &job, &step);
		collect(host, task_init, per_step);
		host_step_clear(&step);
	}
	host_job_end(host, &job);
	printf("{\"tasks\": %u, \"task_inits\": %zu, \"task_init_us\": %.2f, \"steps\": %zu, "
	       "\"step_us\": %.2f}\n",
	       tasks, task_init->count, median(task_init), per_step->count, median(per_step));
	host_env_free(env);
	host_job_clear(&job);
	free(task_init);
	free(per_step);
}

static void node(struct host *host, uint32_t tasks)
{
	struct host_job job = submitted(host, 2, 2 * tasks);
	char **env;
	struct host_step step;

	host_prolog(host, &job, 1);
	host_prolog(host, &job, 2);
	env = batch_env(host, &job);
	step = stepped(host, &job, env, 0, 2, 2 * tasks);
	host_step_run(host, &job, &step);
	host_epilog(host, &job, 2);
	host_step_clear(&step);
	host_env_free(env);
	host_job_clear(&job);
}

static void load(const char *plugin, int rounds)
{
	struct samples *samples = samples_create();

	for (int i = 0; i < rounds; i++) {
		double us = 0;
		int ends[2];
		pid_t pid;

		if (pipe(ends) < 0 || (pid = fork()) < 0)
			abort();
		if (pid == 0) {
			struct timespec began, ended;

			clock_gettime(CLOCK_MONOTONIC, &began);
			if (!dlopen(plugin, RTLD_LAZY)) {
				fprintf(stderr, "%s\n", dlerror());
				_exit(1);
			}
			clock_gettime(CLOCK_MONOTONIC, &ended);
			us = (double)(ended.tv_sec - began.tv_sec) * 1e6 +
			     (double)(ended.tv_nsec - began.tv_nsec) / 1e3;
			_exit(write(ends[1], &us, sizeof(us)) == sizeof(us) ? 0 : 1);
		}
		close(ends[1]);
		if (read(ends[0], &us, sizeof(us)) != sizeof(us))
			abort();
		close(ends[0]);
		waitpid(pid, NULL, 0);
		add(samples, us);
	}
	printf("{\"loads\": %zu, \"load_us\": %.2f}\n", samples->count, median(samples));
	free(samples);
}

/* An agent runs on every node: as long as it holds its lock, no step adds up what lies in DIR. */
static void hold_lock(const char *dir)
{
	struct lens_error err = LENS_ERROR_INIT;
	int directory = lens_statedir_open(dir, true, &err);

	if (directory < 0 || lens_lock_take(directory, "hooks", &err) < 0) {
		fprintf(stderr, "hooks: %s\n", err.text);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	char state[4200];
	const char *const arguments[] = { state, "Agent=off", NULL };
	struct host_site site = { .release = HOST_22_05, .arguments = arguments };
	struct host *host;

	if (argc != 5) {
		fputs("Usage: hooks PLUGIN DIR TASKS STEPS | load ROUNDS | node TASKS\n", stderr);
		return 2;
	}
	if (strcmp(argv[3], "load") == 0) {
		load(argv[1], atoi(argv[4]));
		return 0;
	}
	snprintf(state, sizeof(state), "StateDir=%s", argv[2]);
	site.plugin = argv[1];
	host = host_create(&site);
	if (!host)
		return 2;
	host_slurmd(host);
	if (strcmp(argv[3], "node") == 0) {
		node(host, (uint32_t)atoi(argv[4]));
	} else {
		hold_lock(argv[2]);
		measure(host, (uint32_t)atoi(argv[3]), (uint32_t)atoi(argv[4]));
	}
	host_destroy(host);
	return 0;
}
