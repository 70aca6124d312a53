/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_NOTE_FILES_H
#define LENS_CORE_NOTE_FILES_H

#include "lib/core/note.h"
#include "lib/core/statedir.h"

/* The files of notes, for note_store.c alone: DIRECTORY is the open StateDir. */

/* The names that a note has in its life. */
struct lens_note_names {
	char now[LENS_STATE_NAME];   /* while its attempt is on the node */
	char ended[LENS_STATE_NAME]; /* once it is over */
	/* While this process writes it: never a name of the above, nor of another process. */
	char temporary[LENS_STATE_NAME + 16];
};

void lens_note_names_format(struct lens_note_names *names, uint32_t job, const char *node,
			    uint32_t attempt);

/* Fills ERR: what WHAT says of the note NAME, and errno. Returns -1. */
int lens_note_error(struct lens_error *err, const char *name, const char *what);

/* The current note of JOB on NODE, opened with FLAGS and read. The descriptor, which the
 * caller closes; -1 with ERR; -2 when there is none. The caller clears OUT. A file that
 * holds no note of this job and node has DAMAGED set and OUT empty. */
int lens_note_open(int directory, uint32_t job, const char *node, int flags, struct lens_note *out,
		   bool *damaged, struct lens_error *err);

/* Adds RECORD to a note's file at FD, behind whatever somebody else left there. 0, or -1 with
 * errno. */
int lens_note_add(int fd, const struct lens_carrier *record);

/*
 * Gives the file FROM the name TO. When TO is there already (the agent is slow, and the
 * same attempt ends a second time) its records go behind those: none is ever lost. 0, or -1 with
 * errno.
 */
int lens_note_move(int directory, const char *from, const char *to);

/* A new file of NOTE and, when there is one, EPILOG under the temporary name. 0, or -1 with ERR. */
int lens_note_write_temporary(int directory, const struct lens_note_names *names,
			      const struct lens_note *note, const struct lens_carrier *epilog,
			      struct lens_error *err);

#endif
