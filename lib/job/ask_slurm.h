/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_ASK_SLURM_H
#define LENS_JOB_ASK_SLURM_H

#include "lib/core/error.h"
#include "lib/job/answer.h"

#include <stdint.h>

/*
 * The question itself, in this process: blocks as long as libslurm does, and libslurm may
 * exit or crash. For the child of lens_ask_start alone. 0 with OUT (the caller clears it), or
 * -1 with ERR.
 */
int lens_ask_slurmctld(uint32_t job, struct lens_job_answer *out, struct lens_error *err);

#endif
