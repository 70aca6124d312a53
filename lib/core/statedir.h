/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_STATEDIR_H
#define LENS_CORE_STATEDIR_H

#include "lib/core/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * The state directory: owned by the caller's effective user (root), mode 0700, on a local
 * file system, no parent writable by others (unless sticky). Opened once per process; files
 * below it only by openat with O_NOFOLLOW and by names made of numbers.
 */

/*
 * Opens PATH and returns the descriptor (close-on-exec, never 0, 1 or 2); with CREATE a missing
 * last component (only that one) is made 0700. -1 with ERR: not absolute, cannot be made, not ours,
 * wrong mode, a parent that others can write, a network file system, a symbolic link.
 * The caller closes.
 */
int lens_statedir_open(const char *path, bool create, struct lens_error *err);

enum lens_state_kind {
	LENS_STATE_NOTE,    /* job.node          the attempt that is on the node now */
	LENS_STATE_ENDED,   /* job.node.attempt  a note whose attempt is over */
	LENS_STATE_JOURNAL, /* job.step.node.pid one slurmstepd's journal */
};

struct lens_state_name {
	enum lens_state_kind kind;
	uint32_t job;
	uint32_t node;    /* lens_name_number() of the node's name */
	uint32_t attempt; /* ENDED */
	uint32_t step;    /* JOURNAL: Slurm's number, 4294967291 is batch */
	uint32_t pid;     /* JOURNAL */
};

#define LENS_STATE_NAME 64

void lens_state_name_format(char out[LENS_STATE_NAME], const struct lens_state_name *name);

/*
 * Calls VISIT with CONTEXT for each file of such a name (TEXT, as it lies there), in no order. One
 * that returns something else than 0 ends it, and that is returned; else 0, or -1 with errno when
 * the directory cannot be listed.
 */
typedef int lens_statedir_visit_fn(void *context, const struct lens_state_name *name,
				   const char *text);
int lens_statedir_each(int directory, lens_statedir_visit_fn *visit, void *context);

/* What a file of STATUS takes of the disk, in bytes: MaxSpool counts these. */
uint64_t lens_state_file_size(const struct stat *status);
/* What the files of such names take of the disk, in bytes. 0, or -1 with errno. */
int lens_statedir_size(int directory, uint64_t *out);

/*
 * As lens_statedir_size, or what it said a while ago: all who ask count for a hundredth of the time
 * together, so that a step begins as quickly with 100,000 files as with none. `spool.size` in
 * DIRECTORY holds the last count.
 */
int lens_statedir_size_recent(int directory, uint64_t *out);

/* 0, or -1 when TEXT is no such name (canonical decimals only, no sign, no leading 0). */
int lens_state_name_parse(struct lens_state_name *out, const char *text);

#endif
