/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/agent.h"

#include "lib/core/clock.h"
#include "lib/otlp/relay.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int64_t agent_now_ms(void *agent)
{
	(void)agent;
	return lens_clock_ms();
}

/* RESULT says why nothing was sent. */
static bool not_sent(struct lens_export_result *result, const char *why)
{
	snprintf(result->message, sizeof(result->message), "%s", why);
	return false;
}

static bool hook_send(void *context, const struct lens_batch *batch,
		      struct lens_export_result *result)
{
	struct agent *agent = context;
	size_t length = 0;
	uint8_t *bytes;
	int rc;

	*result =
		(struct lens_export_result){ .verdict = LENS_VERDICT_RETRY, .retry_after_ms = -1 };
	if (agent->exporter != NULL) {
		lens_exporter_export(agent->exporter, batch, result);
		return false;
	}
	if (agent->sender == NULL)
		return not_sent(result, "no receiver is set up");
	bytes = lens_exporter_encode(agent->kind, batch, &length);
	if (bytes == NULL)
		return not_sent(result, "out of memory");
	if (length > LENS_RELAY_TO_SENDER_MAX - LENS_RELAY_REQUEST_HEAD) {
		free(bytes);
		result->verdict = LENS_VERDICT_SPLIT;
		return not_sent(result, "the request is too large");
	}
	rc = agent_sender_submit(agent->sender, bytes, length);
	free(bytes);
	return rc == 0 ? true : not_sent(result, "the sender takes nothing");
}

static void *hook_ask(void *context, uint32_t job, struct lens_error *err)
{
	struct agent *agent = context;

	for (size_t i = 0; i < AGENT_ASKS; i++) {
		if (agent->asks[i] != NULL)
			continue;
		agent->asks[i] = lens_ask_start(job, err);
		return agent->asks[i];
	}
	lens_error_set(err, "too many questions at once");
	return NULL;
}

static enum lens_reply hook_reply(void *context, void *question, struct lens_job_answer *out,
				  struct lens_error *err)
{
	(void)context;
	switch (lens_ask_finish(question, out, err)) {
	case 1:
		return LENS_REPLY_PENDING;
	case 0:
		return LENS_REPLY_ANSWER;
	default:
		return LENS_REPLY_NONE;
	}
}

static void hook_forget(void *context, void *question)
{
	struct agent *agent = context;

	for (size_t i = 0; i < AGENT_ASKS; i++) {
		if (agent->asks[i] == question)
			agent->asks[i] = NULL;
	}
	lens_ask_destroy(question);
}

/* The signals are blocked and read from a descriptor; one that came meanwhile is pending. */
static bool hook_stopping(void *context)
{
	struct agent *agent = context;
	sigset_t pending;

	if (agent->term_ms == 0) {
		sigemptyset(&pending);
		sigpending(&pending);
		if (sigismember(&pending, SIGTERM) || sigismember(&pending, SIGINT))
			agent->term_ms = agent_now_ms(agent);
	}
	return agent->term_ms != 0 && agent_now_ms(agent) - agent->term_ms >= AGENT_FLUSH_MS;
}

static void hook_log(void *context, const char *text)
{
	struct agent *agent = context;

	agent_log_say(agent->log, "%s", text);
}

void agent_hooks_fill(struct lens_backlog_hooks *hooks, struct agent *agent)
{
	*hooks = (struct lens_backlog_hooks){
		.context = agent,
		.send = hook_send,
		.ask = hook_ask,
		.reply = hook_reply,
		.forget = hook_forget,
		.now_ms = agent_now_ms,
		.stopping = hook_stopping,
		.log = hook_log,
	};
}

size_t agent_asks_poll(const struct agent *agent, struct pollfd *fds, int64_t *timeout_ms)
{
	size_t count = 0;

	for (size_t i = 0; i < AGENT_ASKS; i++) {
		int64_t left;

		if (agent->asks[i] == NULL)
			continue;
		fds[count++] =
			(struct pollfd){ .fd = lens_ask_fd(agent->asks[i]), .events = POLLIN };
		left = lens_ask_remaining_ms(agent->asks[i]);
		if (*timeout_ms == -1 || left < *timeout_ms)
			*timeout_ms = left;
	}
	return count;
}

bool agent_sender_look(struct agent *agent, struct lens_export_result *result)
{
	enum agent_sender_event event;

	if (agent->sender == NULL)
		return false;
	event = agent_sender_step(agent->sender, result);
	if (event == AGENT_SENDER_FAULT)
		agent_report_fault(&agent->report, agent_sender_fault(agent->sender));
	if (event == AGENT_SENDER_READY)
		agent_report_able(&agent->report);
	agent_report_sender(&agent->report, agent_sender_pid(agent->sender));
	return event == AGENT_SENDER_ANSWER;
}
