/* SPDX-License-Identifier: Apache-2.0 */
/* Notes that no epilog has ended. */
#include "lib/job/backlog_note.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* An attempt that is not known to be over is asked about again after so long. */
#define COMPLETING_MS 5000  /* epilogs run */
#define RUNNING_MS    60000 /* it died with this node, which slurmctld will see */

/* Whether the attempt may be over all the same, and why. */
enum untold {
	UNTOLD_NO,
	UNTOLD_OVER,   /* its end is noted, but it could not be renamed */
	UNTOLD_EXTERN, /* the extern step has ended, after which an epilog may or may not come */
	UNTOLD_BOOT,   /* it began before this boot: nothing of it lives */
	UNTOLD_AGENT,  /* it began before this agent, and nothing of it is seen running */
};

static enum untold untold_of(struct lens_backlog *backlog, const struct backlog_note *note)
{
	const char *now = lens_memory_boot(backlog->memory);
	const char *then = note->attempt.boot;
	struct stat status;

	/* A young one's epilog may be renaming it at this moment. */
	if (note->attempt.end_asked || (note->attempt.over && !backlog_young(backlog, note->fd)))
		return UNTOLD_OVER;
	if (note->attempt.over)
		return UNTOLD_NO;
	if (note->attempt.extern_over)
		return UNTOLD_EXTERN;
	if (then != NULL && *now != '\0' && strcmp(then, now) != 0)
		return UNTOLD_BOOT;
	if (fstat(note->fd, &status) == 0 &&
	    lens_memory_inherited(backlog->memory, note->name, &status.st_mtim))
		return UNTOLD_AGENT;
	return UNTOLD_NO;
}

/* The note's attempt is over: it gets its ended name, and its spans are made like any other's. */
static void untold_end(struct lens_backlog *backlog, const struct backlog_note *note)
{
	struct lens_state_name name = *note->name;
	char from[LENS_STATE_NAME], to[LENS_STATE_NAME];

	name.kind = LENS_STATE_ENDED;
	name.attempt = note->attempt.note.attempt;
	lens_state_name_format(from, note->name);
	lens_state_name_format(to, &name);
	if (renameat2(backlog->directory, from, backlog->directory, to, RENAME_NOREPLACE) == -1) {
		if (errno != EEXIST) {
			backlog_log(backlog, "note %s cannot be retired: %s", from,
				    strerror(errno));
			backlog_due(backlog, backlog_now(backlog) + BACKLOG_FAULT_MS);
			return;
		}
		/* The attempt was ended before: that note tells of it. */
		backlog_unlink(backlog, note->name);
	}
	lens_memory_inherited_settle(backlog->memory, note->name);
	backlog_due(backlog, backlog_now(backlog));
}

/* slurmctld says that the attempt is running. */
static void untold_runs(struct lens_backlog *backlog, const struct backlog_note *note,
			enum untold untold)
{
	switch (untold) {
	case UNTOLD_EXTERN: /* the job gave this node back */
		backlog_unlink(backlog, note->name);
		break;
	case UNTOLD_BOOT: /* slurmctld has yet to find out */
		backlog_ask_again(backlog, note->name, note->attempt.note.attempt, RUNNING_MS);
		break;
	case UNTOLD_AGENT:
		lens_memory_inherited_settle(backlog->memory, note->name);
		break;
	case UNTOLD_OVER:
	case UNTOLD_NO:
		break;
	}
}

/*
 * Asks slurmctld whether the attempt is over: it is once it is gone, of another attempt, or has
 * a final state and no epilog runs any more (one that is to come has come then).
 */
static void untold_ask(struct lens_backlog *backlog, struct backlog_note *note, enum untold untold)
{
	uint32_t attempt = note->attempt.note.attempt;
	struct lens_job_answer answer;

	lens_job_answer_init(&answer);
	switch (backlog_ask(backlog, note->name, attempt, true, &answer)) {
	case BACKLOG_WAIT:
		break;
	case BACKLOG_SILENCE:
		if (untold != UNTOLD_AGENT)
			untold_end(backlog, note);
		else /* it may well run */
			backlog_ask_again(backlog, note->name, attempt, RUNNING_MS);
		break;
	case BACKLOG_ANSWER:
		if (answer.found && answer.completing)
			backlog_ask_again(backlog, note->name, attempt, COMPLETING_MS);
		else if (answer.found && answer.attempt == attempt &&
			 lens_job_answer_running(&answer))
			untold_runs(backlog, note, untold);
		else if (backlog_note_answer(backlog, note, "end", &answer) == 0)
			untold_end(backlog, note);
		else
			backlog_ask_fault(backlog, note->name, attempt, true);
		break;
	}
	lens_job_answer_clear(&answer);
}

void backlog_untold_visit(struct lens_backlog *backlog, struct backlog_note *note)
{
	enum untold untold = untold_of(backlog, note);

	if (untold == UNTOLD_OVER) {
		untold_end(backlog, note);
		return;
	}
	if (untold == UNTOLD_NO || backlog_note_live(backlog, note) != NULL)
		return;
	if (note->attempt.note.lens && backlog_note_is_first(backlog, note))
		untold_ask(backlog, note, untold);
	else if (untold != UNTOLD_AGENT)
		backlog_unlink(backlog, note->name);
}
