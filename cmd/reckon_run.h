/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_RECKON_RUN_H
#define LENS_CMD_RECKON_RUN_H

#include "lib/core/error.h"

#include <stdio.h>

/*
 * A command of Slurm's that is run for what it prints: by PATH, with the arguments as they
 * are, and with an environment of the few variables by which Slurm finds its cluster, times as
 * seconds since the epoch, and no locale.
 */
struct reckon_run;

/* NULL with ERR. */
struct reckon_run *reckon_run_start(const char *const *argv, struct lens_error *err);
FILE *reckon_run_output(struct reckon_run *run); /* borrowed */
/* Waits for the end and destroys RUN. 0; -1 with ERR when the command failed: what it said, and
 * what to do. */
int reckon_run_end(struct reckon_run *run, struct lens_error *err);

/* All that the command prints; the caller frees. NULL with ERR. */
char *reckon_run_read(const char *const *argv, struct lens_error *err);

#endif
