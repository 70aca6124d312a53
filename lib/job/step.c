/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/step.h"

#include "lib/core/number.h"

#include <inttypes.h>
#include <stdio.h>
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

static bool flag_of(const struct lens_carrier *record, const char *key)
{
	return number_of(record, key, 0) == 1;
}

static bool event_is(const struct lens_carrier *record, const char *event)
{
	return strcmp(lens_record_event(record), event) == 0;
}

/* What time RECORD is by a clock that stood at START_NS at START_MONOTONIC: no step of the
 * wall clock in between shows. */
static int64_t time_after(int64_t start_ns, int64_t start_monotonic,
			  const struct lens_carrier *record)
{
	int64_t length = lens_record_monotonic(record) - start_monotonic;

	return start_ns + (length > 0 ? length : 0);
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
	out->parent = lens_carrier_get(record, "parent");
	out->resource = lens_carrier_get(record, "resource");
	out->task_total = lens_record_number(record, "tasks", 0);
	out->inferred = flag_of(record, "inferred");
	out->start_ns = lens_record_time(record);
}

static struct lens_job_task *task_find(struct lens_job_step *step, uint32_t rank)
{
	for (size_t i = 0; i < step->task_count; i++) {
		if (step->tasks[i].rank == rank)
			return &step->tasks[i];
	}
	return NULL;
}

/* The task of RECORD; a new one, begun with BEGIN, when it is not known; NULL when memory
 * ran out. */
static struct lens_job_task *task_of(struct lens_job_step *step, const struct lens_carrier *record,
				     const struct lens_carrier *begin)
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
	task->local = number_of(record, "local", 0);
	task->pid = number_of(record, "pid", 0);
	task->nodeid = UINT32_MAX;
	task->start_ns = lens_record_time(begin);
	task->end_ns = task->start_ns;
	task->start_monotonic = lens_record_monotonic(begin);
	return task;
}

static int task_open_read(struct lens_job_step *step, const struct lens_carrier *record)
{
	struct lens_job_task *task = task_of(step, record, record);

	if (task == NULL)
		return -1;
	task->exports = flag_of(record, "export");
	task->ranks = flag_of(record, "ranks");
	task->nodeid = number_of(record, "nodeid", UINT32_MAX);
	if (task->nodeid == 0)
		step->first_node = true;
	return 0;
}

/* A task whose task_init wrote nothing began, for all we know, with the step: OPEN. */
static int task_end_read(struct lens_job_step *step, const struct lens_carrier *record,
			 const struct lens_carrier *open)
{
	struct lens_job_task *task = task_of(step, record, open);
	uint32_t status;

	if (task == NULL)
		return -1;
	if (lens_uint32_parse(lens_carrier_get(record, "status"), &status) == -1)
		return 0; /* how it ended is not known: closed like one whose end is missing */
	if (!task->ended && status != 0)
		step->failed++;
	task->ended = true;
	task->status = status;
	task->end_ns = time_after(task->start_ns, task->start_monotonic, record);
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
		if (task->start_ns < step->start_ns)
			step->start_ns = task->start_ns;
		if (task->end_ns > step->end_ns)
			step->end_ns = task->end_ns;
	}
}

static int section_read(struct lens_job_step *out, const struct lens_records *records, size_t from,
			size_t to)
{
	const struct lens_carrier *open = lens_records_at(records, from);
	int64_t last_ns = lens_record_time(open);

	open_read(out, open);
	for (size_t i = from + 1; i < to; i++) {
		const struct lens_carrier *record = lens_records_at(records, i);
		int64_t at_ns = time_after(out->start_ns, lens_record_monotonic(open), record);
		int rc = 0;

		if (event_is(record, "task_open"))
			rc = task_open_read(out, record);
		else if (event_is(record, "task_end"))
			rc = task_end_read(out, record, open);
		else if (event_is(record, "step_end"))
			out->closed = true;
		if (rc == -1)
			return -1;
		if (at_ns > last_ns)
			last_ns = at_ns;
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

	while (from < count && !event_is(lens_records_at(records, from), "step_open"))
		from++;
	if (from >= count) {
		*position = count;
		return 0;
	}
	to = from + 1;
	while (to < count && !event_is(lens_records_at(records, to), "step_open"))
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

void lens_step_id_text(char out[LENS_STEP_TEXT], uint32_t step)
{
	if (step == LENS_STEP_BATCH)
		snprintf(out, LENS_STEP_TEXT, "batch");
	else if (step == LENS_STEP_INTERACTIVE)
		snprintf(out, LENS_STEP_TEXT, "interactive");
	else
		snprintf(out, LENS_STEP_TEXT, "%" PRIu32, step);
}
