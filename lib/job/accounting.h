/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_ACCOUNTING_H
#define LENS_JOB_ACCOUNTING_H

#include "lib/core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A number that a record does not have. */
#define LENS_RECORD_NONE UINT32_MAX

/*
 * One row of sacct: an attempt of a job, or a step of the attempt that comes before it.
 * Texts are never NULL and belong to the accounting. Seconds since the epoch, 0 not known.
 */
struct lens_account_record {
	uint32_t job;    /* raw: a het component's and an array element's own */
	uint32_t leader; /* of a het job; else job */
	uint32_t offset; /* of the component in it; else 0 */
	bool het;
	uint32_t array_job, array_task; /* array_task: LENS_RECORD_NONE for no element */
	bool is_step;
	uint32_t step;  /* is_step: srun's number, or LENS_STEP_* */
	uint64_t index; /* the database's own number of the attempt; 0 not known */
	/* LENS_RECORD_NONE where sacct has no such column, which came after 22.05. */
	uint32_t restarts;
	char *name, *cluster, *user, *account, *partition, *qos, *reservation, *nodelist, *sluid;
	char *reason;       /* why it waited last; it says nothing of the end */
	char *state;        /* the first word: `CANCELLED` of `CANCELLED by 33` */
	char *cancelled_by; /* the uid, or "" */
	char *exit_code;    /* `3:0` */
	int64_t submit, eligible, start, end, suspended;
	uint32_t nodes, tasks; /* 0 not known */
};

struct lens_accounting;

struct lens_accounting *lens_accounting_create(void); /* NULL: no memory */
void lens_accounting_destroy(struct lens_accounting *accounting);

/*
 * The columns that are read, as --format takes them; Restarts and SLUID too, which not every
 * release has. JobName, in which anything may stand, is not the last: a line with too few columns
 * goes on in the next.
 */
#define LENS_ACCOUNTING_COLUMNS                                                          \
	"JobIDRaw,JobID,DBIndex,Cluster,User,Account,Partition,QOS,Reservation,JobName," \
	"State,ExitCode,Submit,Eligible,Start,End,Suspended,NNodes,NTasks,NodeList,Reason"

/*
 * Adds the rows of IN, what `sacct --parsable2` (or --parsable) prints with its header: columns in
 * any order and case, unknown ones ignored; JobID, Cluster, State, NodeList and the four times are
 * needed. DELIMITER NULL: what stands behind the first name of the header. Times are seconds
 * since the epoch, or as sacct prints them, in this machine's time zone. 0, or -1 with ERR naming
 * SOURCE and the line.
 */
int lens_accounting_read(struct lens_accounting *accounting, FILE *in, const char *source,
			 const char *delimiter, struct lens_error *err);

size_t lens_accounting_count(const struct lens_accounting *accounting);
const struct lens_account_record *lens_accounting_at(const struct lens_accounting *accounting,
						     size_t index);

#endif
