/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_AGENT_REPORT_H
#define LENS_CMD_AGENT_REPORT_H

#include "lib/core/config.h"
#include "lib/job/backlog.h"
#include "lib/job/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What the agent publishes for `slurm-lens status`: a plain value. */
struct agent_report {
	struct lens_status status;
	bool changed;
	bool fault;      /* it fails for a reason of this node, not of the receiver */
	int64_t next_ms; /* not written before, on the monotonic clock */
};

void agent_report_begin(struct agent_report *report);
/* The receiver that CONFIG names. */
void agent_report_receiver(struct agent_report *report, const struct lens_config *config);
void agent_report_sender(struct agent_report *report, pid_t sender);
void agent_report_result(struct agent_report *report, const struct lens_backlog_result *result);
/* Nothing can be sent because of TEXT. */
void agent_report_fault(struct agent_report *report, const char *text);
/* A fault is over: requests can be made. */
void agent_report_able(struct agent_report *report);

/* Writes what changed into DIRECTORY, once a second at most; *TIMEOUT_MS (-1: none) is lowered to
 * when the next time is. NOW: milliseconds, -1 for at once. */
void agent_report_publish(struct agent_report *report, int directory, int64_t now_ms,
			  int64_t *timeout_ms);

#endif
