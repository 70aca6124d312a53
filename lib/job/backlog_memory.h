/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_BACKLOG_MEMORY_H
#define LENS_JOB_BACKLOG_MEMORY_H

#include "lib/core/boot.h"
#include "lib/core/statedir.h"
#include "lib/job/attempt.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/*
 * What one agent knows besides the files, for as long as it runs: attempts whose spans it
 * has sent, and notes that it found when it began. Losing it costs an attribute
 * (slurm.first_submit) or, when an epilog runs a second time, a repeated span.
 */
#define LENS_MEMORY_DONE 256 /* attempts; the oldest is forgotten */

struct lens_memory;

struct lens_memory *lens_memory_create(void); /* NULL: no memory */
void lens_memory_destroy(struct lens_memory *memory);

/* This boot's id, "" where /proc does not tell. Borrowed. */
const char *lens_memory_boot(const struct lens_memory *memory);

/* The spans of ATTEMPT are acknowledged. */
void lens_memory_done_add(struct lens_memory *memory, const struct lens_job_attempt *attempt);
/* Whether those of ATTEMPT were before. */
bool lens_memory_done_has(const struct lens_memory *memory, const struct lens_job_attempt *attempt);

/* When JOB was first submitted, in seconds, by what earlier attempts than ATTEMPT told; 0 not
 * known. */
int64_t lens_memory_first_submit(const struct lens_memory *memory, uint32_t job, uint32_t attempt);
/* The same by what ATTEMPT itself tells. */
int64_t lens_job_attempt_first_submit(const struct lens_job_attempt *attempt);

/* Begins anew with what lies there now: an end may have come while the directory took no records. */
void lens_memory_begin(struct lens_memory *memory);
/*
 * Whether the note NAME, last WRITTEN (the file's time) when it is first asked for, lay there before
 * this agent began (or lens_memory_begin): its end may have come and gone unseen, however recently.
 * True until it was settled. One whose prolog started the agent is asked about once more, which does
 * no harm.
 */
bool lens_memory_inherited(struct lens_memory *memory, const struct lens_state_name *name,
			   const struct timespec *written);
void lens_memory_inherited_settle(struct lens_memory *memory, const struct lens_state_name *name);

#endif
