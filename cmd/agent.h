/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_AGENT_H
#define LENS_CMD_AGENT_H

#include "cmd/agent_log.h"
#include "cmd/agent_report.h"
#include "cmd/agent_sender.h"
#include "cmd/common_options.h"
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

struct agent_options {
	struct common_options common; /* --config, --set, --state-dir, --help */
	bool once, stop;
	int argc; /* the whole of it, to start the program anew */
	char **argv;
};

/*
 * The agent of one state directory, its keeper: what the loop, --once and the signals share. A
 * file of root's is written by the keeper itself, all else is sent by the sender.
 */
struct agent {
	struct agent_options *options;
	struct agent_log *log;
	struct lens_config *config;
	int directory;
	int lock; /* stays open: closing it would give the lock up */
	enum lens_exporter_kind kind;
	struct lens_exporter *exporter; /* FILE; NULL: the settings name none that works */
	struct agent_sender *sender;    /* the other kinds; else NULL */
	struct lens_memory *memory;     /* outlives the backlog, which SIGHUP makes anew */
	struct lens_backlog *backlog;
	struct agent_report report;
	struct lens_ask *asks[AGENT_ASKS]; /* questions under way; NULL free */
	int64_t term_ms;                   /* when SIGTERM came; 0 not */
};

/* agent_setup.c. Opens the state directory and takes the lock. LENS_EXIT_OK, or what to
 * exit with, said in the log. With *HELD set true another agent has the lock. */
int agent_open(struct agent *agent, bool *held);
/* Makes exporter and backlog by the settings; -1: no memory. A setting that does not work
 * is said, the spans then wait. */
int agent_connect(struct agent *agent);
void agent_disconnect(struct agent *agent);
/* Whether a request can be handed on now. */
bool agent_can_send(const struct agent *agent);
void agent_close(struct agent *agent);

/* agent_hooks.c */
void agent_hooks_fill(struct lens_backlog_hooks *hooks, struct agent *agent);
int64_t agent_now_ms(void *agent);
/* How long the agent goes on sending what is ready after SIGTERM; milliseconds. Less than
 * `agent --stop` and systemd wait. */
#define AGENT_FLUSH_MS 10000
/* Puts the questions' descriptors into FDS (AGENT_ASKS of them); how many. *TIMEOUT_MS is
 * lowered to the first one's deadline (-1: none). */
size_t agent_asks_poll(const struct agent *agent, struct pollfd *fds, int64_t *timeout_ms);
/* Takes the sender's next step, if there is a sender. True: RESULT is the answer to the request
 * under way. */
bool agent_sender_look(struct agent *agent, struct lens_export_result *result);

/* agent_watch.c. Before the lock is taken: a slurmd that finds it held sends SIGHUP at once. */
void agent_signals_block(void);
/* A descriptor of the signals that are blocked, or -1. */
int agent_signals_open(void);
/* A descriptor of what happens in the directory that is open, or -1. */
int agent_events_open(int directory);
/* Reads all of them. Whether one of a note or journal is among them that BACKLOG did not make
 * itself; *GONE: the directory is. */
bool agent_events_read(int events, const struct lens_backlog *backlog, bool *gone);

/* agent_loop.c. Until SIGTERM. An enum lens_exit. */
int agent_loop(struct agent *agent);
/* agent_once.c: what is ready now. */
int agent_once(struct agent *agent);
/* agent_stop.c: ends the agent that holds the lock. */
int agent_stop(const struct lens_config *config, struct agent_log *log);

/* agent_program.c: the program's file as it was when this process began. */
void agent_program_remember(void);
/* Starts the program anew with the same arguments when its file has changed; returns when it has
 * not, or when that failed, which is said. AGENT is disconnected: the new one would not know its
 * children. */
void agent_program_renew(struct agent *agent);

#endif
