/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "lib/job/ask_slurm.h"

#include "lib/job/wait_status.h"

#include <dlfcn.h>
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

/* 26.05 names the job by a slurm_step_id_t, in the question and in what comes back. */
#ifdef HAVE_SLURM_LOAD_JOB_STEP_ID
static int job_load(job_info_msg_t **message, uint32_t job)
{
	slurm_step_id_t id;

	memset(&id, 0, sizeof(id));
	id.job_id = job;
	id.step_id = NO_VAL;
	id.step_het_comp = NO_VAL;
	return slurm_load_job(message, id, SHOW_ALL);
}

static uint32_t job_id(const slurm_job_info_t *job)
{
	return job->step_id.job_id;
}
#else
static int job_load(job_info_msg_t **message, uint32_t job)
{
	return slurm_load_job(message, job, SHOW_ALL);
}

static uint32_t job_id(const slurm_job_info_t *job)
{
	return job->job_id;
}
#endif

/*
 * Slurm's word for a reason. The function is exported but in no public header, and 23.11
 * renamed it; without it the reason is left out.
 */
static const char *reason_name(uint32_t reason)
{
	typedef const char *reason_fn(int);
	union {
		void *symbol;
		reason_fn *call;
	} name;

	if (reason == 0)
		return NULL;
	name.symbol = dlsym(RTLD_DEFAULT, "slurm_job_state_reason_string");
	if (name.symbol == NULL)
		name.symbol = dlsym(RTLD_DEFAULT, "slurm_job_reason_string");
	return name.symbol == NULL ? NULL : name.call((int)reason);
}

static int text_set(char **field, const char *value)
{
	if (value == NULL || *value == '\0')
		return 0;
	*field = strdup(value);
	return *field == NULL ? -1 : 0;
}

static uint32_t known(uint32_t value)
{
	return value == NO_VAL || value == INFINITE ? 0 : value;
}

static int status_set(char **field, uint32_t status)
{
	struct lens_wait_status decoded;
	char text[LENS_ERROR_TYPE];

	if (status == NO_VAL)
		return 0;
	decoded = lens_wait_status_decode(status);
	lens_wait_status_text(text, &decoded);
	return text_set(field, text);
}

/*
 * pre_sus_time is how long the job had run before it was last suspended or resumed, at
 * suspend_time (slurm.h): the rest of that span it had been suspended.
 */
static int64_t suspended_seconds(const slurm_job_info_t *job)
{
	int64_t seconds = 0;

	if (job->suspend_time > 0 && job->pre_sus_time > 0 && job->start_time > 0)
		seconds = (int64_t)job->suspend_time - job->start_time - job->pre_sus_time;
	return seconds > 0 ? seconds : 0;
}

static int texts_fill(struct lens_job_answer *out, const slurm_job_info_t *job)
{
	const struct passwd *user = NULL;

	if (job->user_name == NULL || *job->user_name == '\0')
		user = getpwuid(job->user_id);
	if (text_set(&out->state, lens_job_state_name(job->job_state)) == -1 ||
	    text_set(&out->reason, reason_name(job->state_reason)) == -1 ||
	    status_set(&out->exit_code, job->exit_code) == -1 ||
	    status_set(&out->derived, job->derived_ec) == -1 ||
	    text_set(&out->name, job->name) == -1 ||
	    text_set(&out->user, user != NULL ? user->pw_name : job->user_name) == -1 ||
	    text_set(&out->partition, job->partition) == -1 ||
	    text_set(&out->account, job->account) == -1 || text_set(&out->qos, job->qos) == -1 ||
	    text_set(&out->reservation, job->resv_name) == -1)
		return -1;
	return out->completing ? 0 : text_set(&out->nodelist, job->nodes);
}

static int answer_fill(struct lens_job_answer *out, const slurm_job_info_t *job)
{
	out->found = true;
	out->job = job_id(job);
	out->attempt = job->restart_cnt;
	out->raw_state = job->job_state;
	out->completing = (job->job_state & JOB_COMPLETING) != 0;
	out->submit = job->submit_time;
	out->eligible = job->eligible_time;
	out->start = job->start_time;
	out->end = job->end_time;
	out->suspended = suspended_seconds(job);
	out->uid = job->user_id;
	/* While epilogs run slurmctld names and counts only the nodes that still run theirs. */
	if (!out->completing)
		out->nodes = known(job->num_nodes);
	out->tasks = known(job->num_tasks);
	out->cpus = known(job->num_cpus);
	if (job->array_task_id != NO_VAL) {
		out->array_job = known(job->array_job_id);
		out->array_task = job->array_task_id;
	}
	out->het_leader = known(job->het_job_id);
	out->het_offset = out->het_leader != 0 ? known(job->het_job_offset) : 0;
	out->cron = job->cronspec != NULL && *job->cronspec != '\0';
	return texts_fill(out, job);
}

int lens_ask_slurmctld(uint32_t job, struct lens_job_answer *out, struct lens_error *err)
{
	job_info_msg_t *message = NULL;
	int rc = 0;

	lens_job_answer_init(out);
	slurm_init(NULL);
	errno = 0;
	if (job_load(&message, job) != SLURM_SUCCESS) {
		if (errno == ESLURM_INVALID_JOB_ID)
			return 0;
		return lens_error_set(err, "slurmctld: %s", slurm_strerror(errno));
	}
	/* Asked for the first element of an array, slurmctld sends all of them. */
	for (uint32_t i = 0; i < message->record_count; i++) {
		if (job_id(&message->job_array[i]) != job)
			continue;
		rc = answer_fill(out, &message->job_array[i]);
		break;
	}
	slurm_free_job_info_msg(message);
	if (rc == -1) {
		lens_job_answer_clear(out);
		return lens_error_set(err, "out of memory");
	}
	return 0;
}
