/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_ASK_H
#define LENS_JOB_ASK_H

#include "lib/core/error.h"
#include "lib/job/answer.h"
#include "lib/job/ask_child.h"

#include <stdbool.h>
#include <stdint.h>

/* One question to slurmctld about one job (lib/job/ask_child.h says how). */
struct lens_ask;

/* The caller must be single-threaded. NULL with ERR. */
struct lens_ask *lens_ask_start(uint32_t job, struct lens_error *err);

/* Readable (or hung up) when lens_ask_finish has something to do; for poll(2). */
int lens_ask_fd(const struct lens_ask *ask);

/* Milliseconds until the deadline, never negative. */
int64_t lens_ask_remaining_ms(const struct lens_ask *ask);

/*
 * 1 while the child is at work (and the deadline is not over); 0 with OUT filled in (the
 * caller clears it; found is false when slurmctld does not know the job); -1 with ERR
 * when there was no answer: to be asked again later.
 */
int lens_ask_finish(struct lens_ask *ask, struct lens_job_answer *out, struct lens_error *err);

/* Kills the child if it still runs. NULL is fine. */
void lens_ask_destroy(struct lens_ask *ask);

#endif
