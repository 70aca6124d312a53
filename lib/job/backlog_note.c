/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/backlog_note.h"

#include "lib/core/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first step's process begins its journal a moment after the prolog, a busy node's later; what it
 * says of the job is waited for so long. */
#define FIRST_STEP_MS 5000

/* (Re)reads the records. 0, or -1 with errno: EBADMSG for no note in them. */
static int note_read(struct backlog_note *note)
{
	lens_job_attempt_clear(&note->attempt);
	lens_records_destroy(note->records);
	note->records = lens_records_read(note->fd);
	if (note->records == NULL)
		return -1;
	return lens_job_attempt_read(&note->attempt, note->records);
}

static int note_open(struct lens_backlog *backlog, const struct lens_state_name *name,
		     struct backlog_note *note)
{
	memset(note, 0, sizeof(*note));
	note->name = name;
	note->fd = backlog_open(backlog, name, O_RDONLY);
	return note->fd == -1 ? -1 : 0;
}

static void note_close(struct backlog_note *note)
{
	lens_job_attempt_clear(&note->attempt);
	lens_records_destroy(note->records);
	close(note->fd);
}

const struct backlog_live *backlog_note_live(const struct lens_backlog *backlog,
					     const struct backlog_note *note)
{
	return backlog_live_of(backlog, note->name, note->attempt.note.attempt, false);
}

static bool has_batch_window(const struct lens_records *records)
{
	for (size_t i = 0; i < lens_records_count(records); i++) {
		const struct lens_carrier *record = lens_records_at(records, i);

		if (strcmp(lens_record_event(record), "window") == 0 &&
		    lens_record_number(record, "step", 0) == LENS_STEP_BATCH)
			return true;
	}
	return false;
}

bool backlog_is_first(const struct lens_backlog *backlog, const struct lens_state_name *name,
		      const struct lens_job_attempt *attempt, const struct lens_records *records)
{
	if (attempt->nodelist != NULL)
		return attempt->epilog_first;
	return attempt->epilog_first || attempt->note.first || has_batch_window(records) ||
	       backlog_live_of(backlog, name, attempt->note.attempt, true) != NULL;
}

bool backlog_note_is_first(const struct lens_backlog *backlog, const struct backlog_note *note)
{
	return backlog_is_first(backlog, note->name, &note->attempt, note->records);
}

/* What is known of the attempt before, whose note may still lie here; a tick of a scrontab entry is
 * no requeue. */
static int first_submit_set(struct lens_backlog *backlog, const struct backlog_note *note,
			    const struct lens_job_answer *answer, struct lens_carrier *record)
{
	uint32_t attempt = note->attempt.note.attempt;
	struct lens_state_name name = { .kind = LENS_STATE_ENDED,
					.job = note->name->job,
					.node = note->name->node,
					.attempt = attempt - 1 };
	struct backlog_note before;
	int64_t first;

	if (attempt == 0 || answer->cron || note->attempt.first_submit != 0)
		return 0;
	first = lens_memory_first_submit(backlog->memory, note->name->job, attempt);
	if (first == 0 && note_open(backlog, &name, &before) == 0) {
		if (note_read(&before) == 0)
			first = lens_job_attempt_first_submit(&before.attempt);
		note_close(&before);
	}
	return first == 0 ? 0 : lens_carrier_set_number(record, "first_submit", first);
}

int backlog_note_answer(struct lens_backlog *backlog, struct backlog_note *note, const char *when,
			const struct lens_job_answer *answer)
{
	const struct backlog_live *live = backlog_note_live(backlog, note);
	struct lens_carrier *record = lens_record_create("answer");
	/* The start keeps what is known of it now, also where a step that is over told it. */
	const char *told = strcmp(when, "start") == 0 ? note->attempt.resource : NULL;
	char *resource = NULL;
	int rc = -1;

	if (note->attempt.resource == NULL && live != NULL && live->known)
		resource = backlog_journal_resource(backlog, &live->name);
	if (record != NULL && lens_carrier_set(record, "when", when) == 0 &&
	    lens_job_answer_write(answer, record) == 0 &&
	    first_submit_set(backlog, note, answer, record) == 0 &&
	    lens_carrier_set(record, "resource", resource != NULL ? resource : told) == 0)
		rc = backlog_record_append(backlog, note->name, note->fd, note->records, record);
	free(resource);
	lens_carrier_destroy(record);
	return rc;
}

/* Has slurmctld's word on WHEN in the note. True when it is there. */
static bool answer_have(struct lens_backlog *backlog, struct backlog_note *note, bool end)
{
	struct lens_job_answer answer;
	int rc;

	if (end ? note->attempt.end_asked : note->attempt.start_asked)
		return true;
	lens_job_answer_init(&answer);
	if (backlog_ask(backlog, note->name, note->attempt.note.attempt, end, &answer) ==
	    BACKLOG_WAIT)
		return false;
	rc = backlog_note_answer(backlog, note, end ? "end" : "start", &answer);
	lens_job_answer_clear(&answer);
	if (rc == -1 || note_read(note) == -1) {
		backlog_ask_fault(backlog, note->name, note->attempt.note.attempt, end);
		return false;
	}
	return true;
}

static struct backlog_key start_key(const struct backlog_note *note)
{
	return (struct backlog_key){ .what = BACKLOG_START,
				     .name = { .kind = LENS_STATE_NOTE,
					       .job = note->name->job,
					       .node = note->name->node },
				     .attempt = note->attempt.note.attempt };
}

/* A record that is lost costs a resend of the same spans. */
static void start_sent_append(struct lens_backlog *backlog, struct backlog_note *note,
			      const struct backlog_key *key)
{
	struct lens_carrier *record = lens_record_create("sent");

	if (record != NULL && lens_carrier_set(record, "what", "start") == 0 &&
	    backlog_record_append(backlog, note->name, note->fd, note->records, record) == 0) {
		backlog_sent_forget(backlog, key);
		note->attempt.start_sent = true;
	}
	lens_carrier_destroy(record);
}

static bool start_send(struct lens_backlog *backlog, struct backlog_note *note)
{
	struct backlog_key key = start_key(note);

	if (note->attempt.start_sent)
		return true;
	if (!backlog_send(backlog, backlog_start_fill, &note->attempt, &key))
		return false;
	start_sent_append(backlog, note, &key);
	return true;
}

/* The epilog may have renamed the note while its start was under way: that it was acknowledged
 * is noted now, and not only when slurmctld has told the end. */
static void start_settle(struct lens_backlog *backlog, struct backlog_note *note)
{
	struct backlog_key key = start_key(note);

	if (!note->attempt.start_sent && backlog_sent_whole(backlog, &key))
		start_sent_append(backlog, note, &key);
}

static bool end_send(struct lens_backlog *backlog, struct backlog_note *note)
{
	struct backlog_key key = { .what = BACKLOG_JOB,
				   .name = *note->name,
				   .attempt = note->attempt.note.attempt };
	bool started = start_send(backlog, note); /* both may go in one request */

	return backlog_send(backlog, backlog_job_fill, &note->attempt, &key) && started;
}

/* Whether nobody here is to tell of the attempt, for the reason that is logged. */
static bool is_told_elsewhere(struct lens_backlog *backlog, const struct backlog_note *note)
{
	const struct lens_job_attempt *attempt = &note->attempt;
	const char *why = NULL;

	if (lens_job_attempt_released(attempt))
		why = "goes on without this node";
	else if (lens_job_attempt_elsewhere(attempt))
		why = "ended without this node";
	else if (attempt->inferred && lens_memory_done_has(backlog->memory, attempt))
		why = "had its epilog a second time";
	if (why != NULL)
		backlog_log(backlog, "job %" PRIu32 " %s", note->name->job, why);
	return why != NULL;
}

static void settled(struct lens_backlog *backlog, const struct backlog_note *note)
{
	char text[LENS_STATE_NAME];

	lens_memory_done_add(backlog->memory, &note->attempt);
	lens_state_name_format(text, note->name);
	if (lens_records_skipped(note->records) > 0)
		backlog_log(backlog, "note %s: %zu lines were cut or foreign", text,
			    lens_records_skipped(note->records));
	backlog_unlink(backlog, note->name);
}

static void end_visit(struct lens_backlog *backlog, struct backlog_note *note)
{
	bool live = backlog_note_live(backlog, note) != NULL;

	if (!backlog_note_is_first(backlog, note)) {
		/* An adopted one would be adopted again as long as a journal is there. */
		if (!live || !note->attempt.note.journal)
			backlog_unlink(backlog, note->name);
		return;
	}
	start_settle(backlog, note);
	if (live || !answer_have(backlog, note, true))
		return;
	if (is_told_elsewhere(backlog, note))
		backlog_unlink(backlog, note->name);
	else if (end_send(backlog, note))
		settled(backlog, note);
}

/* Milliseconds since the attempt began here; huge when the clock was set back. */
static uint64_t age_ms(const struct lens_job_attempt *attempt)
{
	return (uint64_t)(lens_clock_ns(CLOCK_REALTIME) / 1000000 - attempt->begin_ns / 1000000);
}

/* Whether a journal may yet tell the job's resource: once the start is sent it keeps the one it has. */
static bool resource_awaited(struct lens_backlog *backlog, const struct backlog_note *note)
{
	const struct backlog_live *live = backlog_note_live(backlog, note);
	uint64_t age = age_ms(&note->attempt);

	if (note->attempt.start_asked || note->attempt.resource != NULL ||
	    (live != NULL && live->known) || age >= FIRST_STEP_MS)
		return false;
	backlog_due(backlog, backlog_now(backlog) + (int64_t)(FIRST_STEP_MS - age));
	return true;
}

static void start_visit(struct lens_backlog *backlog, struct backlog_note *note)
{
	if (note->attempt.note.lens && !note->attempt.start_sent &&
	    backlog_note_is_first(backlog, note) && !resource_awaited(backlog, note) &&
	    answer_have(backlog, note, false) && lens_job_attempt_started(&note->attempt) != NULL)
		start_send(backlog, note);
}

void backlog_note_visit(struct lens_backlog *backlog, const struct lens_state_name *name)
{
	struct backlog_note note;

	if (note_open(backlog, name, &note) == -1)
		return;
	if (note_read(&note) == 0) {
		start_visit(backlog, &note);
		backlog_untold_visit(backlog, &note);
	} else {
		backlog_fault(backlog, errno);
	}
	note_close(&note);
}

void backlog_ended_visit(struct lens_backlog *backlog, const struct lens_state_name *name)
{
	struct backlog_note note;
	char text[LENS_STATE_NAME];

	if (note_open(backlog, name, &note) == -1)
		return;
	if (note_read(&note) == 0) {
		end_visit(backlog, &note);
	} else if (errno != EBADMSG) {
		backlog_fault(backlog, errno);
	} else if (!backlog_young(backlog, note.fd)) {
		lens_state_name_format(text, name);
		backlog_log(backlog, "note %s holds nothing that can be read: removed", text);
		backlog_unlink(backlog, name);
	}
	note_close(&note);
}
