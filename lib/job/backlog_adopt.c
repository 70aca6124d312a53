/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/backlog_parts.h"

#include "lib/core/hash.h"
#include "lib/core/record.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static bool ended_exists(struct lens_backlog *backlog, const struct lens_state_name *journal,
			 uint32_t attempt)
{
	struct lens_state_name name = { .kind = LENS_STATE_ENDED,
					.job = journal->job,
					.node = journal->node,
					.attempt = attempt };
	int fd = backlog_open(backlog, &name, O_RDONLY);

	if (fd != -1)
		close(fd);
	return fd != -1;
}

/* Adds that the extern step is over to the current note, once. */
static void extern_append(struct lens_backlog *backlog, const struct lens_state_name *journal,
			  const struct lens_carrier *over)
{
	struct lens_state_name name = { .kind = LENS_STATE_NOTE,
					.job = journal->job,
					.node = journal->node };
	int fd = backlog_open(backlog, &name, O_RDONLY);
	struct lens_records *records = fd == -1 ? NULL : lens_records_read(fd);

	if (records != NULL && lens_records_last(records, "extern") == NULL)
		backlog_record_append(backlog, &name, fd, records, over);
	lens_records_destroy(records);
	if (fd != -1)
		close(fd);
}

/* Hands on what STEP's journal was told of the end of NOTE's attempt. */
static void end_hand_on(struct lens_backlog *backlog, const struct lens_state_name *journal,
			const struct lens_job_step *step, const struct lens_note *note)
{
	struct lens_error err = LENS_ERROR_INIT;

	if (step->over == NULL)
		return;
	if (strcmp(lens_record_event(step->over), "extern") == 0)
		extern_append(backlog, journal, step->over);
	else if (lens_note_end(backlog->directory, note, true, step->over, &err) == -1)
		backlog_log(backlog, "job %" PRIu32 ": its end was not noted: %s", note->job,
			    err.text);
}

/*
 * What the note that is there means to NOTE: 0 none is in the way (an earlier attempt's that was
 * adopted too is retired by the writing), 1 it is NOTE, written before, -1 it is a prolog's of
 * another attempt, which this one must not end.
 */
static int note_there(struct lens_backlog *backlog, const struct lens_note *note)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_note there = { 0 };
	int rc = 0;

	if (lens_note_read(backlog->directory, note->job, note->node, &there, &err) == 0) {
		if (!there.journal || there.attempt > note->attempt)
			rc = -1;
		else
			rc = there.attempt == note->attempt;
	}
	lens_note_clear(&there);
	return rc;
}

void backlog_adopt(struct lens_backlog *backlog, const struct lens_state_name *journal,
		   const struct lens_job_step *step)
{
	/* Strings are borrowed: the note is written, not kept. */
	const struct lens_note note = {
		.job = step->job,
		.leader = step->leader,
		.attempt = step->attempt,
		.cluster = (char *)step->cluster,
		.node = (char *)step->node,
		.sluid = (char *)"",
		.outer = (char *)(step->outer != NULL ? step->outer : ""),
		.in_outer = step->in_outer,
		.lens = true,
		.first = step->step == LENS_STEP_BATCH,
		.journal = true,
	};
	struct lens_error err = LENS_ERROR_INIT;
	int there;

	if (!step->inferred || step->job != journal->job ||
	    lens_name_number(step->node) != journal->node ||
	    ended_exists(backlog, journal, step->attempt))
		return;
	there = note_there(backlog, &note);
	if (there == -1)
		return;
	/* Bounded by the journals, which MaxSpool bounds. */
	if (there == 0 && lens_note_write(backlog->directory, &note, UINT64_MAX, &err) == -1) {
		backlog_log(backlog, "job %" PRIu32 ": %s", note.job, err.text);
		return;
	}
	end_hand_on(backlog, journal, step, &note);
	if (there == 0) /* the names were listed before */
		backlog_due(backlog, backlog_now(backlog));
}
