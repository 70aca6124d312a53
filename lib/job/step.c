/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/step.h"

#include "lib/core/number.h"

#include <stdlib.h>
#include <string.h>

static const char *text_of(const struct lens_carrier *record, const char *key)
{
	const char *value = lens_carrier_get(record, key);

	return value != NULL ? value : "";
}

static uint32_t number_of(const struct lens_carrier *record, const char *key, uint32_t fallback)
{
	uint32_t value = fallback;

	lens_uint32_parse(lens_carrier_get(record, key), &value);
	return value;
}

static bool is_open(const struct lens_carrier *record)
{
	return strcmp(lens_record_event(record), "step_open") == 0;
}

static void open_read(struct lens_job_step *out, const struct lens_carrier *record)
{
	memset(out, 0, sizeof(*out));
	out->job = number_of(record, "job", 0);
	out->leader = number_of(record, "leader", out->job);
	out->attempt = number_of(record, "attempt", 0);
	out->step = number_of(record, "step", 0);
	out->cluster = text_of(record, "cluster");
	out->node = text_of(record, "node");
	out->name = text_of(record, "name");
	out->kind = text_of(record, "kind");
	out->trace = lens_carrier_get(record, "trace");
	out->into = lens_carrier_get(record, "into");
	out->parent = lens_carrier_get(record, "parent");
	out->resource = lens_carrier_get(record, "resource");
	out->outer = lens_carrier_get(record, "outer");
	out->in_outer = lens_record_flag(record, "inouter");
	out->task_total = lens_record_number(record, "tasks", 0);
	out->inferred = lens_record_flag(record, "inferred");
	out->known = lens_record_flag(record, "known");
	/* For a step none of whose tasks came as far as to say it. */
	out->first_node = number_of(record, "nodeid", UINT32_MAX) == 0;
	out->start_ns = lens_record_time(record);
}

/* What the batch script's own environment told of the attempt, later than step_open. */
static void amend_read(struct lens_job_step *step, const struct lens_carrier *record)
{
	const char *trace = lens_carrier_get(record, "trace");
	const char *resource = lens_carrier_get(record, "resource");

	step->attempt = number_of(record, "attempt", step->attempt);
	step->trace = trace != NULL ? trace : step->trace;
	step->resource = resource != NULL ? resource : step->resource;
	step->known = true;
}

/* Tasks begin in about the order of their ranks and end in that in which they began: one beyond all
 * others is new, and the search goes on where the last one ended. */
static struct lens_job_task *task_find(struct lens_job_step *step, uint32_t rank)
{
	size_t at = step->task_last;

	if (step->task_count == 0 || rank > step->rank_max)
		return NULL;
	for (size_t i = 0; i < step->task_count; i++) {
		at = at + 1 < step->task_count ? at + 1 : 0;
		if (step->tasks[at].rank == rank) {
			step->task_last = at;
			return &step->tasks[at];
		}
	}
	return NULL;
}

/* The task of RECORD; a new one, begun at BEGIN_NS, when it is not known; NULL when memory
 * ran out. */
static struct lens_job_task *task_of(struct lens_job_step *step, const struct lens_carrier *record,
				     int64_t begin_ns)
{
	uint32_t rank = number_of(record, "rank", 0);
	struct lens_job_task *task = task_find(step, rank);
	size_t count = step->task_count;

	if (task != NULL)
		return task;
	if ((count & (count - 1)) == 0) { /* grows by doubling */
		size_t room = count == 0 ? 1 : count * 2;

		task = reallocarray(step->tasks, room, sizeof(*task));
		if (task == NULL)
			return NULL;
		step->tasks = task;
	}
	task = &step->tasks[step->task_count++];
	memset(task, 0, sizeof(*task));
	task->rank = rank;
	if (rank > step->rank_max)
		step->rank_max = rank;
	task->local = number_of(record, "local", 0);
	task->pid = number_of(record, "pid", 0);
	task->start_ns = begin_ns;
	task->end_ns = begin_ns;
	return task;
}

static int task_open_read(struct lens_job_step *step, const struct lens_carrier *record,
			  int64_t at_ns)
{
	struct lens_job_task *task = task_of(step, record, at_ns);

	if (task == NULL)
		return -1;
	task->exports = lens_record_flag(record, "export");
	task->ranks = lens_record_flag(record, "ranks");
	/* What Slurm told the task is of the whole step, in a het job too. */
	step->first_node = number_of(record, "nodeid", UINT32_MAX) == 0;
	step->task_total = lens_record_number(record, "world", step->task_total);
	return 0;
}

/* A task whose task_init wrote nothing began, for all we know, with the step. */
static int task_end_read(struct lens_job_step *step, const struct lens_carrier *record,
			 int64_t at_ns)
{
	struct lens_job_task *task = task_of(step, record, step->start_ns);
	uint32_t status;

	if (task == NULL)
		return -1;
	if (lens_uint32_parse(lens_carrier_get(record, "status"), &status) == -1)
		return 0; /* how it ended is not known: closed like one whose end is missing */
	if (!task->ended && status != 0)
		step->failed++;
	task->ended = true;
	task->status = status;
	task->oom = lens_record_flag(record, "oom");
	task->end_ns = at_ns > task->start_ns ? at_ns : task->start_ns;
	return 0;
}

/* Closes what never ended at the last time known, and makes the step hold its tasks. */
static void ends_fill(struct lens_job_step *step, int64_t last_ns)
{
	step->end_ns = last_ns;
	for (size_t i = 0; i < step->task_count; i++) {
		struct lens_job_task *task = &step->tasks[i];

		if (!task->ended)
			task->end_ns = last_ns > task->start_ns ? last_ns : task->start_ns;
		if (task->end_ns > step->end_ns)
			step->end_ns = task->end_ns;
	}
}

/*
 * One record of a section; *LAST_NS moves on with what the step's own processes wrote. 0,
 * or -1 when memory ran out.
 */
static int record_read(struct lens_job_step *out, const struct lens_carrier *record, int64_t at_ns,
		       int64_t *last_ns)
{
	const char *event = lens_record_event(record);
	int rc = 0;

	if (strcmp(event, "epilog") == 0 || strcmp(event, "extern") == 0) {
		if (out->over == NULL || strcmp(event, "epilog") == 0)
			out->over = record;
		return 0; /* another process's, maybe of another boot */
	}
	if (out->lost)
		return 0;
	if (strcmp(event, "task_open") == 0)
		rc = task_open_read(out, record, at_ns);
	else if (strcmp(event, "task_end") == 0)
		rc = task_end_read(out, record, at_ns);
	else if (strcmp(event, "amend") == 0)
		amend_read(out, record);
	else if (strcmp(event, "step_end") == 0)
		out->closed = true;
	else if (strcmp(event, "lost") == 0)
		out->lost = true;
	if (!out->lost && at_ns > *last_ns)
		*last_ns = at_ns;
	return rc;
}

static int section_read(struct lens_job_step *out, const struct lens_records *records, size_t from,
			size_t to)
{
	const struct lens_carrier *open = lens_records_at(records, from);
	int64_t open_monotonic_ns = lens_record_monotonic(open), last_ns;

	open_read(out, open);
	last_ns = out->start_ns;
	for (size_t i = from + 1; i < to; i++) {
		const struct lens_carrier *record = lens_records_at(records, i);
		int64_t since_ns = lens_record_monotonic(record) - open_monotonic_ns;

		/* By the wall clock as it stood at step_open. */
		if (record_read(out, record, out->start_ns + (since_ns > 0 ? since_ns : 0),
				&last_ns) == -1)
			return -1;
	}
	ends_fill(out, last_ns);
	return 0;
}

int lens_job_step_read(struct lens_job_step *out, const struct lens_records *records,
		       size_t *position)
{
	size_t count = lens_records_count(records);
	size_t from = *position;
	size_t to;

	while (from < count && !is_open(lens_records_at(records, from)))
		from++;
	if (from >= count) {
		*position = count;
		return 0;
	}
	to = from + 1;
	while (to < count && !is_open(lens_records_at(records, to)))
		to++;
	*position = to;
	if (section_read(out, records, from, to) == -1) {
		lens_job_step_clear(out);
		return -1;
	}
	return 1;
}

void lens_job_step_clear(struct lens_job_step *step)
{
	free(step->tasks);
	step->tasks = NULL;
	step->task_count = 0;
}

bool lens_job_task_failed(const struct lens_job_task *task)
{
	return task->ended && task->status != 0;
}
