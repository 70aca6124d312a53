/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_WAIT_STATUS_H
#define LENS_JOB_WAIT_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A wait status (waitpid(2); S_TASK_EXIT_STATUS), taken apart. */
struct lens_wait_status {
	int exit_code; /* -1 when a signal ended it */
	int signal;    /* 0 when it exited by itself */
	bool core;     /* a core was dumped */
};

struct lens_wait_status lens_wait_status_decode(uint32_t status);

/* Room for a name of lens_wait_status_type. */
#define LENS_ERROR_TYPE 32

/*
 * The `error.type` of a failure, few and stable values: `exit_3`, or the signal's name
 * (`SIGKILL`, `SIGRTMIN+2`). "" for success.
 */
void lens_wait_status_type(char out[LENS_ERROR_TYPE], const struct lens_wait_status *status);

/* As Slurm writes it: `3:0`, exit code and signal. */
void lens_wait_status_text(char out[LENS_ERROR_TYPE], const struct lens_wait_status *status);

#endif
