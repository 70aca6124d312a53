/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cmd/agent.h"

#include "cmd/agent_settings.h"
#include "cmd/command.h"
#include "lib/otlp/retry.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Events are gathered so long: a job's end writes several files at once, and what they hold
 * shall go in one request. */
#define GATHER_MS 100

/* And up to so long more, by chance: the nodes of a large job have theirs at one moment, and the
 * collector shall not. */
#define SPREAD_MS 600

/* When to try again what failed here, not at the receiver. */
#define AGAIN_MS 60000

enum { FD_SIGNALS, FD_EVENTS, FD_SENDER, FD_ASKS };

struct loop {
	struct agent *agent;
	int signals, events;
	bool stop;             /* SIGTERM: what is ready is still sent */
	bool stop_now;         /* a second one */
	bool reload;           /* SIGHUP: once no request is under way */
	bool gone;             /* the state directory was removed */
	bool pending;          /* a request is under way */
	int64_t run_ms;        /* when to look through the directory; -1 not */
	int64_t send_ms;       /* not sent again before; 0 at once */
	unsigned int failures; /* of the receiver, in a row */
};

static void run_by(struct loop *loop, int64_t at_ms)
{
	if (loop->run_ms == -1 || at_ms < loop->run_ms)
		loop->run_ms = at_ms;
}

/* Something happened in the directory: it is looked through once that was gathered. */
static void run_gathered(struct loop *loop)
{
	int64_t soon_ms = agent_now_ms(loop->agent) + GATHER_MS;

	if (loop->run_ms == -1 || loop->run_ms > soon_ms + SPREAD_MS)
		run_by(loop, soon_ms + random() % SPREAD_MS);
}

static bool may_send(const struct loop *loop)
{
	return !loop->reload && agent_can_send(loop->agent) &&
	       agent_now_ms(loop->agent) >= loop->send_ms;
}

/* CONFIG, which is handed over, takes the place of the settings; NULL: they stay. */
static void settings_take(struct agent *agent, struct lens_config *config)
{
	if (config == NULL)
		return;
	if (strcmp(config->state_dir, agent->config->state_dir) != 0)
		agent_log_say(agent->log,
			      "StateDir is %s now: this agent goes on with %s until "
			      "it is stopped",
			      config->state_dir, agent->config->state_dir);
	lens_config_destroy(agent->config);
	agent->config = config;
	agent_log_say(agent->log, "settings were read again");
}

static void settings_reload(struct loop *loop)
{
	struct agent *agent = loop->agent;

	loop->reload = false;
	agent_disconnect(agent);
	agent_program_renew(agent);
	settings_take(agent, agent_settings_load(&agent->options->common, agent->log));
	agent_report_able(&agent->report);
	if (agent_connect(agent) == -1)
		loop->stop_now = true;
	loop->send_ms = 0;
	loop->failures = 0;
	run_by(loop, 0);
}

static void signals_read(struct loop *loop)
{
	struct signalfd_siginfo info;

	while (read(loop->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGHUP) {
			loop->reload = true;
			continue;
		}
		loop->stop_now = loop->stop;
		loop->stop = true;
		if (loop->agent->term_ms == 0)
			loop->agent->term_ms = agent_now_ms(loop->agent);
		run_by(loop, 0);
	}
}

static void refused(struct loop *loop, const struct lens_backlog_result *result)
{
	int64_t wait_ms;

	loop->failures++;
	wait_ms = lens_retry_backoff_ms(loop->failures, (uint32_t)random());
	if (result->retry_after_ms > wait_ms)
		wait_ms = result->retry_after_ms;
	loop->send_ms = agent_now_ms(loop->agent) + wait_ms;
	agent_log_say(loop->agent->log, "the receiver took nothing, the spans wait on disk: %s",
		      result->message);
}

/* What follows from a run, or from an answer. */
static void outcome(struct loop *loop, const struct lens_backlog_result *result)
{
	struct agent *agent = loop->agent;
	int64_t now = agent_now_ms(agent);

	agent_report_result(&agent->report, result);
	loop->pending = result->pending;
	if (result->sent + result->dropped > 0 && loop->failures > 0) {
		agent_log_say(agent->log, "the receiver takes spans again");
		loop->failures = 0;
	}
	if (result->refused)
		refused(loop, result);
	/* Without a sender the next run comes when it is ready. */
	if (result->unsent && !result->pending && agent_can_send(agent))
		run_by(loop, loop->send_ms > now ? loop->send_ms : now + AGAIN_MS);
	if (result->due_ms != -1)
		run_by(loop, result->due_ms);
}

static void run(struct loop *loop)
{
	struct agent *agent = loop->agent;
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_backlog_result result;

	loop->run_ms = -1;
	if (lens_backlog_run(agent->backlog, may_send(loop), &result, &err) == 0) {
		outcome(loop, &result);
		return;
	}
	agent_log_say(agent->log, "%s", err.text);
	agent_report_fault(&agent->report, err.text);
	run_by(loop, agent_now_ms(agent) + AGAIN_MS);
}

static void sender_look(struct loop *loop)
{
	struct agent *agent = loop->agent;
	bool before = agent_can_send(agent);
	struct lens_backlog_result result;
	struct lens_export_result answer;

	if (agent_sender_look(agent, &answer)) {
		lens_backlog_answer(agent->backlog, &answer, may_send(loop), &result);
		outcome(loop, &result);
	} else if (!before && agent_can_send(agent)) {
		run_by(loop, loop->send_ms);
	}
}

/* Milliseconds to wait at most, -1 for ever, given that TIMEOUT is one limit. */
static int timeout_of(const struct loop *loop, int64_t timeout)
{
	const struct agent *agent = loop->agent;
	int64_t now = agent_now_ms(loop->agent), due = loop->run_ms;

	if (loop->stop && (due == -1 || due > agent->term_ms + AGENT_FLUSH_MS))
		due = agent->term_ms + AGENT_FLUSH_MS;
	if (due != -1 && (timeout == -1 || due - now < timeout))
		timeout = due > now ? due - now : 0;
	return timeout > INT32_MAX ? INT32_MAX : (int)timeout;
}

static void asks_look(struct loop *loop, const struct pollfd *fds, size_t count)
{
	const struct agent *agent = loop->agent;

	for (size_t i = 0; i < count; i++) {
		if (fds[i].revents != 0)
			run_by(loop, 0);
	}
	/* A question's deadline ends the wait just as an answer does. */
	for (size_t i = 0; i < AGENT_ASKS; i++) {
		if (agent->asks[i] != NULL && lens_ask_remaining_ms(agent->asks[i]) == 0)
			run_by(loop, 0);
	}
}

/* Waits for something to happen and notes what; -1 when poll failed. */
static int wait_once(struct loop *loop)
{
	struct agent *agent = loop->agent;
	struct pollfd fds[FD_ASKS + AGENT_ASKS] = {
		[FD_SIGNALS] = { .fd = loop->signals, .events = POLLIN },
		[FD_EVENTS] = { .fd = loop->events, .events = POLLIN },
		[FD_SENDER] = { .fd = -1 },
	};
	int64_t timeout = -1;
	size_t asks = agent_asks_poll(agent, fds + FD_ASKS, &timeout);

	if (agent->sender != NULL)
		agent_sender_poll(agent->sender, &fds[FD_SENDER], &timeout);
	agent_report_publish(&agent->report, agent->directory, agent_now_ms(agent), &timeout);
	if (poll(fds, FD_ASKS + asks, timeout_of(loop, timeout)) == -1)
		return errno == EINTR ? 0 : -1;
	asks_look(loop, fds + FD_ASKS, asks);
	if (fds[FD_EVENTS].revents != 0 &&
	    agent_events_read(loop->events, agent->backlog, &loop->gone))
		run_gathered(loop);
	if (fds[FD_SIGNALS].revents != 0)
		signals_read(loop);
	sender_look(loop);
	return 0;
}

/* After SIGTERM: nothing is under way any more, or it shall not be waited for. */
static bool over(const struct loop *loop)
{
	int64_t now = agent_now_ms(loop->agent);

	if (loop->stop_now || loop->gone)
		return true;
	if (!loop->stop)
		return false;
	return loop->failures > 0 || now - loop->agent->term_ms >= AGENT_FLUSH_MS ||
	       (!loop->pending && (loop->run_ms == -1 || loop->run_ms > now));
}

static int loop_run(struct loop *loop)
{
	struct agent *agent = loop->agent;

	run_by(loop, 0);
	while (!over(loop)) {
		if (loop->reload && !loop->pending)
			settings_reload(loop);
		if (loop->run_ms != -1 && loop->run_ms <= agent_now_ms(agent))
			run(loop);
		if (!over(loop) && wait_once(loop) == -1) {
			agent_log_say(agent->log, "poll: %m");
			return LENS_EXIT_ENVIRONMENT;
		}
	}
	agent_report_publish(&agent->report, agent->directory, -1, NULL);
	if (!loop->gone)
		return LENS_EXIT_OK;
	agent_log_say(agent->log, "%s was removed", agent->config->state_dir);
	return LENS_EXIT_ENVIRONMENT;
}

int agent_loop(struct agent *agent)
{
	struct loop loop = { .agent = agent, .run_ms = -1 };
	int status = LENS_EXIT_ENVIRONMENT;

	loop.signals = agent_signals_open();
	loop.events = agent_events_open(agent->directory);
	if (loop.signals == -1 || loop.events == -1) {
		agent_log_say(agent->log, "signalfd or inotify: %m");
	} else {
		agent_log_say(agent->log, "%s has begun for %s", PACKAGE_VERSION,
			      agent->config->state_dir);
		status = loop_run(&loop);
		agent_log_say(agent->log, "ends; what was not sent stays on disk");
	}
	if (loop.events != -1)
		close(loop.events);
	if (loop.signals != -1)
		close(loop.signals);
	return status;
}
