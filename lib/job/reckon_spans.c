/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/reckon.h"

#include "lib/core/nodelist.h"
#include "lib/core/step_id.h"
#include "lib/job/emit.h"
#include "lib/job/spans.h"
#include "lib/job/wait_status.h"

#include <ctype.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS    1000000000LL
#define PLACE 48 /* a job id, `/`, a number */

/* An attempt as the span code of the agent has it; its texts are the accounting's, but NODE. */
struct view {
	struct lens_job_attempt attempt;
	struct lens_job_accounting accounting;
	char *node; /* the first; NULL none */
};

static char *nonempty(char *text)
{
	return *text != '\0' ? text : NULL;
}

/* What the first node saw run: by it set-up and teardown are measured, as the agent there does. */
static void window_fill(struct view *view, const struct lens_reckon_attempt *attempt)
{
	struct lens_job_attempt *out = &view->attempt;

	for (size_t i = 0; i < attempt->step_count; i++) {
		const struct lens_reckon_step *step = &attempt->steps[i];
		int64_t from = step->record->start * NS,
			to = lens_reckon_step_end(attempt, step) * NS;

		if (!lens_reckon_is_shell(step))
			view->accounting.steps++;
		if (view->node == NULL || !lens_nodelist_has(step->record->nodelist, view->node))
			continue;
		if (!out->windowed || from < out->from_ns)
			out->from_ns = from;
		if (!out->windowed || to > out->to_ns)
			out->to_ns = to;
		out->windowed = true;
		if (lens_reckon_is_shell(step))
			continue;
		if (!out->stepped || from < out->step_ns)
			out->step_ns = from;
		out->stepped = true;
	}
}

static void answer_fill(struct lens_job_answer *out, const struct lens_reckon_attempt *attempt)
{
	const struct lens_account_record *first = attempt->first, *last = attempt->last;
	bool success = strcmp(last->exit_code, "0:0") == 0;

	lens_job_answer_init(out);
	out->found = true;
	out->job = last->job;
	out->attempt = attempt->attempt;
	out->state = last->state;
	/* A cancelled job has 0:0 here, a requeued one no exit code at all. */
	if (!attempt->again && (!success || strcmp(last->state, "COMPLETED") == 0))
		out->exit_code = nonempty(last->exit_code);
	out->submit = first->submit;
	out->eligible = first->eligible;
	out->start = first->start;
	out->end = last->end;
	out->suspended = last->suspended;
	out->name = nonempty(last->name);
	out->user = nonempty(last->user);
	out->partition = nonempty(last->partition);
	out->account = nonempty(last->account);
	out->qos = nonempty(last->qos);
	out->reservation = nonempty(last->reservation);
	out->nodelist = nonempty(last->nodelist);
	out->nodes = last->nodes;
	out->array_job = last->array_job;
	out->array_task = last->array_task;
	out->het_leader = last->het ? last->leader : 0;
	out->het_offset = last->offset;
}

/* The caller frees view->node alone. */
static void view_fill(struct view *view, const struct lens_reckon_attempt *attempt)
{
	static char nothing[] = "";
	const struct lens_account_record *last = attempt->last;
	struct lens_job_attempt *out = &view->attempt;

	memset(view, 0, sizeof(*view));
	view->node = lens_nodelist_first(attempt->first->nodelist);
	view->accounting.again = attempt->again || strcmp(last->state, "REQUEUED") == 0;
	view->accounting.cancelled_by = nonempty(last->cancelled_by);
	out->accounting = &view->accounting;
	out->note = (struct lens_note){
		.job = last->job,
		.leader = last->leader,
		.attempt = attempt->attempt,
		.cluster = last->cluster,
		.node = view->node != NULL ? view->node : nothing,
		.sluid = attempt->first->sluid,
		.outer = nothing,
	};
	out->inferred = attempt->number != LENS_RECKON_TOLD;
	answer_fill(&out->start, attempt);
	lens_job_answer_init(&out->end);
	if (lens_reckon_ended(attempt)) {
		answer_fill(&out->end, attempt);
		out->over = true;
	}
	out->first_submit = attempt->first_submit;
}

static int job_spans_add(struct lens_batch *batch, const struct lens_job_site *site,
			 const struct lens_reckon_attempt *attempt, struct view *view)
{
	int started, ended;

	if (!lens_reckon_started(attempt)) {
		if (!lens_reckon_ended(attempt))
			return 0;
		/* Only here it says something of the end: for what the job had waited. */
		view->attempt.end.reason = nonempty(attempt->last->reason);
		return lens_queue_spans_add(batch, site, &view->attempt);
	}
	started = lens_start_spans_add(batch, site, &view->attempt, 0, SIZE_MAX);
	if (started == -1 || !lens_reckon_ended(attempt))
		return started;
	ended = lens_job_spans_add(batch, site, &view->attempt, 0, SIZE_MAX);
	return ended == -1 ? -1 : started + ended;
}

int lens_reckon_job_spans_add(struct lens_batch *batch, const struct lens_job_site *site,
			      const struct lens_reckon_attempt *attempt)
{
	struct view view;
	int rc;

	view_fill(&view, attempt);
	window_fill(&view, attempt);
	rc = job_spans_add(batch, site, attempt, &view);
	free(view.node);
	return rc;
}

/* `3:0` as the wait status that it came from. -1: there is none. */
static int status_read(struct lens_wait_status *out, const char *text)
{
	int code, by;

	/* 0:125 is Slurm's word for out of memory, no signal. */
	if (sscanf(text, "%3d:%3d", &code, &by) != 2 || code < 0 || by < 0 || by > SIGRTMAX)
		return -1;
	*out = (struct lens_wait_status){ .exit_code = by != 0 ? -1 : code, .signal = by };
	return 0;
}

/* ERROR, in the agent's words where accounting has the exit code, else by the state. */
static void failure_set(struct lens_span *span, const struct lens_wait_status *status,
			const char *state)
{
	char type[LENS_ERROR_TYPE] = "", message[64];
	size_t i;

	if (strcmp(state, "COMPLETED") == 0)
		return;
	if (status != NULL)
		lens_wait_status_type(type, status);
	if (*type == '\0') {
		for (i = 0; i < sizeof(type) - 1 && state[i] != '\0'; i++)
			type[i] = (char)tolower((unsigned char)state[i]);
		type[i] = '\0';
		snprintf(message, sizeof(message), "%s", state);
	} else if (status->signal == 0) {
		snprintf(message, sizeof(message), "exit code %d", status->exit_code);
	} else {
		snprintf(message, sizeof(message), "ended by %s", type);
	}
	lens_emit_error(span, type, message);
}

static void outcome_set(struct lens_span *span, const struct lens_reckon_step *step)
{
	struct lens_attributes *attributes = lens_span_attributes(span);
	struct lens_wait_status status;
	bool known = status_read(&status, step->exit_code) == 0;

	lens_attributes_string(attributes, "slurm.state", step->state);
	if (known &&
	    (status.signal != 0 || status.exit_code != 0 || strcmp(step->state, "COMPLETED") == 0))
		lens_attributes_string(attributes, "slurm.exit_code", step->exit_code);
	else
		known = false;
	if (known && step->record->step == LENS_STEP_BATCH) {
		if (status.signal != 0)
			lens_attributes_int(attributes, "slurm.signal", status.signal);
		else
			lens_attributes_int(attributes, "process.exit.code", status.exit_code);
	}
	failure_set(span, known ? &status : NULL, step->state);
}

static void step_attributes(struct lens_span *span, const struct lens_reckon_step *step)
{
	const struct lens_account_record *record = step->record;
	struct lens_attributes *attributes = lens_span_attributes(span);
	char id[LENS_STEP_TEXT];
	char *node = lens_nodelist_first(record->nodelist);

	lens_step_text(id, record->step);
	lens_attributes_string(attributes, "slurm.step.id", id);
	lens_attributes_string(attributes, "slurm.step.name", record->name);
	lens_attributes_string(attributes, "slurm.step.role",
			       lens_reckon_is_shell(step) ? "infra" : "workload");
	if (node != NULL)
		lens_attributes_string(attributes, "slurm.node.name", node);
	if (*record->nodelist != '\0')
		lens_attributes_string(attributes, "slurm.nodelist", record->nodelist);
	if (record->suspended > 0)
		lens_attributes_int(attributes, "slurm.suspended_seconds", record->suspended);
	if (step->tasks > 0 && record->step != LENS_STEP_BATCH)
		lens_attributes_int(attributes, "slurm.step.tasks", step->tasks);
	free(node);
}

/* What is complete alone: a step that runs has no span yet. */
static void step_emit(struct lens_emit *emit, const struct lens_reckon_attempt *attempt,
		      const struct lens_reckon_step *step)
{
	bool batch = step->record->step == LENS_STEP_BATCH;
	int64_t end = lens_reckon_step_end(attempt, step);
	char job[PLACE], id[LENS_STEP_TEXT];
	struct lens_span *span;

	if (step->elsewhere || end == 0)
		return;
	snprintf(job, sizeof(job), "%" PRIu32, step->record->job);
	lens_step_text(id, step->record->step);
	span = lens_emit_span(emit, batch ? "slurm.batch" : "slurm.step", batch ? job : id);
	lens_emit_parent(emit, span, "slurm.job", job);
	lens_span_set_window(span, step->start * NS, end * NS);
	step_attributes(span, step);
	if (!lens_reckon_is_shell(step))
		lens_attributes_int(lens_span_attributes(span), "slurm.step_index", step->number);
	/* Its writer died: the job's end is the last time known. */
	if (step->end == 0)
		lens_attributes_bool(lens_span_attributes(span), "nemo.span.truncated", true);
	else
		outcome_set(span, step);
}

/* The time before STEP in which none ran. */
static void gap_emit(struct lens_emit *emit, const struct view *view,
		     const struct lens_reckon_step *step)
{
	struct lens_attributes *attributes;
	char place[PLACE], job[PLACE];
	struct lens_span *span;

	if (step->idle_since == 0)
		return;
	snprintf(job, sizeof(job), "%" PRIu32, view->attempt.note.job);
	snprintf(place, sizeof(place), "%" PRIu32 "/%" PRIu32, view->attempt.note.job, step->gap);
	span = lens_emit_span(emit, "slurm.inter_step_gap", place);
	attributes = lens_span_attributes(span);
	lens_emit_parent(emit, span, "slurm.job", job);
	lens_span_set_window(span, step->idle_since * NS, step->start * NS);
	lens_attributes_int(attributes, "slurm.step_gap_index", step->gap);
	if (view->node != NULL)
		lens_attributes_string(attributes, "slurm.node.name", view->node);
}

static int emit_init(struct lens_emit *emit, struct lens_batch *batch,
		     const struct lens_job_site *site, const struct view *view)
{
	const struct lens_note *note = &view->attempt.note;

	emit->source = "sacct";
	emit->attempt = note->attempt;
	emit->factual = !view->attempt.inferred;
	emit->group = lens_batch_add_group(batch);
	if (lens_trace_id_derive(&emit->own, site->realm, note->cluster, note->leader,
				 note->attempt) == -1)
		return -1;
	emit->wire = emit->own;
	return lens_resource_fill_attempt(lens_group_resource(emit->group), site, &view->attempt,
					  NULL);
}

int lens_reckon_step_spans_add(struct lens_batch *batch, const struct lens_job_site *site,
			       const struct lens_reckon_attempt *attempt, size_t first,
			       size_t count)
{
	struct lens_emit emit = { .limit = SIZE_MAX };
	struct view view;
	int rc;

	view_fill(&view, attempt);
	rc = emit_init(&emit, batch, site, &view);
	for (size_t i = first; rc == 0 && i < attempt->step_count && i - first < count; i++) {
		if (lens_reckon_ended(attempt))
			gap_emit(&emit, &view, &attempt->steps[i]);
		step_emit(&emit, attempt, &attempt->steps[i]);
	}
	free(view.node);
	return rc == -1 || emit.failed || lens_batch_failed(batch) ? -1 : (int)emit.added;
}
