/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/agent.h"

#include "cmd/command.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

#define ASK_ROUNDS 3 /* tries at a slurmctld that does not answer */

/* Waits for a question to be answered, or until the next try is due. */
static void once_wait(struct agent *agent, const struct lens_backlog_result *result)
{
	struct pollfd fds[AGENT_ASKS];
	int64_t timeout = -1, left;
	size_t count = agent_asks_poll(agent, fds, &timeout);

	if (result->asking == 0 && result->due_ms != -1) {
		left = result->due_ms - agent_now_ms(agent);
		timeout = left > 0 ? left : 0;
	}
	poll(fds, count, (int)(timeout == -1 ? 1000 : timeout));
}

static int verdict(struct agent *agent, const struct lens_backlog_result *result, uint64_t sent,
		   uint64_t dropped)
{
	printf("%" PRIu64 " spans sent, %" PRIu64 " refused for good\n", sent, dropped);
	if (result->unsent)
		agent_log_say(agent->log, "not everything could be sent: %s", result->message);
	if (result->asking + result->unanswered > 0)
		agent_log_say(agent->log, "slurmctld has not answered about %zu attempts of jobs",
			      result->asking + result->unanswered);
	return result->unsent || result->asking + result->unanswered > 0 ? LENS_EXIT_NO
									 : LENS_EXIT_OK;
}

int agent_once(struct agent *agent)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_backlog_result result;
	uint64_t sent = 0, dropped = 0;
	int rounds = 0;

	for (;;) {
		if (lens_backlog_run(agent->backlog, true, &result, &err) == -1) {
			agent_log_say(agent->log, "%s", err.text);
			return LENS_EXIT_ENVIRONMENT;
		}
		sent += result.sent;
		dropped += result.dropped;
		if (result.asking == 0 && result.unanswered == 0)
			break;
		if (result.unsent || (result.asking == 0 && ++rounds >= ASK_ROUNDS))
			break;
		once_wait(agent, &result);
	}
	return verdict(agent, &result, sent, dropped);
}
