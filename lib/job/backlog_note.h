/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_BACKLOG_NOTE_H
#define LENS_JOB_BACKLOG_NOTE_H

#include "lib/core/record.h"
#include "lib/job/backlog_parts.h"

/* For backlog_note.c and backlog_untold.c alone. */

/* A note that is open: what is learned is appended to this very file, which the epilog may
 * rename meanwhile. */
struct backlog_note {
	const struct lens_state_name *name;
	int fd;
	struct lens_records *records;
	struct lens_job_attempt attempt;
};

/* A journal of the attempt that is still needed, or NULL; see backlog_live_of. */
const struct backlog_live *backlog_note_live(const struct lens_backlog *backlog,
					     const struct backlog_note *note);
/* See backlog_is_first. */
bool backlog_note_is_first(const struct lens_backlog *backlog, const struct backlog_note *note);
/* Appends slurmctld's ANSWER on WHEN, `start` or `end`, to the note. 0, or -1. */
int backlog_note_answer(struct lens_backlog *backlog, struct backlog_note *note, const char *when,
			const struct lens_job_answer *answer);

/* backlog_untold.c: looks whether the attempt of the current NOTE, which was read, is over though no
 * epilog has ended it. */
void backlog_untold_visit(struct lens_backlog *backlog, struct backlog_note *note);

#endif
