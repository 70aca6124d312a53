/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/attempt.h"

#include "lib/core/nodelist.h"
#include "lib/core/number.h"
#include "lib/core/step_id.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The end by the epilog or, when there is none, by the exit of the extern step. */
static void end_read(struct lens_job_attempt *out, const struct lens_carrier *record, bool epilog)
{
	if (out->over)
		return; /* an epilog that runs twice tells nothing new */
	out->over = epilog;
	out->extern_over = !epilog;
	out->epilog_ns = lens_record_time(record);
	out->last_ns = out->epilog_ns;
	out->epilog_first = lens_record_flag(record, "first");
	out->epilog_attempt = out->note.attempt;
	lens_uint32_parse(lens_carrier_get(record, "attempt"), &out->epilog_attempt);
	out->nodelist = lens_carrier_get(record, "nodelist");
	lens_uint32_parse(lens_carrier_get(record, "nodes"), &out->nodes);
}

static int answer_read(struct lens_job_attempt *out, const struct lens_carrier *record)
{
	const char *when = lens_carrier_get(record, "when");
	bool end = when != NULL && strcmp(when, "end") == 0;
	struct lens_job_answer *answer = end ? &out->end : &out->start;

	if (end) {
		out->end_asked = true;
	} else {
		out->start_asked = true;
		out->start_resource = lens_carrier_get(record, "resource");
	}
	lens_int64_parse(lens_carrier_get(record, "first_submit"), &out->first_submit);
	lens_job_answer_clear(answer);
	return lens_job_answer_read(answer, record);
}

static void window_read(struct lens_job_attempt *out, const struct lens_carrier *record)
{
	int64_t from, to;

	if (lens_int64_parse(lens_carrier_get(record, "from"), &from) == -1 ||
	    lens_int64_parse(lens_carrier_get(record, "to"), &to) == -1)
		return;
	if (!out->windowed || from < out->from_ns)
		out->from_ns = from;
	if (!out->windowed || to > out->to_ns)
		out->to_ns = to;
	out->windowed = true;
	switch (lens_record_number(record, "step", LENS_STEP_BATCH)) {
	case LENS_STEP_BATCH:
	case LENS_STEP_INTERACTIVE:
		return; /* a shell that sets up */
	default:
		break;
	}
	if (!out->stepped || from < out->step_ns)
		out->step_ns = from;
	out->stepped = true;
}

static int record_read(struct lens_job_attempt *out, const struct lens_carrier *record)
{
	const char *event = lens_record_event(record);
	const char *resource = NULL;

	if (strcmp(event, "note") == 0) {
		out->inferred = lens_record_flag(record, "inferred");
		out->boot = lens_carrier_get(record, "boot");
		out->begin_ns = lens_record_time(record);
		out->last_ns = out->begin_ns;
	} else if (strcmp(event, "optin") == 0) {
		out->last_ns = lens_record_time(record);
	} else if (strcmp(event, "epilog") == 0) {
		end_read(out, record, true);
	} else if (strcmp(event, "extern") == 0) {
		end_read(out, record, false);
	} else if (strcmp(event, "answer") == 0) {
		resource = lens_carrier_get(record, "resource");
		if (answer_read(out, record) == -1)
			return -1;
	} else if (strcmp(event, "window") == 0) {
		resource = lens_carrier_get(record, "resource");
		window_read(out, record);
	} else if (strcmp(event, "sent") == 0) {
		out->start_sent = true;
	}
	/* The first one stays: all spans of an attempt name the same resource. */
	if (out->resource == NULL)
		out->resource = resource;
	return 0;
}

/*
 * The epilog alone told of this attempt, by Slurm's count at that time, which a requeue had
 * raised already: a job that waits for that very attempt has not ended it.
 */
static void attempt_correct(struct lens_job_attempt *out)
{
	if (out->inferred && out->note.attempt > 0 && out->end.found &&
	    out->end.attempt == out->note.attempt && lens_job_answer_pending(&out->end))
		out->note.attempt--;
}

int lens_job_attempt_read(struct lens_job_attempt *out, const struct lens_records *records)
{
	int saved;

	memset(out, 0, sizeof(*out));
	lens_job_answer_init(&out->start);
	lens_job_answer_init(&out->end);
	if (lens_note_parse(&out->note, records) == -1)
		goto fail;
	for (size_t i = 0; i < lens_records_count(records); i++) {
		if (record_read(out, lens_records_at(records, i)) == -1) {
			errno = ENOMEM;
			goto fail;
		}
	}
	attempt_correct(out);
	return 0;
fail:
	saved = errno;
	lens_job_attempt_clear(out);
	errno = saved;
	return -1;
}

void lens_job_attempt_clear(struct lens_job_attempt *attempt)
{
	lens_note_clear(&attempt->note);
	lens_job_answer_clear(&attempt->start);
	lens_job_answer_clear(&attempt->end);
}

static bool about(const struct lens_job_attempt *attempt, const struct lens_job_answer *answer)
{
	return answer->found && answer->attempt == attempt->note.attempt &&
	       !lens_job_answer_pending(answer);
}

const struct lens_job_answer *lens_job_attempt_started(const struct lens_job_attempt *attempt)
{
	if (about(attempt, &attempt->start) && attempt->start.start > 0)
		return &attempt->start;
	if (about(attempt, &attempt->end) && attempt->end.start > 0)
		return &attempt->end;
	return NULL;
}

const struct lens_job_answer *lens_job_attempt_ended(const struct lens_job_attempt *attempt)
{
	return about(attempt, &attempt->end) ? &attempt->end : NULL;
}

bool lens_job_attempt_requeued(const struct lens_job_attempt *attempt)
{
	const struct lens_job_answer *end = &attempt->end;

	if (end->found)
		return !about(attempt, end);
	return attempt->over && !attempt->inferred &&
	       attempt->epilog_attempt != attempt->note.attempt;
}

bool lens_job_attempt_released(const struct lens_job_attempt *attempt)
{
	return about(attempt, &attempt->end) && lens_job_answer_running(&attempt->end);
}

bool lens_job_attempt_elsewhere(const struct lens_job_attempt *attempt)
{
	const struct lens_job_answer *ended = lens_job_attempt_ended(attempt);
	char *first = ended != NULL ? lens_nodelist_first(ended->nodelist) : NULL;
	bool elsewhere = first != NULL && strcmp(first, attempt->note.node) != 0;

	free(first);
	return elsewhere;
}
