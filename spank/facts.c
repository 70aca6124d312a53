/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/facts.h"

#include "lib/core/env.h"
#include "lib/core/number.h"

#include <slurm/slurm.h>
#include <sys/types.h>

static int item_u32(spank_t sp, spank_item_t item, uint32_t *out)
{
	uint32_t value = 0;

	if (spank_get_item(sp, item, &value) != ESPANK_SUCCESS)
		return -1;
	*out = value;
	return 0;
}

int lens_facts_job(spank_t sp, uint32_t *job)
{
	return item_u32(sp, S_JOB_ID, job);
}

int lens_facts_step(spank_t sp, uint32_t *step)
{
	return item_u32(sp, S_JOB_STEPID, step);
}

char *const *lens_facts_env(spank_t sp)
{
	char **env = NULL;

	if (spank_get_item(sp, S_JOB_ENV, &env) != ESPANK_SUCCESS)
		return NULL;
	return env;
}

size_t lens_facts_argv(spank_t sp, char *const **out)
{
	char **argv = NULL;
	int argc = 0;

	*out = NULL;
	if (spank_get_item(sp, S_JOB_ARGV, &argc, &argv) != ESPANK_SUCCESS || argc < 1 || !argv)
		return 0;
	*out = argv;
	return (size_t)argc;
}

bool lens_facts_is_array(spank_t sp)
{
	uint32_t task;

	return item_u32(sp, S_JOB_ARRAY_TASK_ID, &task) == 0 && task != NO_VAL;
}

uint32_t lens_facts_tasks(spank_t sp, uint32_t step)
{
	uint32_t tasks;

	if (step == SLURM_BATCH_SCRIPT || item_u32(sp, S_JOB_TOTAL_TASK_COUNT, &tasks) ||
	    tasks == 0)
		return 1;
	return tasks;
}

uint32_t lens_facts_nodes(spank_t sp)
{
	uint32_t nodes;

	return item_u32(sp, S_JOB_NNODES, &nodes) ? 0 : nodes;
}

int lens_facts_nodeid(spank_t sp, uint32_t *nodeid)
{
	return item_u32(sp, S_JOB_NODEID, nodeid);
}

int lens_facts_exit_status(spank_t sp, int *status)
{
	return spank_get_item(sp, S_TASK_EXIT_STATUS, status) == ESPANK_SUCCESS ? 0 : -1;
}

int lens_facts_task_pid(spank_t sp, int *pid)
{
	pid_t value = -1;

	if (spank_get_item(sp, S_TASK_PID, &value) != ESPANK_SUCCESS || value <= 0)
		return -1;
	*pid = value;
	return 0;
}

int lens_facts_exit_rank(spank_t sp, uint32_t *rank)
{
	if (lens_uint32_parse(lens_env_get(lens_facts_env(sp), "SLURM_PROCID"), rank) == 0)
		return 0;
	return item_u32(sp, S_TASK_GLOBAL_ID, rank);
}

int lens_facts_local_rank(spank_t sp, uint32_t *local)
{
	int value = -1;

	if (spank_get_item(sp, S_TASK_ID, &value) != ESPANK_SUCCESS || value < 0)
		return -1;
	*local = (uint32_t)value;
	return 0;
}
