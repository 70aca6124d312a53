/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/backlog_parts.h"

#include "lib/core/record.h"
#include "lib/job/spans.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A note that is open: what is learned is appended to this very file, which the epilog may
 * rename meanwhile. */
struct open_note {
	const struct lens_state_name *name;
	int fd;
	struct lens_records *records;
	struct lens_job_attempt attempt;
};

static int start_fill(struct lens_batch *batch, const struct lens_job_site *site,
		      const void *subject, size_t first, size_t limit)
{
	return lens_start_spans_add(batch, site, subject, first, limit);
}

static int job_fill(struct lens_batch *batch, const struct lens_job_site *site, const void *subject,
		    size_t first, size_t limit)
{
	return lens_job_spans_add(batch, site, subject, first, limit);
}

/* (Re)reads the records. 0, or -1: no note in them, or no memory. */
static int note_read(struct open_note *note)
{
	lens_job_attempt_clear(&note->attempt);
	lens_records_destroy(note->records);
	note->records = lens_records_read(note->fd);
	if (note->records == NULL)
		return -1;
	return lens_job_attempt_read(&note->attempt, note->records);
}

static void note_close(struct open_note *note)
{
	lens_job_attempt_clear(&note->attempt);
	lens_records_destroy(note->records);
	close(note->fd);
}

/* A journal of the attempt that is still needed, or NULL. One that does not say yet which
 * attempt it belongs to counts as any's; for the batch script's it is too early then. */
static const struct backlog_live *live_of(const struct lens_backlog *backlog,
					  const struct open_note *note, bool batch)
{
	for (size_t i = 0; i < backlog->live_count; i++) {
		const struct backlog_live *live = &backlog->live[i];

		if (live->name.job == note->name->job && live->name.node == note->name->node &&
		    (live->known ? live->attempt == note->attempt.note.attempt : !batch) &&
		    (!batch || live->name.step == LENS_STEP_BATCH))
			return live;
	}
	return NULL;
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

/* Whether this node is the job's first: by the epilog's node list, else because the prolog knew
 * or the batch script runs here. */
static bool is_first(const struct lens_backlog *backlog, const struct open_note *note)
{
	if (note->attempt.nodelist != NULL)
		return note->attempt.epilog_first;
	return note->attempt.epilog_first || note->attempt.note.first ||
	       has_batch_window(note->records) || live_of(backlog, note, true) != NULL;
}

static int answer_append(struct lens_backlog *backlog, struct open_note *note, const char *when,
			 const struct lens_job_answer *answer)
{
	const struct backlog_live *live = live_of(backlog, note, false);
	struct lens_carrier *record = lens_record_create("answer");
	char *resource = NULL;
	int rc = -1;

	if (note->attempt.resource == NULL && live != NULL && live->known)
		resource = backlog_journal_resource(backlog, &live->name);
	if (record != NULL && lens_carrier_set(record, "when", when) == 0 &&
	    lens_job_answer_write(answer, record) == 0 &&
	    lens_carrier_set(record, "resource", resource) == 0)
		rc = backlog_record_append(backlog, note->fd, record);
	free(resource);
	lens_carrier_destroy(record);
	return rc;
}

/* Has slurmctld's word on WHEN in the note. True when it is there. */
static bool answer_have(struct lens_backlog *backlog, struct open_note *note, bool end)
{
	struct lens_job_answer answer;
	int rc;

	if (end ? note->attempt.end_asked : note->attempt.start_asked)
		return true;
	lens_job_answer_init(&answer);
	if (backlog_ask(backlog, note->name, note->attempt.note.attempt, end, &answer) ==
	    BACKLOG_WAIT)
		return false;
	rc = answer_append(backlog, note, end ? "end" : "start", &answer);
	lens_job_answer_clear(&answer);
	if (rc == -1 || note_read(note) == -1) {
		backlog_due(backlog, backlog_now(backlog) + 60 * 1000);
		return false;
	}
	return true;
}

static bool start_send(struct lens_backlog *backlog, struct open_note *note)
{
	struct lens_carrier *record;

	if (note->attempt.start_sent)
		return true;
	if (!backlog_send(backlog, start_fill, &note->attempt, note->attempt.note.job))
		return false;
	record = lens_record_create("sent");
	/* A record that is lost costs a resend of the same spans. */
	if (record != NULL && lens_carrier_set(record, "what", "start") == 0)
		backlog_record_append(backlog, note->fd, record);
	lens_carrier_destroy(record);
	return true;
}

static void end_visit(struct lens_backlog *backlog, struct open_note *note)
{
	if (!is_first(backlog, note)) {
		backlog_unlink(backlog, note->name);
		return;
	}
	if (live_of(backlog, note, false) != NULL || !answer_have(backlog, note, true))
		return;
	if (lens_job_attempt_released(&note->attempt)) {
		backlog_log(backlog, "job %" PRIu32 " goes on without this node", note->name->job);
		backlog_unlink(backlog, note->name);
		return;
	}
	if (start_send(backlog, note) &&
	    backlog_send(backlog, job_fill, &note->attempt, note->name->job))
		backlog_unlink(backlog, note->name);
}

static int note_open(struct lens_backlog *backlog, const struct lens_state_name *name,
		     struct open_note *note)
{
	memset(note, 0, sizeof(*note));
	note->name = name;
	note->fd = backlog_open(backlog, name, O_RDONLY);
	return note->fd == -1 ? -1 : 0;
}

void backlog_note_visit(struct lens_backlog *backlog, const struct lens_state_name *name)
{
	struct open_note note;

	if (note_open(backlog, name, &note) == -1)
		return;
	if (note_read(&note) == 0 && note.attempt.note.lens && !note.attempt.start_sent &&
	    is_first(backlog, &note) && answer_have(backlog, &note, false) &&
	    lens_job_attempt_started(&note.attempt) != NULL)
		start_send(backlog, &note);
	note_close(&note);
}

void backlog_ended_visit(struct lens_backlog *backlog, const struct lens_state_name *name)
{
	struct open_note note;
	char text[LENS_STATE_NAME];

	if (note_open(backlog, name, &note) == -1)
		return;
	if (note_read(&note) == 0) {
		end_visit(backlog, &note);
	} else if (note.records != NULL && !backlog_young(backlog, note.fd)) {
		lens_state_name_format(text, name);
		backlog_log(backlog, "note %s holds nothing that can be read: removed", text);
		backlog_unlink(backlog, name);
	}
	note_close(&note);
}
