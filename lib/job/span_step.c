/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/spans.h"

#include "lib/job/emit.h"
#include "lib/job/wait_status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PLACE 320 /* a step, `/`, a rank or the name of a node (at most 255 bytes) */

static int emit_init(struct lens_emit *emit, struct lens_batch *batch,
		     const struct lens_job_site *site, const struct lens_job_step *step)
{
	emit->attempt = step->attempt;
	emit->factual = !step->inferred || step->known;
	emit->group = lens_batch_add_group(batch);
	/* What its tasks were told, whatever the site's Realm is by now. */
	if ((step->trace == NULL || lens_trace_id_parse(&emit->own, step->trace) == -1) &&
	    lens_trace_id_derive(&emit->own, site->realm, step->cluster, step->leader,
				 step->attempt) == -1)
		return -1;
	emit->wire = emit->own;
	if (step->into != NULL)
		lens_trace_id_parse(&emit->wire, step->into);
	return lens_resource_fill(lens_group_resource(emit->group), site, step->resource,
				  step->cluster, step->node);
}

/* The job's span, or the one that the user's script had open around the srun. */
static void parent_set(struct lens_emit *emit, struct lens_span *span,
		       const struct lens_job_step *step)
{
	struct lens_span_id user;
	char job[PLACE];

	snprintf(job, sizeof(job), "%" PRIu32, step->job);
	if (step->parent != NULL && lens_span_id_parse(&user, step->parent) == 0)
		lens_span_set_parent(span, &user);
	else
		lens_emit_parent(emit, span, "slurm.job", job);
}

static void status_set(struct lens_span *span, const struct lens_job_task *task)
{
	struct lens_attributes *attributes = lens_span_attributes(span);
	struct lens_wait_status status;
	char type[LENS_ERROR_TYPE], text[LENS_ERROR_TYPE], message[64];

	if (!task->ended) {
		lens_attributes_bool(attributes, "nemo.span.truncated", true);
		return;
	}
	status = lens_wait_status_decode(task->status);
	if (status.signal == 0)
		lens_attributes_int(attributes, "process.exit.code", status.exit_code);
	else
		lens_attributes_int(attributes, "slurm.signal", status.signal);
	if (status.core)
		lens_attributes_bool(attributes, "slurm.core_dumped", true);
	if (task->oom)
		lens_attributes_bool(attributes, "slurm.oom_killed", true);
	lens_wait_status_text(text, &status);
	lens_attributes_string(attributes, "slurm.exit_code", text);
	if (task->status == 0)
		return;
	lens_wait_status_type(type, &status);
	if (status.signal == 0)
		snprintf(message, sizeof(message), "exit code %d", status.exit_code);
	else
		snprintf(message, sizeof(message), "ended by %s%s", type,
			 task->oom ? ", out of memory" : "");
	lens_emit_error(span, type, message);
}

static void step_attributes(struct lens_span *span, const struct lens_job_step *step)
{
	struct lens_attributes *attributes = lens_span_attributes(span);
	char id[LENS_STEP_TEXT];

	lens_step_text(id, step->step);
	lens_attributes_string(attributes, "slurm.step.id", id);
	if (*step->name != '\0')
		lens_attributes_string(attributes, "slurm.step.name", step->name);
	if (*step->node != '\0')
		lens_attributes_string(attributes, "slurm.node.name", step->node);
}

static void batch_emit(struct lens_emit *emit, const struct lens_job_step *step)
{
	char place[PLACE];
	struct lens_span *span;

	snprintf(place, sizeof(place), "%" PRIu32, step->job);
	span = lens_emit_span(emit, "slurm.batch", place);
	lens_emit_parent(emit, span, "slurm.job", place);
	step_attributes(span, step);
	if (step->task_count == 0) {
		lens_span_set_window(span, step->start_ns, step->end_ns);
		if (!step->closed)
			lens_attributes_bool(lens_span_attributes(span), "nemo.span.truncated",
					     true);
		return;
	}
	lens_span_set_window(span, step->tasks[0].start_ns, step->tasks[0].end_ns);
	lens_attributes_int(lens_span_attributes(span), "process.pid", step->tasks[0].pid);
	status_set(span, &step->tasks[0]);
}

/* The failing task of the lowest rank, or NULL: it says what kind of failure the step's is. */
static const struct lens_job_task *first_failed(const struct lens_job_step *step)
{
	const struct lens_job_task *found = NULL;

	for (size_t i = 0; i < step->task_count; i++) {
		const struct lens_job_task *task = &step->tasks[i];

		if (lens_job_task_failed(task) && (found == NULL || task->rank < found->rank))
			found = task;
	}
	return found;
}

/* What the failures that this node saw make of the step. */
static void step_error(struct lens_span *span, const struct lens_job_step *step)
{
	const struct lens_job_task *failed = first_failed(step);
	char type[LENS_ERROR_TYPE], text[LENS_ERROR_TYPE], message[64];
	struct lens_wait_status status;

	if (failed == NULL)
		return;
	status = lens_wait_status_decode(failed->status);
	lens_wait_status_type(type, &status);
	lens_wait_status_text(text, &status);
	lens_attributes_string(lens_span_attributes(span), "slurm.exit_code", text);
	snprintf(message, sizeof(message), "%zu failed, first rank %" PRIu32 ": %s", step->failed,
		 failed->rank, type);
	lens_emit_error(span, type, message);
}

/* The window, how many tasks and what became of them; TASKS is how many there are. */
static void step_fill(struct lens_span *span, const struct lens_job_step *step, uint64_t tasks)
{
	struct lens_attributes *attributes = lens_span_attributes(span);

	lens_span_set_window(span, step->start_ns, step->end_ns);
	step_attributes(span, step);
	lens_attributes_int(attributes, "slurm.step.tasks", (int64_t)tasks);
	lens_attributes_int(attributes, "slurm.step.tasks_failed", (int64_t)step->failed);
	if (!step->closed)
		lens_attributes_bool(attributes, "nemo.span.truncated", true);
	step_error(span, step);
}

static void step_emit(struct lens_emit *emit, const struct lens_job_step *step, const char *id)
{
	struct lens_span *span = lens_emit_span(emit, "slurm.step", id);

	parent_set(emit, span, step);
	step_fill(span, step, step->task_total != 0 ? step->task_total : step->task_count);
}

/* The step on another node than its first, where there is something to see. */
static void node_emit(struct lens_emit *emit, const struct lens_job_step *step, const char *id)
{
	bool seen = step->failed > 0;
	struct lens_span *span;
	char place[PLACE];

	for (size_t i = 0; !seen && i < step->task_count; i++)
		seen = step->tasks[i].exports;
	if (!seen)
		return;
	snprintf(place, sizeof(place), "%s/%s", id, step->node);
	span = lens_emit_span(emit, "slurm.step.node", place);
	lens_emit_parent(emit, span, "slurm.step", id);
	step_fill(span, step, step->task_count);
}

static void task_emit(struct lens_emit *emit, const struct lens_job_step *step,
		      const struct lens_job_task *task, const char *id,
		      const struct lens_span_id *parent)
{
	struct lens_attributes *attributes;
	struct lens_span *span;
	char place[PLACE];

	snprintf(place, sizeof(place), "%s/%" PRIu32, id, task->rank);
	span = lens_emit_span(emit, "slurm.task", place);
	if (span == NULL)
		return;
	attributes = lens_span_attributes(span);
	lens_span_set_parent(span, parent);
	lens_span_set_window(span, task->start_ns, task->end_ns);
	step_attributes(span, step);
	lens_attributes_int(attributes, "slurm.procid", task->rank);
	lens_attributes_int(attributes, "slurm.localid", task->local);
	if (task->ranks) {
		lens_attributes_int(attributes, "nv.dl.rank", task->rank);
		lens_attributes_int(attributes, "nv.dl.local_rank", task->local);
	}
	if (task->pid != 0)
		lens_attributes_int(attributes, "process.pid", task->pid);
	status_set(span, task);
}

/* Tasks that export, and failing ones up to the limit. */
static void tasks_emit(struct lens_emit *emit, const struct lens_job_step *step, const char *id)
{
	struct lens_span_id parent;
	size_t failing = 0;

	if (lens_span_id_derive(&parent, &emit->own, "slurm.step", id) == -1) {
		emit->failed = true;
		return;
	}
	for (size_t i = 0; i < step->task_count; i++) {
		const struct lens_job_task *task = &step->tasks[i];
		bool failed = lens_job_task_failed(task);

		if (task->exports || (failed && failing < LENS_FAILING_SPANS))
			task_emit(emit, step, task, id, &parent);
		failing += failed;
	}
}

int lens_step_spans_add(struct lens_batch *batch, const struct lens_job_site *site,
			const struct lens_job_step *step, size_t first, size_t limit)
{
	struct lens_emit emit = { .first = first, .limit = limit };
	char id[LENS_STEP_TEXT];

	if (emit_init(&emit, batch, site, step) == -1)
		return -1;
	lens_step_text(id, step->step);
	if (strcmp(step->kind, "batch") == 0) {
		batch_emit(&emit, step);
	} else if (step->step == LENS_STEP_INTERACTIVE) {
		/* A shell is no rank: the step's span says all there is. */
		step_emit(&emit, step, id);
	} else {
		if (step->first_node)
			step_emit(&emit, step, id);
		else
			node_emit(&emit, step, id);
		tasks_emit(&emit, step, id);
	}
	return emit.failed || lens_batch_failed(batch) ? -1 : (int)emit.added;
}
