/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_ANSWER_H
#define LENS_JOB_ANSWER_H

#include "lib/core/carrier.h"

#include <stdbool.h>
#include <stdint.h>

/* A number that Slurm did not give; an array task id and an exit status may be 0. */
#define LENS_ANSWER_NONE UINT32_MAX

/*
 * What slurmctld said about one job. It goes through a record (docs/journal.md), so that
 * it is kept in the note and outlives the agent. A plain value that owns its strings;
 * a string that slurmctld did not give is NULL.
 */
struct lens_job_answer {
	bool found; /* false: slurmctld has forgotten the job, or was given up on */
	uint32_t job;
	uint32_t attempt; /* slurmctld's restart count at that moment */
	char *state;      /* Slurm's base state: PENDING, RUNNING, COMPLETED, ... */
	bool completing;  /* it is over, epilogs run */
	uint32_t raw_state;
	char *reason;                         /* Slurm's word; NULL when it is none */
	char *exit_code;                      /* `3:0`, exit code and signal */
	char *derived;                        /* likewise, the highest of the job's steps */
	int64_t submit, eligible, start, end; /* whole seconds since the epoch, 0 not known */
	int64_t suspended;                    /* seconds */
	char *name, *user, *partition, *account, *qos, *reservation, *nodelist;
	uint32_t uid;
	uint32_t nodes, tasks, cpus;     /* 0 not known */
	uint32_t array_job, array_task;  /* array_task: LENS_ANSWER_NONE when it is no array's */
	uint32_t het_leader, het_offset; /* het_leader: 0 when it is no component */
	bool cron;                       /* a scrontab entry: a new attempt is its next tick */
};

/* Zeroes ANSWER, with array_task and uid not known. */
void lens_job_answer_init(struct lens_job_answer *answer);
void lens_job_answer_clear(struct lens_job_answer *answer); /* frees; init again. Keeps errno. */

/* Reads the keys of RECORD into ANSWER (initialised by this call; cleared by the caller).
 * 0, or -1 when memory ran out. */
int lens_job_answer_read(struct lens_job_answer *answer, const struct lens_carrier *record);

/* Adds ANSWER's keys to RECORD; what is not known is left out. 0, or -1 (memory). */
int lens_job_answer_write(const struct lens_job_answer *answer, struct lens_carrier *record);

/* Whether the job waits in the queue: after a requeue its times are those to come. */
bool lens_job_answer_pending(const struct lens_job_answer *answer);

/* Whether the job still has its nodes (RUNNING or SUSPENDED, and not completing). */
bool lens_job_answer_running(const struct lens_job_answer *answer);

/* Slurm's base state (slurm.h, enum job_states, the same from 22.05 to 26.05) of RAW, or
 * "UNKNOWN". Static. */
const char *lens_job_state_name(uint32_t raw);

#endif
