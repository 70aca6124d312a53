/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_WAITING_H
#define LENS_JOB_WAITING_H

#include "lib/core/error.h"

#include <stddef.h>
#include <stdint.h>

/* What lies in a state directory. */
struct lens_waiting {
	size_t journals_open;    /* with a slurmstepd that writes */
	size_t journals_waiting; /* to be sent */
	size_t notes;            /* of attempts on this node */
	size_t notes_waiting;    /* of attempts that are over */
	uint64_t bytes;          /* of all of these files */
	int64_t oldest;          /* when what waits longest was last written, seconds; 0 nothing */
};

/* 0, or -1 with ERR when DIRECTORY cannot be read. */
int lens_waiting_count(int directory, struct lens_waiting *out, struct lens_error *err);

#endif
