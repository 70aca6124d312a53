/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_STEP_H
#define LENS_JOB_STEP_H

#include "lib/core/record.h"
#include "lib/core/step_id.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One task of a step as its node saw it. */
struct lens_job_task {
	uint32_t rank, local, pid;
	bool ended; /* its task_exit was seen: status holds */
	bool exports;
	bool ranks;      /* a task is a rank of the training */
	bool oom;        /* its cgroup counted an out-of-memory kill when it ended */
	uint32_t status; /* the wait status */
	int64_t start_ns, end_ns;
};

/*
 * What one slurmstepd's journal says about its step: a view of the records from one
 * `step_open` to the next. (A journal has a second one only when a later process of the
 * same pid went on with a left-over file.) Strings are borrowed from the records.
 *
 * All times of a section are its step_open's wall clock and the monotonic time since: they
 * are one boot's, and a step of the wall clock within does not show. Nothing is negative.
 */
struct lens_job_step {
	uint32_t job, leader, attempt, step;
	const char *cluster, *node, *name, *kind; /* never NULL */
	const char *trace;    /* the job's own, which span ids hash; NULL: absent */
	const char *into;     /* the outer trace that the spans go into; NULL: the job's own */
	const char *parent;   /* NULL: absent */
	const char *resource; /* likewise */
	const char *outer;    /* the submitter's TRACEPARENT where no note has it; NULL: absent */
	bool in_outer;        /* outer is the root's parent, else a link of it */
	uint64_t task_total;  /* in the step, on all nodes; 0 not known */
	bool inferred;        /* there was no note */
	bool known;           /* inferred: a task of the batch step or its mark told the attempt */
	bool closed;          /* the step's exit was seen */
	bool lost;            /* the agent found its writer dead: what follows does not count */
	bool first_node;      /* this node is the step's first */
	int64_t start_ns, end_ns;    /* holds every task; without step_end the last time known */
	struct lens_job_task *tasks; /* in the order of their first records */
	size_t task_count;
	size_t task_last;  /* the one that was found last */
	uint32_t rank_max; /* of all tasks */
	size_t failed;     /* tasks that ended with a non-zero status */
	/* The attempt's end, told here as there was no note: an `epilog` or `extern`; or NULL. */
	const struct lens_carrier *over;
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

#endif
