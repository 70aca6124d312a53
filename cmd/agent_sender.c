/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/agent_sender.h"

#include "cmd/agent_sender_start.h"
#include "lib/core/clock.h"
#include "lib/core/frame.h"
#include "lib/otlp/relay.h"
#include "lib/otlp/retry.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Milliseconds. A user's name may be looked up in a directory that is slow; a request may be tried
 * a second time on a fresh connection. */
#define START_PATIENCE_MS  30000
#define ANSWER_PATIENCE_MS 15000

struct agent_sender {
	const struct lens_config *config;
	enum lens_exporter_kind kind;
	const char *user_agent;
	struct agent_log *log;
	pid_t pid; /* 0: no process */
	int fd;
	bool ready;
	bool busy; /* a request is under way */
	uint32_t number;
	struct lens_frame_reader reader;
	struct lens_frame_writer writer;
	int64_t deadline_ms;   /* to be ready, or to have answered; -1: nothing is awaited */
	int64_t start_ms;      /* no process: when to start one */
	unsigned int failures; /* since the last answer */
	char fault[512];       /* why it cannot work; "": it can, as far as is known */
};

struct agent_sender *agent_sender_create(const struct lens_config *config,
					 enum lens_exporter_kind kind, const char *user_agent,
					 struct agent_log *log)
{
	struct agent_sender *sender = calloc(1, sizeof(*sender));

	if (sender == NULL)
		return NULL;
	sender->config = config;
	sender->kind = kind;
	sender->user_agent = user_agent;
	sender->log = log;
	sender->fd = -1;
	sender->deadline_ms = -1;
	return sender;
}

/* The process is no more; how it ended is put into HOW. */
static void process_end(struct agent_sender *sender, char *how, size_t size)
{
	int status = 0;

	close(sender->fd);
	sender->fd = -1;
	kill(sender->pid, SIGKILL);
	while (waitpid(sender->pid, &status, 0) == -1 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		snprintf(how, size, "by signal %d", WTERMSIG(status));
	else
		snprintf(how, size, "with status %d", WEXITSTATUS(status));
	sender->pid = 0;
	sender->ready = false;
	sender->deadline_ms = -1;
	lens_frame_reader_clear(&sender->reader);
	lens_frame_writer_clear(&sender->writer);
}

void agent_sender_destroy(struct agent_sender *sender)
{
	char how[32];

	if (sender == NULL)
		return;
	if (sender->pid != 0)
		process_end(sender, how, sizeof(how));
	free(sender);
}

pid_t agent_sender_pid(const struct agent_sender *sender)
{
	return sender->pid;
}

bool agent_sender_free(const struct agent_sender *sender)
{
	return sender->ready && !sender->busy;
}

const char *agent_sender_fault(const struct agent_sender *sender)
{
	return sender->fault;
}

static void pause_begin(struct agent_sender *sender)
{
	sender->failures++;
	sender->start_ms =
		lens_clock_ms() + lens_retry_backoff_ms(sender->failures, (uint32_t)random());
}

/* Notes that it cannot work because of TEXT; the same is said once. */
static enum agent_sender_event faulty(struct agent_sender *sender, const char *text)
{
	if (strcmp(sender->fault, text) != 0)
		agent_log_say(sender->log, "%s; the spans wait until that is set right", text);
	snprintf(sender->fault, sizeof(sender->fault), "%s", text);
	return AGENT_SENDER_FAULT;
}

static enum agent_sender_event start(struct agent_sender *sender)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_text settings = LENS_TEXT_INIT;
	int rc;

	pause_begin(sender);
	rc = agent_sender_settings(&settings, sender->config, sender->kind, sender->user_agent,
				   &err);
	if (rc == 0 && lens_frame_add(&sender->writer, LENS_RELAY_SETTINGS, settings.data,
				      settings.length) != 0)
		rc = lens_error_set(&err, "out of memory");
	if (settings.data != NULL)
		explicit_bzero(settings.data, settings.capacity);
	lens_text_clear(&settings);
	if (rc == 0)
		sender->pid = agent_sender_spawn(sender->config->agent_user, &sender->fd, &err);
	if (rc != 0 || sender->pid <= 0) {
		sender->pid = 0;
		lens_frame_writer_clear(&sender->writer);
		return faulty(sender, err.text);
	}
	lens_frame_reader_init(&sender->reader, LENS_RELAY_TO_KEEPER_MAX);
	sender->deadline_ms = lens_clock_ms() + START_PATIENCE_MS;
	return AGENT_SENDER_NOTHING;
}

/* The process has ended, or is ended for WHY. A request that was under way is answered. */
static enum agent_sender_event lost(struct agent_sender *sender, const char *why,
				    struct lens_export_result *result)
{
	pid_t pid = sender->pid;
	char how[32], text[256];

	process_end(sender, how, sizeof(how));
	if (sender->failures == 0)
		pause_begin(sender);
	snprintf(text, sizeof(text), "the sender (pid %d) ended %s (%s)", (int)pid, how, why);
	agent_log_say(sender->log, "%s; another one is started", text);
	if (!sender->busy) {
		snprintf(sender->fault, sizeof(sender->fault), "%s", text);
		return AGENT_SENDER_FAULT;
	}
	sender->busy = false;
	*result =
		(struct lens_export_result){ .verdict = LENS_VERDICT_RETRY, .retry_after_ms = -1 };
	snprintf(result->message, sizeof(result->message), "%s", text);
	return AGENT_SENDER_ANSWER;
}

static enum agent_sender_event heard(struct agent_sender *sender, struct lens_export_result *result)
{
	const struct lens_frame_reader *reader = &sender->reader;
	char text[sizeof(sender->fault)], how[32];
	uint32_t number;

	if (reader->kind == LENS_RELAY_READY && !sender->ready && reader->length == 0) {
		sender->ready = true;
		sender->deadline_ms = -1;
		sender->fault[0] = '\0';
		return AGENT_SENDER_READY;
	}
	if (reader->kind == LENS_RELAY_FAULT && !sender->ready) {
		lens_relay_text_read(text, sizeof(text), reader->body.data, reader->length);
		process_end(sender, how, sizeof(how));
		return faulty(sender, text);
	}
	if (reader->kind == LENS_RELAY_RESULT && sender->busy &&
	    lens_relay_result_read(result, &number, reader->body.data, reader->length) == 0 &&
	    number == sender->number) {
		sender->busy = false;
		sender->deadline_ms = -1;
		sender->failures = 0;
		return AGENT_SENDER_ANSWER;
	}
	return lost(sender, "it said what it should not", result);
}

int agent_sender_submit(struct agent_sender *sender, const uint8_t *bytes, size_t length)
{
	struct lens_text body = LENS_TEXT_INIT;
	int rc = -1;

	if (!agent_sender_free(sender))
		return -1;
	sender->number++;
	lens_text_add(&body, (const char *)&sender->number, sizeof(sender->number));
	lens_text_add(&body, (const char *)bytes, length);
	if (!body.failed)
		rc = lens_frame_add(&sender->writer, LENS_RELAY_REQUEST, body.data, body.length);
	lens_text_clear(&body);
	if (rc != 0)
		return -1;
	sender->busy = true;
	sender->deadline_ms =
		lens_clock_ms() + 2 * (int64_t)sender->config->timeout_ms + ANSWER_PATIENCE_MS;
	return 0;
}

void agent_sender_poll(const struct agent_sender *sender, struct pollfd *out, int64_t *timeout_ms)
{
	int64_t due_ms = sender->pid == 0 ? sender->start_ms : sender->deadline_ms;
	int64_t left;

	out->fd = sender->fd;
	out->events = POLLIN;
	if (sender->writer.bytes.length > 0)
		out->events |= POLLOUT;
	if (due_ms == -1)
		return;
	left = due_ms - lens_clock_ms();
	left = left > 0 ? left : 0;
	if (*timeout_ms == -1 || left < *timeout_ms)
		*timeout_ms = left;
}

enum agent_sender_event agent_sender_step(struct agent_sender *sender,
					  struct lens_export_result *result)
{
	struct lens_error err = LENS_ERROR_INIT;

	if (sender->pid == 0)
		return lens_clock_ms() >= sender->start_ms ? start(sender) : AGENT_SENDER_NOTHING;
	/* When writing fails there may still be a word of why to be read. */
	lens_frame_flush(&sender->writer, sender->fd);
	switch (lens_frame_read(&sender->reader, sender->fd, &err)) {
	case 1:
		return heard(sender, result);
	case -1:
		return lost(sender, err.text, result);
	}
	if (sender->deadline_ms != -1 && lens_clock_ms() >= sender->deadline_ms)
		return lost(sender, "it did not answer in time", result);
	return AGENT_SENDER_NOTHING;
}
