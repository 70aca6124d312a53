/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_ASK_CHILD_H
#define LENS_JOB_ASK_CHILD_H

#include "lib/core/carrier.h"
#include "lib/core/error.h"

#include <stdint.h>

/*
 * A forked child that asks slurmctld something, writes one record line to a pipe and exits: a
 * libslurm that crashes or a slurmctld that hangs never hurts the caller, and nobody waits.
 */
struct lens_ask_child;

/* A child that has not answered by then is killed; milliseconds. */
#define LENS_ASK_DEADLINE_MS 30000

/* The question itself, in the child: blocks as long as libslurm does, and libslurm may exit or
 * crash. Adds the answer to RECORD. 0, or -1 with ERR. */
typedef int lens_ask_fn(const void *question, struct lens_carrier *record, struct lens_error *err);

/* The caller must be single-threaded. QUESTION is used by the child alone. NULL with ERR. */
struct lens_ask_child *lens_ask_child_start(lens_ask_fn *ask, const void *question,
					    struct lens_error *err);

/* Readable (or hung up) when lens_ask_child_finish has something to do; for poll(2). */
int lens_ask_child_fd(const struct lens_ask_child *child);

/* Milliseconds until the deadline, never negative. */
int64_t lens_ask_child_remaining_ms(const struct lens_ask_child *child);

/*
 * 1 while the child is at work (and the deadline is not over); 0 with *RECORD, the answer,
 * which the caller destroys; -1 with ERR when there was no answer.
 */
int lens_ask_child_finish(struct lens_ask_child *child, struct lens_carrier **record,
			  struct lens_error *err);

/* Kills the child if it still runs. NULL is fine. */
void lens_ask_child_destroy(struct lens_ask_child *child);

#endif
