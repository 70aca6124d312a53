/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_AGENT_H
#define LENS_CMD_AGENT_H

#include "cmd/agent_log.h"
#include "cmd/agent_settings.h"
#include "lib/core/config.h"
#include "lib/core/error.h"
#include "lib/job/ask.h"
#include "lib/job/backlog.h"
#include "lib/otlp/exporter.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGENT_ASKS 8 /* more than the backlog asks at once */

/* The agent of one state directory: what the loop, --once and the signals share. */
struct agent {
	const struct agent_options *options;
	struct agent_log *log;
	struct lens_config *config;
	int directory;
	int lock;                       /* stays open: closing it would give the lock up */
	struct lens_exporter *exporter; /* NULL: the settings name none that works */
	struct lens_backlog *backlog;
	struct lens_ask *asks[AGENT_ASKS]; /* questions under way; NULL free */
	int64_t term_ms;                   /* when SIGTERM was first seen pending; 0 not */
};

/* agent_setup.c. Opens the state directory and takes the lock. LENS_EXIT_OK, or what to
 * exit with, said in the log. With *HELD set true another agent has the lock. */
int agent_open(struct agent *agent, bool *held);
/* Makes exporter and backlog by the settings; -1: no memory. A setting that does not work
 * is said, the spans then wait. */
int agent_connect(struct agent *agent);
void agent_disconnect(struct agent *agent);
void agent_close(struct agent *agent);

/* agent_hooks.c */
void agent_hooks_fill(struct lens_backlog_hooks *hooks, struct agent *agent);
int64_t agent_now_ms(void *agent);
bool agent_cancelled(void *agent); /* for the exporter: a running request is to be given up */
/* Puts the questions' descriptors into FDS (AGENT_ASKS of them); how many. *TIMEOUT_MS is
 * lowered to the first one's deadline (-1: none). */
size_t agent_asks_poll(const struct agent *agent, struct pollfd *fds, int64_t *timeout_ms);

/* agent_loop.c. Before the lock is taken: a slurmd that finds it held sends SIGHUP at once. */
void agent_signals_block(void);
/* Until SIGTERM. An enum lens_exit. */
int agent_loop(struct agent *agent);
/* agent_once.c: what is ready now. */
int agent_once(struct agent *agent);
/* agent_stop.c: ends the agent that holds the lock. */
int agent_stop(const struct lens_config *config, struct agent_log *log);

/* agent_program.c: the program's file as it was when this process began. */
void agent_program_remember(void);
/* Starts the program anew with the same arguments when its file has changed; returns when it has
 * not, or when that failed, which is said. */
void agent_program_renew(struct agent *agent);

#endif
