/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_AGENT_SENDER_H
#define LENS_CMD_AGENT_SENDER_H

#include "cmd/agent_log.h"
#include "lib/core/config.h"
#include "lib/otlp/exporter.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The sender process (cmd/sender.h) as the keeper has it: started, watched, started again with a
 * growing pause when it ends. Nothing here waits for it. What it says is not believed
 * further than it goes: an answer to what was not asked, or none in time, ends it.
 */
struct agent_sender;

enum agent_sender_event {
	AGENT_SENDER_NOTHING,
	AGENT_SENDER_READY,  /* it takes requests */
	AGENT_SENDER_ANSWER, /* RESULT is what came of the request */
	AGENT_SENDER_FAULT,  /* it cannot work; agent_sender_fault says why */
};

/* CONFIG and LOG must stay. The process is started by the first step. NULL: no memory. */
struct agent_sender *agent_sender_create(const struct lens_config *config,
					 enum lens_exporter_kind kind, const char *user_agent,
					 struct agent_log *log);
/* Ends the process, whatever it is at. */
void agent_sender_destroy(struct agent_sender *sender);

pid_t agent_sender_pid(const struct agent_sender *sender); /* 0: there is none */
/* Whether a request may be handed over: it runs, as far as is known, and has none. */
bool agent_sender_free(const struct agent_sender *sender);
const char *agent_sender_fault(const struct agent_sender *sender);

/* Hands BYTES, which are copied, over. 0; -1: no memory, or it is not free. */
int agent_sender_submit(struct agent_sender *sender, const uint8_t *bytes, size_t length);

/* What to wait for; *TIMEOUT_MS (-1: none) is lowered to the next deadline. */
void agent_sender_poll(const struct agent_sender *sender, struct pollfd *out, int64_t *timeout_ms);

/* Does what can be done. A request that was under way when the process ended is answered: RETRY. */
enum agent_sender_event agent_sender_step(struct agent_sender *sender,
					  struct lens_export_result *result);

#endif
