/* SPDX-License-Identifier: Apache-2.0 */
/* What Slurm itself puts into an environment, and when: quirks.txt says where each was seen. */
#include "tests/spankhost/self.h"

#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLUSTER "mini"
#define SLUID   "sFAKE%u.%u" /* changes with the attempt, as Slurm's does */

void host_number_set(char ***env, const char *name, long long number)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", number);
	host_env_set(env, name, text);
}

void host_node_list(char out[64], uint32_t first, uint32_t count)
{
	first = first ? first : 1;
	if (count <= 1)
		snprintf(out, 64, "n%u", first);
	else
		snprintf(out, 64, "n[%u-%u]", first, first + count - 1);
}

static void sluid_set(char ***env, const struct host_job *job)
{
	char text[64];

	if (!host_self.profile->sluid)
		return;
	snprintf(text, sizeof(text), SLUID, job->id, job->restarts);
	host_env_set(env, "SLURM_JOB_SLUID", text);
}

/* What tells of the allocation, the same for salloc, srun and slurmctld. */
void host_env_allocation(char ***env, const struct host_job *job)
{
	char list[64];

	host_node_list(list, job->first, job->nodes);
	host_number_set(env, "SLURM_JOB_ID", job->het_leader ? job->het_leader : job->id);
	host_number_set(env, "SLURM_JOBID", job->het_leader ? job->het_leader : job->id);
	host_env_set(env, "SLURM_JOB_NODELIST", list);
	host_env_set(env, "SLURM_NODELIST", list);
	host_number_set(env, "SLURM_JOB_NUM_NODES", job->nodes);
	host_number_set(env, "SLURM_NNODES", job->nodes);
	host_env_set(env, "SLURM_JOB_PARTITION", "p");
	host_env_set(env, "SLURM_CLUSTER_NAME", CLUSTER);
	host_number_set(env, "SLURM_NTASKS", job->tasks);
	host_number_set(env, "SLURM_NPROCS", job->tasks);
}

/* What slurmctld makes for the batch step. Nothing unsets what an outer job left. */
void host_env_batch(char ***env, const struct host_job *job)
{
	host_env_allocation(env, job);
	host_env_set(env, "ENVIRONMENT", "BATCH");
	if (job->array_job) {
		host_number_set(env, "SLURM_ARRAY_JOB_ID", job->array_job);
		host_number_set(env, "SLURM_ARRAY_TASK_ID", job->array_task);
		host_env_set(env, "SLURM_ARRAY_TASK_COUNT", "2");
	}
}

/* What srun puts into its own environment before it launches. */
void host_env_step(char ***env, const struct host_job *job, const struct host_step *step)
{
	uint32_t leader = job->het_leader ? job->het_leader : job->id;
	uint32_t tasks = step->all_tasks ? step->all_tasks : step->tasks;
	char list[64];

	if (!host_env_get(*env, "SLURM_JOB_ID"))
		host_env_allocation(env, job);
	host_node_list(list, step->first, step->nodes);
	host_number_set(env, "SLURM_JOB_ID", leader);
	host_number_set(env, "SLURM_STEP_ID", step->id);
	host_number_set(env, "SLURM_STEPID", step->id);
	host_number_set(env, "SLURM_NTASKS", tasks);
	host_number_set(env, "SLURM_NPROCS", tasks);
	host_number_set(env, "SLURM_NNODES", step->nodes ? step->nodes : 1);
	host_env_set(env, "SLURM_STEP_NODELIST", list);
	host_number_set(env, "SLURM_STEP_NUM_TASKS", tasks);
}

/* In the task's process, between task_init_privileged and task_init. */
void host_env_task(char ***env, const struct host_task *task)
{
	const struct host_job *job = host_self.job;
	bool batch = host_self.step_id == SLURM_BATCH_SCRIPT;
	uint32_t offset = host_self.step ? host_self.step->node_offset : 0;

	host_env_set(env, "SLURMD_NODENAME", getenv("SLURMD_NODENAME"));
	host_env_set(env, "SLURM_JOB_USER", host_uid() == 33 ? "www-data" : "user");
	host_number_set(env, "SLURM_JOB_UID", host_uid());
	host_number_set(env, "SLURM_PROCID", task->procid);
	host_number_set(env, "SLURM_LOCALID", task->local);
	host_number_set(env, "SLURM_NODEID", host_self.nodeid + offset);
	host_number_set(env, "SLURM_TASK_PID", (long long)task->pid);
	if (batch && job->restarts)
		host_number_set(env, "SLURM_RESTART_COUNT", job->restarts);
	if (batch && host_self.profile->batch_step_id)
		host_env_set(env, "SLURM_STEP_ID", "-5");
	if (host_self.profile->start_time)
		host_env_set(env, "SLURM_JOB_START_TIME", "1764521700");
	sluid_set(env, job);
}

/* In slurmstepd before task_exit: the rank is right, a het step's node number is not. */
void host_env_task_exit(char ***env, const struct host_task *task)
{
	host_env_set(env, "SLURMD_NODENAME", getenv("SLURMD_NODENAME"));
	host_env_set(env, "SLURM_JOB_USER", host_uid() == 33 ? "www-data" : "user");
	host_number_set(env, "SLURM_PROCID", task->procid);
	host_number_set(env, "SLURM_LOCALID", task->local);
	host_number_set(env, "SLURM_NODEID", host_self.nodeid);
}

/* --export=NONE: names that begin with SLURM stay; later releases keep options, too. */
char **host_env_export_none(char *const *env, const struct host_profile *profile)
{
	static const char option[] = "_SLURM_SPANK_OPTION_";
	char **kept = host_env_copy(NULL);
	size_t count = 0;

	for (; env && *env; env++) {
		if (strncmp(*env, "SLURM", 5) != 0 &&
		    (profile->export_none_loses || strncmp(*env, option, sizeof(option) - 1) != 0))
			continue;
		kept = realloc(kept, (count + 2) * sizeof(*kept));
		if (!kept)
			abort();
		kept[count++] = strdup(*env);
		kept[count] = NULL;
	}
	return kept;
}

/* The environment of slurmd, and so of all that it starts. */
char **host_daemon_env(uint32_t node)
{
	char **env = host_env_copy(NULL);
	char name[16];

	host_env_set(&env, "PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
	host_env_set(&env, "SLURM_CONF", "/nonexistent/slurm.conf");
	if (node) {
		snprintf(name, sizeof(name), "n%u", node);
		host_env_set(&env, "SLURMD_NODENAME", name);
	}
	return env;
}

/* Prolog and epilog have SLURM_* and the job control environment as SPANK_*, nothing else. The
 * epilog of a requeued attempt shows the next number already: so JOB has it then. */
char **host_env_script(const struct host_job *job, uint32_t node, bool epilog)
{
	char **env = host_env_copy(NULL);
	char text[600];

	snprintf(text, sizeof(text), "n%u", node);
	host_env_set(&env, "SLURMD_NODENAME", text);
	host_env_set(&env, "SLURM_CONF", "/nonexistent/slurm.conf");
	host_number_set(&env, "SLURM_JOB_ID", job->id);
	host_number_set(&env, "SLURM_JOBID", job->id);
	host_env_set(&env, "SLURM_CLUSTER_NAME", CLUSTER);
	host_env_set(&env, "SLURM_JOB_PARTITION", "p");
	host_env_set(&env, "SLURM_JOB_USER", host_uid() == 33 ? "www-data" : "user");
	host_number_set(&env, "SLURM_JOB_UID", host_uid());
	host_number_set(&env, "SLURM_JOB_NUM_NODES", job->nodes);
	host_number_set(&env, "SLURM_JOB_NTASKS", job->tasks);
	host_number_set(&env, "SLURM_JOB_RESTART_COUNT", job->restarts);
	if (job->het_leader)
		host_number_set(&env, "SLURM_HET_JOB_ID", job->het_leader);
	host_node_list(text, job->first, job->nodes);
	host_env_set(&env, "SLURM_NODELIST", text);
	if (host_self.profile->script_job_nodelist) {
		host_env_set(&env, "SLURM_JOB_NODELIST", text);
		host_env_set(&env, "SLURM_JOB_START_TIME", "1764521700");
	}
	sluid_set(&env, job);
	if (epilog) {
		snprintf(text, sizeof(text), "%d:%d", job->status >> 8, job->status & 0x7f);
		host_env_set(&env, "SLURM_JOB_EXIT_CODE2", text);
	}
	for (char *const *c = job->control; c && *c; c++) {
		const char *equals = strchr(*c, '=');

		snprintf(text, sizeof(text), "SPANK_%.*s", (int)(equals - *c), *c);
		host_env_set(&env, text, equals + 1);
	}
	return env;
}
