/* SPDX-License-Identifier: Apache-2.0 */
/* spank_get_item: which item Slurm gives where, and what it says there (src/common/spank.c
 * of Slurm; quirks.txt). */
#include "tests/spankhost/self.h"

#include <slurm/slurm.h>
#include <stdarg.h>
#include <string.h>

static bool known_to_srun(spank_item_t item)
{
	switch (item) {
	case S_JOB_UID:
	case S_JOB_GID:
	case S_JOB_ID:
	case S_JOB_STEPID:
	case S_JOB_ARGV:
	case S_JOB_ENV:
	case S_JOB_TOTAL_TASK_COUNT:
	case S_JOB_NNODES:
		return true;
	default:
		return false;
	}
}

static spank_err_t permitted(spank_item_t item)
{
	switch (item) {
	case S_SLURM_VERSION:
	case S_SLURM_VERSION_MAJOR:
	case S_SLURM_VERSION_MINOR:
	case S_SLURM_VERSION_MICRO:
		return ESPANK_SUCCESS;
	default:
		break;
	}
	switch (host_self.context) {
	case S_CTX_SLURMD:
		return ESPANK_NOT_AVAIL;
	case S_CTX_JOB_SCRIPT:
		return item == S_JOB_ID || item == S_JOB_UID || item == S_JOB_GID
			       ? ESPANK_SUCCESS
			       : ESPANK_NOT_AVAIL;
	case S_CTX_LOCAL:
		if (!known_to_srun(item))
			return ESPANK_NOT_REMOTE;
		return host_self.has_job ? ESPANK_SUCCESS : ESPANK_NOT_AVAIL;
	case S_CTX_ALLOCATOR:
		if (item == S_JOB_UID || item == S_JOB_GID)
			return ESPANK_NOT_AVAIL;
		return known_to_srun(item) ? ESPANK_BAD_ARG : ESPANK_NOT_REMOTE;
	default:
		return ESPANK_SUCCESS;
	}
}

static spank_err_t task_item(spank_item_t item, va_list args)
{
	const struct host_task *task = host_self.task;

	switch (item) {
	case S_TASK_ID:
		*va_arg(args, int *) = task ? (int)task->local : -1;
		break;
	case S_TASK_GLOBAL_ID:
		if (task)
			*va_arg(args, uint32_t *) = task->global;
		break;
	case S_TASK_EXIT_STATUS:
		if (!task || !task->exited)
			return ESPANK_NOT_TASK;
		*va_arg(args, int *) = task->status;
		break;
	default:
		*va_arg(args, pid_t *) = task ? task->pid : 0;
		break;
	}
	return task ? ESPANK_SUCCESS : ESPANK_NOT_TASK;
}

static spank_err_t version_item(spank_item_t item, va_list args)
{
	static char parts[3][8];
	const char *version = host_self.profile->version;

	if (item == S_SLURM_VERSION) {
		*va_arg(args, const char **) = version;
		return ESPANK_SUCCESS;
	}
	for (size_t i = 0; i < 3; i++) {
		size_t length = strcspn(version, ".");

		memcpy(parts[i], version, length);
		parts[i][length] = '\0';
		version += length + 1;
	}
	*va_arg(args, char **) = parts[item - S_SLURM_VERSION_MAJOR];
	return ESPANK_SUCCESS;
}

/* The numbers that are of a job or step. False: ITEM is none. */
static bool number_item(spank_item_t item, uint32_t *value)
{
	switch (item) {
	case S_JOB_ID:
		*value = host_self.job->id;
		return true;
	case S_JOB_STEPID:
		*value = host_self.step_id;
		return true;
	case S_JOB_NNODES:
		*value = host_self.nnodes;
		return true;
	case S_JOB_NODEID:
		*value = host_self.nodeid;
		return true;
	case S_JOB_LOCAL_TASK_COUNT:
		*value = host_self.local_tasks;
		return true;
	case S_JOB_TOTAL_TASK_COUNT:
		*value = host_self.total_tasks;
		return true;
	case S_STEP_CPUS_PER_TASK:
		*value = 1;
		return true;
	case S_SLURM_RESTART_COUNT:
		*value = 0; /* nobody in Slurm ever fills it in */
		return true;
	case S_JOB_ARRAY_ID:
		*value = host_self.array_job;
		return true;
	case S_JOB_ARRAY_TASK_ID:
		*value = host_self.array_task;
		return true;
	default:
		return false;
	}
}

static spank_err_t list_item(spank_item_t item, va_list args)
{
	char ***list;
	int *count;

	switch (item) {
	case S_JOB_UID:
		*va_arg(args, uid_t *) =
			host_self.context == S_CTX_LOCAL && host_self.profile->srun_uid_nobody
				? 99
				: host_uid();
		return ESPANK_SUCCESS;
	case S_JOB_GID:
		*va_arg(args, gid_t *) = host_uid();
		return ESPANK_SUCCESS;
	case S_JOB_ARGV:
		count = va_arg(args, int *);
		list = va_arg(args, char ***);
		*list = host_self.argv;
		*count = host_self.argc;
		return ESPANK_SUCCESS;
	case S_JOB_ENV:
		/* srun answers success, and no environment */
		*va_arg(args, char ***) = host_self.context == S_CTX_REMOTE ? host_self.env : NULL;
		return ESPANK_SUCCESS;
	default:
		return ESPANK_BAD_ARG;
	}
}

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
	spank_err_t rc;
	uint32_t value;
	va_list args;

	if (!spank || spank->magic != HOST_MAGIC)
		return ESPANK_BAD_ARG;
	rc = permitted(item);
	if (rc != ESPANK_SUCCESS)
		return rc;
	va_start(args, item);
	if (item == S_TASK_ID || item == S_TASK_GLOBAL_ID || item == S_TASK_EXIT_STATUS ||
	    item == S_TASK_PID)
		rc = task_item(item, args);
	else if (item >= S_SLURM_VERSION && item <= S_SLURM_VERSION_MICRO)
		rc = version_item(item, args);
	else if (number_item(item, &value))
		*va_arg(args, uint32_t *) = value;
	else
		rc = list_item(item, args);
	va_end(args);
	return rc;
}

spank_context_t spank_context(void)
{
	return host_self.context;
}

int spank_remote(spank_t spank)
{
	if (!spank || spank->magic != HOST_MAGIC)
		return -1;
	return host_self.context == S_CTX_REMOTE;
}

const char *spank_strerror(spank_err_t err)
{
	return err == ESPANK_SUCCESS ? "Success" : "Generic error";
}
