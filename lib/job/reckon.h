/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_RECKON_H
#define LENS_JOB_RECKON_H

#include "lib/job/accounting.h"
#include "lib/job/resource_fill.h"
#include "lib/otlp/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What accounting knows of jobs, as the spans that the plugin would have made, by the same
 * names and ids. Pure: the same rows give the same spans.
 *
 * A requeue makes a new row with a submission of its own. Newer releases say which attempt a row is
 * (Restarts); else the rows are counted, which is right only when the first one is still there.
 */
enum lens_reckon_number {
	LENS_RECKON_TOLD,    /* by accounting */
	LENS_RECKON_COUNTED, /* or given by the caller */
	LENS_RECKON_UNKNOWN, /* an earlier row may have been purged */
	LENS_RECKON_REUSED,  /* of an older job of the same number: the ids are the newer one's */
};

/* A step, its het components taken together: texts are the accounting's. */
struct lens_reckon_step {
	const struct lens_account_record *record; /* of the first component that has it */
	bool elsewhere;                           /* a component before this one tells of it */
	int64_t start, end;                       /* seconds; end 0: it runs, or nobody told */
	uint32_t tasks;
	const char *state, *exit_code;
	uint32_t number; /* among those that srun made, by their starts */
	/* Where none of those ran right before it: since when, and which such time it is. */
	int64_t idle_since; /* seconds; 0: there is none */
	uint32_t gap;
};

struct lens_reckon_attempt {
	const struct lens_account_record *first; /* how it was submitted and began */
	const struct lens_account_record *last;  /* how it ended; not FIRST when it was resized */
	enum lens_reckon_number number;
	uint32_t attempt;     /* TOLD, COUNTED */
	bool again;           /* another attempt followed */
	int64_t first_submit; /* seconds: attempt 0's, when that is another one and known; else 0 */
	struct lens_reckon_step *steps; /* in the order of their starts, the extern step left out */
	size_t step_count;
};

struct lens_reckon_wish {
	/* The number of the oldest row where rows are counted; LENS_RECORD_NONE: see kept_since. */
	uint32_t oldest_attempt;
	/* Rows that ended since then (seconds) have not been purged: INT64_MAX not known,
	 * INT64_MIN nothing is. */
	int64_t kept_since;
};

struct lens_reckon;

/* ACCOUNTING must stay. NULL: no memory. */
struct lens_reckon *lens_reckon_create(const struct lens_accounting *accounting,
				       const struct lens_reckon_wish *wish);
void lens_reckon_destroy(struct lens_reckon *reckon);
size_t lens_reckon_count(const struct lens_reckon *reckon);
/* In the order of clusters, jobs (components behind their leader) and attempts. */
const struct lens_reckon_attempt *lens_reckon_at(const struct lens_reckon *reckon, size_t index);

/* Whether STEP is a shell that sets up, the script or the interactive one. */
bool lens_reckon_is_shell(const struct lens_reckon_step *step);
/* When STEP of ATTEMPT ended: where nobody told, with its job; 0 when that is not over either. */
int64_t lens_reckon_step_end(const struct lens_reckon_attempt *attempt,
			     const struct lens_reckon_step *step);

/* Whether it got nodes; whether it is over. */
bool lens_reckon_started(const struct lens_reckon_attempt *attempt);
bool lens_reckon_ended(const struct lens_reckon_attempt *attempt);

/*
 * Adds the spans of ATTEMPT, whose number is known, but its steps: at most 10, in groups of
 * their own. What is not over has no span yet. How many, or -1 (memory).
 */
int lens_reckon_job_spans_add(struct lens_batch *batch, const struct lens_job_site *site,
			      const struct lens_reckon_attempt *attempt);

/*
 * Adds, as one group, the spans of ATTEMPT's steps FIRST to FIRST + COUNT - 1, the batch script
 * among them, and of an attempt that is over the gaps before them: at most two a step. How many,
 * or -1 (memory).
 */
int lens_reckon_step_spans_add(struct lens_batch *batch, const struct lens_job_site *site,
			       const struct lens_reckon_attempt *attempt, size_t first,
			       size_t count);

#endif
