/* SPDX-License-Identifier: Apache-2.0 */
/* slurmstepd: batch, interactive, extern and the steps, and the tasks that it forks. */
#include "tests/spankhost/self.h"

#include <fcntl.h>
#include <signal.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct stepd {
	const struct host_job *job;
	const struct host_step *step;
	uint32_t step_id;
	uint32_t index; /* of the node within the step */
};

/* The extern step begins with pipes as stdin and stdout, the others with nothing. */
static void stdio_pipes(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		abort();
	host_stdio_set(fds[0], fds[1]);
	dup2(null, 2);
	close(fds[0]);
	close(fds[1]);
	close(null);
}

static void stdio_null(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	host_stdio_set(null, null);
	close(null);
	host_self.stderr_is_users = false;
}

/* From user_init on, slurmstepd's stderr is the user's. */
static void stdio_user(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	host_stdio_set(null, null);
	dup2(host_self.user_fd, 2);
	close(null);
	host_self.stderr_is_users = true;
}

/* Slurm blocks these in slurmstepd, and so in all that a plugin forks there. */
static void signals_block(void)
{
	static const int blocked[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1, SIGUSR2,
				       SIGPIPE, SIGALRM, SIGTERM, SIGTSTP };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(blocked) / sizeof(blocked[0]); i++)
		sigaddset(&set, blocked[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* The tasks of NODE of the step: blocks of the same size, the remainder on the first nodes. */
static uint32_t tasks_of(const struct host_step *step, uint32_t index, uint32_t *first)
{
	uint32_t nodes = step->nodes ? step->nodes : 1;
	uint32_t each = step->tasks / nodes, more = step->tasks % nodes;

	*first = index * each + (index < more ? index : more);
	return each + (index < more);
}

static void step_id_of_env(uint32_t *out, const char *name)
{
	const char *value = host_env_get(host_self.env, name);

	if (value)
		*out = (uint32_t)strtoul(value, NULL, 10);
}

/* What slurmstepd knows of itself. */
static void fill(const struct stepd *stepd)
{
	const struct host_job *job = stepd->job;
	const struct host_step *step = stepd->step;
	static char *command[] = { (char *)"/bin/true", NULL };

	host_self.job = job;
	host_self.step = step;
	host_self.step_id = stepd->step_id;
	host_self.nodeid = stepd->index;
	host_self.argv = step && step->argv ? (char **)step->argv : command;
	for (host_self.argc = 0; host_self.argv[host_self.argc];)
		host_self.argc++;
	host_self.array_job = job->id;
	host_self.array_task = NO_VAL;
	switch (stepd->step_id) {
	case SLURM_BATCH_SCRIPT:
		host_self.nnodes = 0;
		host_self.total_tasks = job->tasks;
		host_self.array_job = job->array_job;
		host_self.array_task = job->array_job ? job->array_task : NO_VAL;
		host_self.env = host_env_copy(job->env);
		host_env_batch(&host_self.env, job);
		break;
	case SLURM_EXTERN_CONT:
		host_self.nnodes = job->nodes;
		host_self.total_tasks = job->nodes;
		host_self.local_tasks = 1;
		host_self.env = host_env_copy(NULL);
		host_env_set(&host_self.env, "SLURM_TOPOLOGY_ADDR", getenv("SLURMD_NODENAME"));
		host_env_set(&host_self.env, "SLURM_TOPOLOGY_ADDR_PATTERN", "node");
		break;
	default:
		host_self.nnodes = step->nodes ? step->nodes : 1;
		host_self.total_tasks = step->tasks;
		host_self.env = host_env_copy(step->env);
		/* taken from an environment that may be another job's */
		step_id_of_env(&host_self.array_job, "SLURM_ARRAY_JOB_ID");
		step_id_of_env(&host_self.array_task, "SLURM_ARRAY_TASK_ID");
		break;
	}
}

static void tasks_fill(const struct stepd *stepd)
{
	const struct host_step *step = stepd->step;
	uint32_t first = 0;

	host_self.local_tasks =
		stepd->step_id == SLURM_BATCH_SCRIPT || stepd->step_id == SLURM_INTERACTIVE_STEP
			? 1
			: tasks_of(step, stepd->index, &first);
	host_self.tasks = calloc(host_self.local_tasks + 1, sizeof(*host_self.tasks));
	if (!host_self.tasks)
		abort();
	for (uint32_t i = 0; i < host_self.local_tasks; i++) {
		host_self.tasks[i].local = i;
		host_self.tasks[i].global = first + i;
		host_self.tasks[i].procid = first + i + (step ? step->task_offset : 0);
		host_self.tasks[i].pid = -1;
		host_self.tasks[i].status = step && step->status ? step->status[first + i] : 0;
	}
}

/* What the user's program will have; a batch script has no stdin. */
static void stdio_task(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	host_stdio_set(host_self.step_id == SLURM_BATCH_SCRIPT ? null : host_self.user_fd,
		       host_self.user_fd);
	close(null);
}

/* The task's own process, up to where it would execute the user's program. */
static void task_run(struct host_task *task, int go)
{
	struct host_task shown = *task;
	char byte;

	host_hook_run(HOOK_TASK_INIT_PRIVILEGED, task);
	/* every task_post_fork in slurmstepd comes before any task_init */
	if (read(go, &byte, 1) != 0)
		abort();
	shown.pid = getpid();
	host_env_task(&host_self.env, &shown);
	host_become_user();
	stdio_task();
	host_hook_run(HOOK_TASK_INIT, task);
	host_self.task = task;
	host_record_env(HOST_EXEC, host_self.env);
	_exit(0);
}

static void tasks_run(void)
{
	int go[2];

	if (pipe2(go, O_CLOEXEC) < 0)
		abort();
	for (uint32_t i = 0; i < host_self.local_tasks; i++) {
		struct host_task *task = &host_self.tasks[i];
		pid_t pid = fork();

		if (pid < 0)
			abort();
		if (pid == 0) {
			close(go[1]);
			task_run(task, go[0]);
		}
		task->pid = pid;
	}
	close(go[0]);
	for (uint32_t i = 0; i < host_self.local_tasks; i++)
		host_hook_run(HOOK_TASK_POST_FORK, &host_self.tasks[i]);
	close(go[1]);
	for (uint32_t i = 0; i < host_self.local_tasks; i++) {
		struct host_task *task = &host_self.tasks[i];
		int status;

		waitpid(task->pid, &status, 0);
		if (WIFSIGNALED(status)) {
			host_self.task = task;
			host_record(HOST_CRASH, WTERMSIG(status), "", 0);
		}
		task->exited = true;
		host_env_task_exit(&host_self.env, task);
		host_hook_run(HOOK_TASK_EXIT, task);
	}
}

static void user_init(void)
{
	if (getuid() == 0 && (setegid(host_uid()) || seteuid(host_uid())))
		abort();
	host_hook_run(HOOK_USER_INIT, NULL);
	if (getuid() == 0 && (seteuid(0) || setegid(0)))
		abort();
}

static int stepd_body(void *argument)
{
	const struct stepd *stepd = argument;
	bool extern_step = stepd->step_id == SLURM_EXTERN_CONT;

	signals_block();
	host_threads_start(host_self.profile->stepd_threads);
	fill(stepd);
	if (!extern_step)
		tasks_fill(stepd);
	if (extern_step)
		stdio_pipes();
	else
		stdio_null();
	host_plugin_load();
	host_hook_run(HOOK_INIT, NULL);
	host_options_remote();
	host_hook_run(HOOK_INIT_POST_OPT, NULL);
	if (extern_step) {
		host_hook_run(HOOK_TASK_POST_FORK, NULL);
		stdio_null();
	} else if (!stepd->step->setup_fails) {
		stdio_user();
		user_init();
		tasks_run();
		if (stepd->step_id != SLURM_BATCH_SCRIPT)
			stdio_null();
	}
	host_hook_run(HOOK_EXIT, NULL);
	host_plugin_unload();
	return 0;
}

/* --- many steps in one process */

struct repeat {
	struct stepd stepd;
	uint32_t count;
	int (*after)(void *context, uint32_t number);
	void *context;
};

/* The hooks of one step, of which those of tasks come from no process of their own. */
static int repeat_once(const struct stepd *stepd)
{
	int rc = 0;

	fill(stepd);
	tasks_fill(stepd);
	rc |= host_hook_run(HOOK_INIT, NULL);
	host_options_remote();
	rc |= host_hook_run(HOOK_INIT_POST_OPT, NULL);
	rc |= host_hook_run(HOOK_USER_INIT, NULL);
	for (uint32_t i = 0; i < host_self.local_tasks; i++) {
		struct host_task *task = &host_self.tasks[i];

		rc |= host_hook_run(HOOK_TASK_INIT_PRIVILEGED, task);
		host_env_task(&host_self.env, task);
		rc |= host_hook_run(HOOK_TASK_INIT, task);
		rc |= host_hook_run(HOOK_TASK_POST_FORK, task);
		task->exited = true;
		rc |= host_hook_run(HOOK_TASK_EXIT, task);
	}
	rc |= host_hook_run(HOOK_EXIT, NULL);
	host_env_free(host_self.env);
	free(host_self.tasks);
	host_self.env = NULL;
	host_self.tasks = NULL;
	return rc;
}

static int repeat_body(void *argument)
{
	const struct repeat *repeat = argument;
	int rc = 0;

	stdio_null();
	host_plugin_load();
	for (uint32_t i = 0; i < repeat->count && rc == 0; i++) {
		rc = repeat_once(&repeat->stepd);
		if (rc == 0)
			rc = repeat->after(repeat->context, i);
		host_events_clear(host_self.host);
	}
	host_plugin_unload();
	return rc;
}

int host_step_repeat(struct host *host, const struct host_job *job, const struct host_step *step,
		     uint32_t count, int (*after)(void *context, uint32_t number), void *context)
{
	struct repeat repeat = { .stepd = { .job = job, .step = step, .step_id = step->id },
				 .count = count,
				 .after = after,
				 .context = context };
	char **env = host_daemon_env(1);
	int rc = host_process_run(host, "step", S_CTX_REMOTE, 1, env, repeat_body, &repeat);

	host_env_free(env);
	return rc;
}

static void stepd_run(struct host *host, const char *role, const struct host_job *job,
		      const struct host_step *step, uint32_t step_id, uint32_t index, uint32_t node)
{
	struct stepd stepd = { .job = job, .step = step, .step_id = step_id, .index = index };
	char **env = host_daemon_env(node);

	host_process_run(host, role, S_CTX_REMOTE, node, env, stepd_body, &stepd);
	host_env_free(env);
}

void host_extern(struct host *host, const struct host_job *job, uint32_t node)
{
	uint32_t first = job->first ? job->first : 1;

	stepd_run(host, "extern", job, NULL, SLURM_EXTERN_CONT, node - first, node);
}

void host_batch(struct host *host, const struct host_job *job, const struct host_step *step)
{
	stepd_run(host, "batch", job, step, SLURM_BATCH_SCRIPT, 0, job->first ? job->first : 1);
}

void host_interactive(struct host *host, const struct host_job *job, const struct host_step *step)
{
	stepd_run(host, "interactive", job, step, SLURM_INTERACTIVE_STEP, 0,
		  job->first ? job->first : 1);
}

void host_step_run(struct host *host, const struct host_job *job, const struct host_step *step)
{
	uint32_t nodes = step->nodes ? step->nodes : 1;
	uint32_t first = step->first ? step->first : job->first ? job->first : 1;

	for (uint32_t i = 0; i < nodes; i++)
		stepd_run(host, "step", job, step, step->id, i, first + i);
}
