/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_NOTE_H
#define LENS_CORE_NOTE_H

#include "lib/core/error.h"
#include "lib/core/record.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The note of an attempt on a node: a file of records that begins with `note`, written
 * by the prolog, the one place where Slurm tells the attempt truly. `optin` marks a job
 * that became lens's later; the agent appends what it learned; `epilog` ends it, and the
 * file is then renamed to job.node.attempt, so that the next attempt on the node can
 * never be mixed up with it and the agent may unlink it without a race.
 */
struct lens_note {
	uint32_t job;    /* this component's own id */
	uint32_t leader; /* the het leader's id; else job */
	uint32_t attempt;
	char *cluster; /* never NULL */
	char *node;    /* never NULL */
	char *sluid;   /* "" where Slurm has none */
	char *outer;   /* the submitter's TRACEPARENT, "" none (written only when lens) */
	bool in_outer; /* the job's spans go into outer's trace; else the root links to it */
	bool lens;     /* lens makes spans of this job */
	bool first;    /* this node is known to be the job's first (written only when lens) */
	bool journal;  /* no prolog wrote it: the agent did, of what a journal says */
};

void lens_note_clear(struct lens_note *note); /* frees the strings, zeroes the struct */

/*
 * Writes the note of the attempt that begins: to a temporary file, then renamed. A note
 * of another attempt that is in the way (its epilog never ran here) is retired to its
 * ended name first, or unlinked when it is not lens's; one of the same attempt is left as it
 * is (a second prolog). When MAX_NOTES notes are there already nothing is written: -1 with
 * ERR saying so. 0 or -1.
 */
int lens_note_write(int directory, const struct lens_note *note, uint64_t max_notes,
		    struct lens_error *err);

/* Reads the current note of JOB on NODE. 0; 1 when there is none; -1 with ERR. The caller
 * clears OUT. */
int lens_note_read(int directory, uint32_t job, const char *node, struct lens_note *out,
		   struct lens_error *err);

/* Fills OUT from the records of a note file; -1 with errno: EBADMSG when they hold no `note`, ENOMEM. The
 * caller clears. */
int lens_note_parse(struct lens_note *out, const struct lens_records *records);

/* The record that NOTE's file begins with: what lens_note_parse reads; INFERRED: the epilog alone told
 * of the attempt. The caller destroys; NULL: no memory. */
struct lens_carrier *lens_note_record(const struct lens_note *note, bool inferred);

/* Marks the current note of JOB on NODE as lens's, once. 0, also when there is none; -1 with ERR. */
int lens_note_optin(int directory, uint32_t job, const char *node, struct lens_error *err);

/*
 * The attempt is over on this node. A note that is lens's, or of a job that is by LENS (the epilog may
 * know of an opt-in that came after the prolog), gets the record EPILOG and its ended
 * name; another one is unlinked. With no note the job's journals get EPILOG: the agent makes the
 * note of them. With neither and LENS an ended note of FALLBACK (its attempt from
 * the epilog's own environment) is made, with `inferred=1` in its note record, unless this
 * attempt's or the one's before waits for the agent already (an epilog that runs twice). 0 or
 * -1 with ERR.
 */
int lens_note_end(int directory, const struct lens_note *fallback, bool lens,
		  const struct lens_carrier *epilog, struct lens_error *err);

/*
 * Where no prolog ran: adds RECORD, an end of the attempt that is on NODE, to the note that the agent
 * made of a journal, else to the journals of JOB. Whether there was one to tell: else the job is not
 * lens's.
 */
bool lens_note_tell(int directory, uint32_t job, const char *node,
		    const struct lens_carrier *record);

/* Removes what processes that were killed while they wrote a note left, a minute ago or more. */
void lens_note_sweep(int directory);

/* Adds RECORD to each journal of JOB on NODE; to how many. */
int lens_note_tell_journals(int directory, uint32_t job, const char *node,
			    const struct lens_carrier *record);

#endif
