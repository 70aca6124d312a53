/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/spans.h"

#include "lib/core/traceparent.h"
#include "lib/job/emit.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NS    1000000000LL
#define PLACE 16 /* a job id */

/* When the attempt was what, in nanoseconds: submit <= eligible <= start <= end. */
struct times {
	int64_t submit, eligible, start, end;
};

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
	if (value > high)
		value = high;
	return value < low ? low : value;
}

/*
 * slurmctld's times where it knows this attempt, else the note's. Its whole seconds are
 * cut off, so that a child that this node saw may lie outside: the windows of the journals
 * widen the job, and only them, never the phases before it.
 */
static void times_find(struct times *out, const struct lens_job_attempt *attempt)
{
	const struct lens_job_answer *started = lens_job_attempt_started(attempt);
	const struct lens_job_answer *ended = lens_job_attempt_ended(attempt);

	out->start = started != NULL ? started->start * NS : attempt->begin_ns;
	if (started == NULL && attempt->windowed && attempt->from_ns < out->start)
		out->start = attempt->from_ns;
	out->submit = started != NULL && started->submit > 0 ? started->submit * NS : out->start;
	out->eligible =
		started != NULL && started->eligible > 0 ? started->eligible * NS : out->submit;
	out->submit = clamp(out->submit, 0, out->start);
	out->eligible = clamp(out->eligible, out->submit, out->start);
	out->end = ended != NULL && ended->end > 0 ? ended->end * NS : attempt->last_ns;
	if (attempt->windowed && attempt->to_ns > out->end)
		out->end = attempt->to_ns;
	out->end = clamp(out->end, out->start, INT64_MAX);
}

static int emit_init(struct lens_emit *emit, struct lens_batch *batch,
		     const struct lens_job_site *site, const struct lens_job_attempt *attempt,
		     const char *resource)
{
	const struct lens_note *note = &attempt->note;
	struct lens_traceparent outer;

	emit->source = attempt->accounting != NULL ? "sacct" : NULL;
	emit->attempt = note->attempt;
	emit->factual = !attempt->inferred && lens_job_attempt_started(attempt) != NULL;
	emit->group = lens_batch_add_group(batch);
	if (lens_trace_id_derive(&emit->own, site->realm, note->cluster, note->leader,
				 note->attempt) == -1)
		return -1;
	emit->wire = note->in_outer && lens_traceparent_parse(&outer, note->outer) == 0
			     ? outer.trace
			     : emit->own;
	return lens_resource_fill_attempt(lens_group_resource(emit->group), site, attempt,
					  resource);
}

/* A link to the root of the attempt before, in that attempt's trace; all attempts of a job in
 * an outer trace are in that one. */
static void previous_link(struct lens_emit *emit, struct lens_span *span,
			  const struct lens_job_site *site, const struct lens_note *note)
{
	bool outer = memcmp(&emit->wire, &emit->own, sizeof(emit->own)) != 0;
	struct lens_trace_id trace;
	struct lens_span_id root;

	if (note->attempt == 0)
		return;
	if (lens_trace_id_derive(&trace, site->realm, note->cluster, note->leader,
				 note->attempt - 1) == -1 ||
	    lens_span_id_derive(&root, &trace, "slurm.job_attempt", "") == -1) {
		emit->failed = true;
		return;
	}
	lens_span_add_link(span, outer ? &emit->wire : &trace, &root);
}

/* The submitter's span is the root's parent, or just a link of it. */
static void outer_set(struct lens_span *root, const struct lens_note *note)
{
	struct lens_traceparent outer;

	if (lens_traceparent_parse(&outer, note->outer) == -1)
		return;
	if (note->in_outer)
		lens_span_set_parent(root, &outer.span);
	else
		lens_span_add_link(root, &outer.trace, &outer.span);
}

static struct lens_span *phase_emit(struct lens_emit *emit, const struct lens_note *note,
				    const char *name, const char *place, int64_t from, int64_t to)
{
	struct lens_span *span = lens_emit_span(emit, name, place);

	lens_emit_parent(emit, span, "slurm.job_attempt", "");
	lens_span_set_window(span, from, to);
	if (*note->node != '\0')
		lens_attributes_string(lens_span_attributes(span), "slurm.node.name", note->node);
	return span;
}

int lens_start_spans_add(struct lens_batch *batch, const struct lens_job_site *site,
			 const struct lens_job_attempt *attempt, size_t first, size_t limit)
{
	const struct lens_job_answer *started = lens_job_attempt_started(attempt);
	const struct lens_note *note = &attempt->note;
	struct lens_emit emit = { .first = first, .limit = limit };
	struct lens_span *span;
	struct times times;

	if (note->job != note->leader)
		return 0;
	if (emit_init(&emit, batch, site, attempt,
		      attempt->start_asked ? attempt->start_resource : attempt->resource) == -1)
		return -1;
	times_find(&times, attempt);
	/* The next tick of a scrontab entry is no restart. */
	if (note->attempt > 0 && !(started != NULL && started->cron)) {
		span = phase_emit(&emit, note, "slurm.inter_attempt_gap", "", times.submit,
				  times.start);
		previous_link(&emit, span, site, note);
	}
	if (times.eligible > times.submit)
		phase_emit(&emit, note, "slurm.phase.deferred", "", times.submit, times.eligible);
	phase_emit(&emit, note, "slurm.phase.queued", "", times.eligible, times.start);
	phase_emit(&emit, note, "slurm.job_start", "", times.start, times.start);
	return emit.failed || lens_batch_failed(batch) ? -1 : (int)emit.added;
}

/* `OUT_OF_MEMORY` as `out_of_memory`. */
static void state_error(struct lens_span *span, const char *state, const char *reason)
{
	char type[64];
	size_t i;

	for (i = 0; i < sizeof(type) - 1 && state[i] != '\0'; i++)
		type[i] = (char)tolower((unsigned char)state[i]);
	type[i] = '\0';
	lens_emit_error(span, type, reason != NULL ? reason : state);
}

static void outcome_set(struct lens_span *span, const struct lens_job_attempt *attempt)
{
	const struct lens_job_answer *ended = lens_job_attempt_ended(attempt);
	const struct lens_job_accounting *accounting = attempt->accounting;
	struct lens_attributes *attributes = lens_span_attributes(span);

	if (ended == NULL) {
		/* A scrontab entry goes back to the queue after every tick, however it went. */
		if (lens_job_attempt_requeued(attempt) && !attempt->end.cron)
			lens_attributes_string(attributes, "slurm.state", "REQUEUED");
		return;
	}
	if (ended->state != NULL)
		lens_attributes_string(attributes, "slurm.state", ended->state);
	if (ended->reason != NULL)
		lens_attributes_string(attributes, "slurm.reason", ended->reason);
	if (ended->exit_code != NULL)
		lens_attributes_string(attributes, "slurm.exit_code", ended->exit_code);
	if (ended->suspended > 0)
		lens_attributes_int(attributes, "slurm.suspended_seconds", ended->suspended);
	if (accounting != NULL && accounting->cancelled_by != NULL)
		lens_attributes_string(attributes, "slurm.cancelled_by", accounting->cancelled_by);
	if (accounting != NULL && accounting->again)
		return;
	if (ended->state != NULL && strcmp(ended->state, "COMPLETED") != 0)
		state_error(span, ended->state, ended->reason);
}

static bool is_truncated(const struct lens_job_attempt *attempt)
{
	return lens_job_attempt_ended(attempt) == NULL && !attempt->over && !attempt->extern_over;
}

static void job_attributes(struct lens_span *span, const struct lens_job_attempt *attempt)
{
	const struct lens_job_answer *ended = lens_job_attempt_ended(attempt);
	const struct lens_job_answer *started = lens_job_attempt_started(attempt);
	struct lens_attributes *attributes = lens_span_attributes(span);
	const char *nodelist = attempt->nodelist;
	uint32_t nodes = attempt->nodes;

	if (*attempt->note.node != '\0')
		lens_attributes_string(attributes, "slurm.node.name", attempt->note.node);
	if (ended != NULL && ended->nodelist != NULL)
		nodelist = ended->nodelist;
	if (nodelist == NULL && started != NULL)
		nodelist = started->nodelist;
	if (nodelist != NULL)
		lens_attributes_string(attributes, "slurm.nodelist", nodelist);
	/* Shrunk or grown: what it had at its end. */
	if (ended != NULL && ended->nodes != 0)
		nodes = ended->nodes;
	if (nodes != 0)
		lens_attributes_int(attributes, "slurm.nnodes", nodes);
	/* Nobody told of its end here: that is the last time known. */
	if (is_truncated(attempt))
		lens_attributes_bool(attributes, "nemo.span.truncated", true);
	outcome_set(span, attempt);
}

static void root_emit(struct lens_emit *emit, const struct lens_job_site *site,
		      const struct lens_job_attempt *attempt, const struct times *times)
{
	struct lens_span *span = lens_emit_span(emit, "slurm.job_attempt", "");

	lens_span_set_window(span, times->submit, times->end);
	previous_link(emit, span, site, &attempt->note);
	outer_set(span, &attempt->note);
	job_attributes(span, attempt);
	if (attempt->first_submit > 0)
		lens_attributes_int(lens_span_attributes(span), "slurm.first_submit",
				    attempt->first_submit);
}

/* What lies in the job before and after all that this node saw run; nothing ran: neither. */
static void edges_emit(struct lens_emit *emit, const struct lens_job_attempt *attempt,
		       const struct times *times, const char *place)
{
	struct lens_span *span;
	int64_t first;

	if (!attempt->windowed)
		return;
	first = attempt->stepped ? attempt->step_ns : attempt->from_ns;
	span = phase_emit(emit, &attempt->note, "slurm.job_setup", place, times->start,
			  clamp(first, times->start, times->end));
	lens_emit_parent(emit, span, "slurm.job", place);
	if (is_truncated(attempt))
		return; /* when the teardown ended is not known */
	span = phase_emit(emit, &attempt->note, "slurm.job_teardown", place,
			  clamp(attempt->to_ns, times->start, times->end), times->end);
	lens_emit_parent(emit, span, "slurm.job", place);
}

int lens_queue_spans_add(struct lens_batch *batch, const struct lens_job_site *site,
			 const struct lens_job_attempt *attempt)
{
	const struct lens_job_answer *ended = &attempt->end;
	struct lens_emit emit = { .limit = SIZE_MAX };
	struct times times = { .submit = ended->submit * NS };

	if (attempt->note.job != attempt->note.leader)
		return 0;
	if (emit_init(&emit, batch, site, attempt, NULL) == -1)
		return -1;
	emit.factual = !attempt->inferred;
	times.end = clamp(ended->end * NS, times.submit, INT64_MAX);
	times.eligible = ended->eligible > 0 ? ended->eligible * NS : times.end;
	times.eligible = clamp(times.eligible, times.submit, times.end);
	root_emit(&emit, site, attempt, &times);
	if (times.eligible > times.submit)
		phase_emit(&emit, &attempt->note, "slurm.phase.deferred", "", times.submit,
			   times.eligible);
	phase_emit(&emit, &attempt->note, "slurm.phase.queued", "", times.eligible, times.end);
	return emit.failed || lens_batch_failed(batch) ? -1 : (int)emit.added;
}

int lens_job_spans_add(struct lens_batch *batch, const struct lens_job_site *site,
		       const struct lens_job_attempt *attempt, size_t first, size_t limit)
{
	const struct lens_note *note = &attempt->note;
	struct lens_emit emit = { .first = first, .limit = limit };
	struct lens_span *span;
	struct times times;
	char place[PLACE];

	if (emit_init(&emit, batch, site, attempt, attempt->resource) == -1)
		return -1;
	emit.factual = emit.factual && (lens_job_attempt_ended(attempt) != NULL ||
					lens_job_attempt_requeued(attempt));
	times_find(&times, attempt);
	if (attempt->windowed && attempt->from_ns < times.start)
		times.start = attempt->from_ns;
	if (times.submit > times.start)
		times.submit = times.start;
	if (note->job == note->leader)
		root_emit(&emit, site, attempt, &times);
	snprintf(place, sizeof(place), "%" PRIu32, note->job);
	span = lens_emit_span(&emit, "slurm.job", place);
	lens_emit_parent(&emit, span, "slurm.job_attempt", "");
	lens_span_set_window(span, times.start, times.end);
	job_attributes(span, attempt);
	if (attempt->accounting != NULL)
		lens_attributes_int(lens_span_attributes(span), "slurm.step_count",
				    attempt->accounting->steps);
	edges_emit(&emit, attempt, &times, place);
	return emit.failed || lens_batch_failed(batch) ? -1 : (int)emit.added;
}
