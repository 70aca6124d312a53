/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/agent.h"

#include "cmd/command.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

#define ASK_ROUNDS 3   /* tries at a slurmctld that does not answer */
#define DUE_ROUNDS 100 /* runs in a row that made more work; a bound for what cannot end */

enum { FD_SENDER, FD_ASKS };

struct once {
	struct agent *agent;
	struct lens_backlog_result result;
	uint64_t sent, dropped;
	int rounds; /* of questions without an answer */
	int due_rounds;
};

static void result_count(struct once *once)
{
	once->sent += once->result.sent;
	once->dropped += once->result.dropped;
	agent_report_result(&once->agent->report, &once->result);
}

/* Waits until something answers, or until the next try is due. */
static void once_wait(struct once *once)
{
	struct agent *agent = once->agent;
	struct pollfd fds[FD_ASKS + AGENT_ASKS] = { { .fd = -1 } };
	int64_t timeout = -1, left;
	size_t count = agent_asks_poll(agent, fds + FD_ASKS, &timeout);

	if (agent->sender != NULL)
		agent_sender_poll(agent->sender, &fds[FD_SENDER], &timeout);
	if (!once->result.pending && once->result.asking == 0 && once->result.due_ms != -1) {
		left = once->result.due_ms - agent_now_ms(agent);
		left = left > 0 ? left : 0;
		timeout = timeout == -1 || left < timeout ? left : timeout;
	}
	poll(fds, FD_ASKS + count, (int)(timeout == -1 ? 1000 : timeout));
}

/* Until the sender is there, or cannot be. */
static bool sender_await(struct agent *agent)
{
	struct lens_export_result answer;

	while (!agent_can_send(agent)) {
		struct pollfd fd;
		int64_t timeout = -1;

		if (agent->sender == NULL)
			return false;
		agent_sender_poll(agent->sender, &fd, &timeout);
		poll(&fd, 1, (int)timeout);
		agent_sender_look(agent, &answer);
		if (agent_sender_fault(agent->sender)[0] != '\0')
			return false;
	}
	return true;
}

/* Until the request under way, and those that follow at once, are answered. */
static void answers_await(struct once *once)
{
	struct lens_export_result answer;

	while (once->result.pending) {
		once_wait(once);
		if (!agent_sender_look(once->agent, &answer))
			continue;
		lens_backlog_answer(once->agent->backlog, &answer, agent_can_send(once->agent),
				    &once->result);
		result_count(once);
	}
}

static int verdict(struct once *once)
{
	const struct lens_backlog_result *result = &once->result;
	struct agent *agent = once->agent;
	size_t unanswered = result->asking + result->unanswered;
	const char *why = result->message;

	if (why[0] == '\0')
		why = agent->sender != NULL ? agent_sender_fault(agent->sender)
					    : "no receiver is set up";
	printf("%" PRIu64 " spans sent, %" PRIu64 " refused for good\n", once->sent, once->dropped);
	if (result->unsent)
		agent_log_say(agent->log, "not everything could be sent: %s", why);
	if (unanswered > 0)
		agent_log_say(agent->log, "slurmctld has not answered about %zu attempts of jobs",
			      unanswered);
	agent_report_publish(&agent->report, agent->directory, -1, NULL);
	return result->unsent || unanswered > 0 ? LENS_EXIT_NO : LENS_EXIT_OK;
}

/* Whether the run made work that is ready now: an attempt whose end slurmctld told, say. */
static bool is_due(struct once *once)
{
	int64_t due = once->result.due_ms;

	return due != -1 && due <= agent_now_ms(once->agent) && once->due_rounds++ < DUE_ROUNDS;
}

int agent_once(struct agent *agent)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct once once = { .agent = agent };
	const struct lens_backlog_result *result = &once.result;

	for (;;) {
		bool more;

		if (lens_backlog_run(agent->backlog, sender_await(agent), &once.result, &err) ==
		    -1) {
			agent_log_say(agent->log, "%s", err.text);
			return LENS_EXIT_ENVIRONMENT;
		}
		result_count(&once);
		more = result->pending;
		answers_await(&once);
		if (result->refused)
			break;
		if (more || is_due(&once))
			continue; /* what was settled may have been waited for */
		if (result->unsent || (result->asking == 0 && result->unanswered == 0))
			break;
		if (result->asking == 0 && ++once.rounds >= ASK_ROUNDS)
			break;
		once_wait(&once);
	}
	return verdict(&once);
}
