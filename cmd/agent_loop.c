/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cmd/agent.h"

#include "cmd/command.h"
#include "lib/core/statedir.h"
#include "lib/otlp/retry.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Events are gathered so long: a job's end writes several files at once. */
#define GATHER_MS 200

enum { FD_SIGNALS, FD_EVENTS, FD_ASKS };

struct loop {
	struct agent *agent;
	int signals, events;
	bool stop;             /* SIGTERM */
	bool gone;             /* the state directory was removed */
	int64_t run_ms;        /* when to look through the directory; -1 not */
	int64_t send_ms;       /* not sent again before; 0 at once */
	unsigned int failures; /* of the receiver, in a row */
};

static void signals_fill(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
}

void agent_signals_block(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	signals_fill(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static int signals_open(void)
{
	sigset_t set;

	signals_fill(&set);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Watches the directory that is open, whatever its name leads to by now. */
static int events_open(int directory)
{
	char path[32];
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", directory);
	if (fd != -1 && inotify_add_watch(fd, path,
					  IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO |
						  IN_DELETE_SELF | IN_ONLYDIR) == -1) {
		close(fd);
		return -1;
	}
	return fd;
}

static void run_by(struct loop *loop, int64_t at_ms)
{
	if (loop->run_ms == -1 || at_ms < loop->run_ms)
		loop->run_ms = at_ms;
}

static void settings_reload(struct loop *loop)
{
	struct agent *agent = loop->agent;
	struct lens_config *config;

	agent_program_renew(agent);
	config = agent_settings_load(agent->options, agent->log);
	if (config == NULL)
		return;
	if (strcmp(config->state_dir, agent->config->state_dir) != 0)
		agent_log_say(agent->log,
			      "StateDir is %s now: this agent goes on with %s until "
			      "it is stopped",
			      config->state_dir, agent->config->state_dir);
	agent_disconnect(agent);
	lens_config_destroy(agent->config);
	agent->config = config;
	if (agent_connect(agent) == -1)
		loop->stop = true;
	loop->send_ms = 0;
	run_by(loop, agent_now_ms(agent));
	agent_log_say(agent->log, "settings were read again");
}

static void signals_read(struct loop *loop)
{
	struct signalfd_siginfo info;

	while (read(loop->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			settings_reload(loop);
		else
			loop->stop = true;
	}
}

static void event_take(struct loop *loop, const struct inotify_event *event)
{
	struct lens_state_name name;

	if ((event->mask & (IN_DELETE_SELF | IN_IGNORED)) != 0)
		loop->gone = true;
	/* The log and the lock lie in the directory too. */
	else if ((event->mask & IN_Q_OVERFLOW) != 0 ||
		 (event->len > 0 && lens_state_name_parse(&name, event->name) == 0))
		run_by(loop, agent_now_ms(loop->agent) + GATHER_MS);
}

static void events_read(struct loop *loop)
{
	char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t length;

	while ((length = read(loop->events, buffer, sizeof(buffer))) > 0) {
		for (char *at = buffer; at < buffer + length;) {
			const struct inotify_event *event = (const void *)at;

			event_take(loop, event);
			at += sizeof(*event) + event->len;
		}
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

static void run(struct loop *loop)
{
	struct agent *agent = loop->agent;
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_backlog_result result;
	bool may_send = agent_now_ms(agent) >= loop->send_ms;

	loop->run_ms = -1;
	if (lens_backlog_run(agent->backlog, may_send, &result, &err) == -1) {
		agent_log_say(agent->log, "%s", err.text);
		run_by(loop, agent_now_ms(agent) + 60 * 1000);
		return;
	}
	if (result.sent + result.dropped > 0 && loop->failures > 0) {
		agent_log_say(agent->log, "the receiver takes spans again");
		loop->failures = 0;
	}
	if (result.unsent && may_send)
		refused(loop, &result);
	if (result.unsent)
		run_by(loop, loop->send_ms);
	if (result.due_ms != -1)
		run_by(loop, result.due_ms);
}

/* Waits for something to happen and notes what; -1 when poll failed. */
static int wait_once(struct loop *loop)
{
	struct agent *agent = loop->agent;
	struct pollfd fds[FD_ASKS + AGENT_ASKS];
	int64_t timeout = -1;
	size_t asks;

	fds[FD_SIGNALS] = (struct pollfd){ .fd = loop->signals, .events = POLLIN };
	fds[FD_EVENTS] = (struct pollfd){ .fd = loop->events, .events = POLLIN };
	if (loop->run_ms != -1) {
		timeout = loop->run_ms - agent_now_ms(agent);
		timeout = timeout > 0 ? timeout : 0;
	}
	if (timeout > INT32_MAX)
		timeout = INT32_MAX;
	asks = agent_asks_poll(agent, fds + FD_ASKS, &timeout);
	if (poll(fds, FD_ASKS + asks, (int)timeout) == -1)
		return errno == EINTR ? 0 : -1;
	for (size_t i = 0; i < asks; i++) {
		if (fds[FD_ASKS + i].revents != 0)
			run_by(loop, 0);
	}
	/* A question's deadline ends the wait just as an answer does. */
	for (size_t i = 0; i < AGENT_ASKS; i++) {
		if (agent->asks[i] != NULL && lens_ask_remaining_ms(agent->asks[i]) == 0)
			run_by(loop, 0);
	}
	if (fds[FD_EVENTS].revents != 0)
		events_read(loop);
	if (fds[FD_SIGNALS].revents != 0)
		signals_read(loop);
	return 0;
}

static int loop_run(struct loop *loop)
{
	struct agent *agent = loop->agent;

	run_by(loop, 0);
	while (!loop->stop && !loop->gone) {
		if (loop->run_ms != -1 && loop->run_ms <= agent_now_ms(agent))
			run(loop);
		if (wait_once(loop) == -1) {
			agent_log_say(agent->log, "poll: %m");
			return LENS_EXIT_ENVIRONMENT;
		}
	}
	if (!loop->gone)
		return LENS_EXIT_OK;
	agent_log_say(agent->log, "%s was removed", agent->config->state_dir);
	return LENS_EXIT_ENVIRONMENT;
}

int agent_loop(struct agent *agent)
{
	struct loop loop = { .agent = agent, .run_ms = -1 };
	int status = LENS_EXIT_ENVIRONMENT;

	loop.signals = signals_open();
	loop.events = events_open(agent->directory);
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
