/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_STATUS_H
#define LENS_CMD_STATUS_H

#include "lib/core/config.h"
#include "lib/core/error.h"
#include "lib/job/status.h"
#include "lib/job/waiting.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define STATUS_PROBLEMS 4

/* What `slurm-lens status` found. */
struct status_view {
	const char *state_dir;
	int64_t now;  /* seconds since the epoch */
	pid_t holder; /* of the lock: the agent; 0 none */
	bool known;   /* status is the holder's, or the last agent's */
	struct lens_status status;
	struct lens_waiting waiting;
	/* Why a person is needed, a line each. */
	char problems[STATUS_PROBLEMS][640];
	size_t problem_count;
};

/* status.c. Looks into the open DIRECTORY; 0, or -1 with ERR. */
int status_view_fill(struct status_view *view, int directory, struct lens_error *err);
/* Adds what a person is needed for. */
void status_problems_find(struct status_view *view, const struct lens_config *config);

/* status_show.c */
void status_show_text(const struct status_view *view);
int status_show_json(const struct status_view *view); /* -1: no memory */

#endif
