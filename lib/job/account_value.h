/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_ACCOUNT_VALUE_H
#define LENS_JOB_ACCOUNT_VALUE_H

#include "lib/job/accounting.h"

#include <stdbool.h>
#include <stdint.h>

/* The values in sacct's columns. Each reader returns 0, or -1 for what is none. */

/* `1796069153`, or `2026-11-30T20:05:53` in this machine's time zone; "", `Unknown` and `None`
 * are 0. */
int lens_account_time(const char *text, int64_t *out);

/* `[D-]HH:MM:SS`, a fraction is cut; as seconds. "" is 0. */
int lens_account_duration(const char *text, int64_t *out);

/*
 * Fills the ids of OUT from JobID: `36`, `36_3`, `50+1`, a step of one (`36_3.batch`, `36.0`).
 * Without JobIDRaw (RAW NULL) the id of an element or a component is not known: -1.
 */
int lens_account_id(const char *text, const char *raw, struct lens_account_record *out);

/* A request for jobs as sacct takes it: `36`, `36_3`, `50+1`. */
struct lens_account_wish {
	uint32_t job;
	uint32_t array_task; /* LENS_RECORD_NONE: none */
	uint32_t offset;     /* LENS_RECORD_NONE: none */
};
int lens_account_wish_parse(struct lens_account_wish *out, const char *text);
/* Whether RECORD is of what WISH names: a job by its number or its raw one, an array, a het job,
 * an element or a component of it. */
bool lens_account_wish_matches(const struct lens_account_wish *wish,
			       const struct lens_account_record *record);

#endif
