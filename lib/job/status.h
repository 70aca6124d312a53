/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_STATUS_H
#define LENS_JOB_STATUS_H

#include "lib/core/error.h"

#include <stdint.h>

/*
 * What the agent tells of itself: one record, `agent.status` in the state directory, replaced
 * as a whole when something changed. Times are seconds since the epoch, 0 never; counts are
 * since `started`.
 */
struct lens_status {
	char version[32];
	char protocol[16];
	char receiver[256]; /* endpoint without user and password, or the file */
	uint32_t pid;
	uint32_t sender; /* pid; 0 none */
	int64_t started;
	uint64_t sent;    /* spans that were acknowledged */
	uint64_t retried; /* requests that the receiver is to get again */
	uint64_t dropped; /* spans that are lost: refused for good, or beyond a cap */
	char dropped_why[256];
	int64_t dropped_at;
	int64_t sent_at;       /* the last acknowledgement */
	int64_t failing_since; /* nothing was taken since; 0: all is well */
	char error[512];       /* the last one, also when it is over */
	int64_t error_at;
};

/* 0, or -1 with ERR; the old one is there then. */
int lens_status_write(int directory, const struct lens_status *status, struct lens_error *err);

/* 0; 1 when there is none; -1 with ERR, also when it is none that this program wrote. */
int lens_status_read(int directory, struct lens_status *out, struct lens_error *err);

#endif
