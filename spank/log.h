/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_SPANK_LOG_H
#define LENS_SPANK_LOG_H

#include "lib/core/error.h"

#include <stddef.h>

/*
 * Says TEXT in slurmd's log and never in a job's output: of Slurm's calls only
 * slurm_info does that in every hook (measured, docs/slurm-behaviour.md). On the
 * submit side it is what the user reads.
 */
void lens_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As lens_log, for who asked Slurm for more (SlurmdDebug=debug). */
void lens_log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Problems of one kind gathered into the one line that a hook may say. */
struct lens_problems {
	struct lens_error first;
	size_t count;
};

/* A lens_config_problem_fn; CONTEXT is a struct lens_problems. */
void lens_problems_add(void *context, const char *text);

/* One line, when there was a problem. */
void lens_problems_log(const struct lens_problems *problems, const char *prefix);

#endif
