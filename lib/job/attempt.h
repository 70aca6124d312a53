/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_ATTEMPT_H
#define LENS_JOB_ATTEMPT_H

#include "lib/core/note.h"
#include "lib/core/record.h"
#include "lib/job/answer.h"

#include <stdbool.h>
#include <stdint.h>

/* What accounting knows of an attempt beyond what slurmctld says. */
struct lens_job_accounting {
	bool again;               /* another attempt followed: its end is no failure */
	const char *cancelled_by; /* a uid as text; NULL not cancelled or not known */
	uint32_t steps;           /* that srun made */
};

/*
 * What a note says about one attempt of a job on one node: a view of its records, which
 * must stay. nodelist and resource are borrowed from them.
 */
struct lens_job_attempt {
	struct lens_note note;
	bool inferred;           /* the epilog made the note: its attempt may be the next one's */
	const char *boot;        /* the note's boot id, or NULL */
	int64_t begin_ns;        /* the note's record: the prolog, or the epilog when inferred */
	int64_t last_ns;         /* the last record by Slurm's own processes on this node */
	bool over;               /* the epilog ran */
	int64_t epilog_ns;       /* over: when */
	bool epilog_first;       /* over: this node is the first of the job's list */
	uint32_t epilog_attempt; /* over: Slurm's count at that time */
	const char *nodelist;    /* over: the epilog's, or NULL */
	uint32_t nodes;          /* over: how many; 0 not known */
	/* No epilog, but the extern step's end, which stands for it once slurmctld says so: what is
	 * marked `over` above holds too. */
	bool extern_over;
	bool start_asked, end_asked; /* there is an answer, if only that there is none */
	struct lens_job_answer start, end;
	bool start_sent; /* the start spans are acknowledged */
	bool windowed;   /* a journal of this attempt is acknowledged: from, to hold */
	int64_t from_ns, to_ns;
	bool stepped; /* a step that srun made is among them: step_ns, when the first began */
	int64_t step_ns;
	const char *resource; /* the job's resource attributes by a journal, or NULL */
	/* Those that were there when slurmctld was asked at the start: the start spans have
	 * these, also when they are sent again. */
	const char *start_resource;
	int64_t first_submit; /* seconds: the job's, where attempts before were seen here; or 0 */
	/* Accounting told all of this, afterwards (lib/job/reckon.h); NULL: the node did. */
	const struct lens_job_accounting *accounting;
};

/* 0; -1 when RECORDS hold no `note` or memory ran out. The caller clears OUT. */
int lens_job_attempt_read(struct lens_job_attempt *out, const struct lens_records *records);
void lens_job_attempt_clear(struct lens_job_attempt *attempt);

/* What slurmctld said that tells when this attempt was submitted and started; or NULL. */
const struct lens_job_answer *lens_job_attempt_started(const struct lens_job_attempt *attempt);

/* What slurmctld said that tells how this attempt ended; NULL also when it was requeued:
 * the answer is then about the attempt to come. */
const struct lens_job_answer *lens_job_attempt_ended(const struct lens_job_attempt *attempt);

/*
 * Whether the attempt ended by a requeue: slurmctld counts on or has the job in the
 * queue, or did so already when the epilog ran. (Slurm raises the count before the
 * epilog; with a node that is down only slurmctld tells. Measured on 22.05 and 24.11.)
 */
bool lens_job_attempt_requeued(const struct lens_job_attempt *attempt);

/* Whether slurmctld says that this attempt goes on elsewhere: the job gave this node back. */
bool lens_job_attempt_released(const struct lens_job_attempt *attempt);

/* Whether slurmctld names another node as the first of the ended attempt: the job had given this one
 * back before, and that one tells of it. */
bool lens_job_attempt_elsewhere(const struct lens_job_attempt *attempt);

#endif
