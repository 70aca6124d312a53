/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_STEP_H
#define LENS_JOB_STEP_H

#include "lib/core/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Slurm's own numbers of steps that srun did not make (slurm.h, all releases). */
#define LENS_STEP_BATCH       4294967291U
#define LENS_STEP_INTERACTIVE 4294967290U

/* One task of a step as its node saw it. */
struct lens_job_task {
	uint32_t rank, local, pid;
	uint32_t nodeid; /* of the step; UINT32_MAX not known */
	bool ended;      /* its task_exit was seen: status holds */
	bool exports;
	bool ranks;      /* a task is a rank of the training */
	uint32_t status; /* the wait status */
	int64_t start_ns, end_ns;
	int64_t start_monotonic;
};

/*
 * What one slurmstepd's journal says about its step: a view of the records from one
 * `step_open` to the next. (A journal has a second one only when a later process of the
 * same pid went on with a left-over file.) Strings are borrowed from the records.
 *
 * A start is the realtime of its record; lengths are monotonic, for all records of a section
 * are one boot's. Nothing is negative.
 */
struct lens_job_step {
	uint32_t job, leader, attempt, step;
	const char *cluster, *node, *name, *kind; /* never NULL */
	const char *trace, *parent, *resource;    /* NULL: absent */
	uint64_t task_total;                      /* in the step, on all nodes; 0 not known */
	bool inferred;                            /* there was no note: the attempt is a guess */
	bool closed;                              /* the step's exit was seen */
	bool first_node;                          /* this node is the step's first */
	int64_t start_ns, end_ns;    /* holds every task; without step_end the last time known */
	struct lens_job_task *tasks; /* in the order of their first records */
	size_t task_count;
	size_t failed; /* tasks that ended with a non-zero status */
};

/*
 * Reads the section that begins at or after *POSITION and moves *POSITION behind it. 1 with
 * OUT filled in (cleared by the caller; RECORDS must stay), 0 when there is none, -1 when
 * memory ran out.
 */
int lens_job_step_read(struct lens_job_step *out, const struct lens_records *records,
		       size_t *position);
void lens_job_step_clear(struct lens_job_step *step);

bool lens_job_task_failed(const struct lens_job_task *task);

/* `batch`, `interactive` or the number, as slurm.step.id has it. */
#define LENS_STEP_TEXT 16
void lens_step_id_text(char out[LENS_STEP_TEXT], uint32_t step);

#endif
