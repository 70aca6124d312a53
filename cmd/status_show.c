/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/status.h"

#include "cmd/json_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define STAMP 32

static const char *stamp(char out[STAMP], int64_t seconds)
{
	time_t when = (time_t)seconds;
	struct tm parts;

	if (gmtime_r(&when, &parts) == NULL ||
	    strftime(out, STAMP, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
		out[0] = '\0';
	return out;
}

static void agent_text(const struct status_view *view)
{
	const struct lens_status *status = &view->status;
	char time_text[STAMP];

	if (view->holder == 0)
		printf("agent          none runs for %s\n", view->state_dir);
	else
		printf("agent          pid %d for %s", (int)view->holder, view->state_dir);
	if (view->holder != 0 && view->known)
		printf(", since %s, version %s", stamp(time_text, status->started),
		       status->version);
	if (view->holder != 0)
		putchar('\n');
	if (!view->known)
		return;
	if (view->holder != 0 && status->sender != 0)
		printf("sender         pid %" PRIu32 "\n", status->sender);
	printf("receiver       %s (%s)\n", status->receiver, status->protocol);
	printf("spans          %" PRIu64 " sent, %" PRIu64 " lost, %" PRIu64
	       " requests put off, since %s\n",
	       status->sent, status->dropped, status->retried, stamp(time_text, status->started));
	if (status->sent_at != 0)
		printf("last sent      %s\n", stamp(time_text, status->sent_at));
	if (status->dropped_at != 0)
		printf("last lost      %s: %s\n", stamp(time_text, status->dropped_at),
		       status->dropped_why);
	if (status->error_at != 0)
		printf("last error     %s: %s%s\n", stamp(time_text, status->error_at),
		       status->error, status->failing_since == 0 ? " (over)" : "");
}

void status_show_text(const struct status_view *view)
{
	const struct lens_waiting *waiting = &view->waiting;
	char time_text[STAMP];

	agent_text(view);
	printf("journals       %zu open, %zu waiting\n", waiting->journals_open,
	       waiting->journals_waiting);
	printf("notes          %zu of running jobs, %zu waiting\n", waiting->notes,
	       waiting->notes_waiting);
	printf("on disk        %" PRIu64 " bytes\n", waiting->bytes);
	if (waiting->oldest != 0)
		printf("oldest unsent  %s\n", stamp(time_text, waiting->oldest));
	for (size_t i = 0; i < view->problem_count; i++)
		printf("PROBLEM        %s\n", view->problems[i]);
}

static void add_number(struct json_object *object, const char *key, uint64_t number)
{
	json_object_object_add(object, key, json_object_new_uint64(number));
}

static void add_text(struct json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, json_object_new_string(text));
}

/* Null for never. */
static void add_time(struct json_object *object, const char *key, int64_t seconds)
{
	char time_text[STAMP];

	json_object_object_add(object, key,
			       seconds == 0 ? NULL
					    : json_object_new_string(stamp(time_text, seconds)));
}

static struct json_object *agent_json(const struct status_view *view)
{
	const struct lens_status *status = &view->status;
	struct json_object *agent = json_object_new_object();

	json_object_object_add(agent, "running", json_object_new_boolean(view->holder != 0));
	add_number(agent, "pid", (uint64_t)view->holder);
	if (!view->known)
		return agent;
	add_number(agent, "sender_pid", view->holder != 0 ? status->sender : 0);
	add_text(agent, "version", status->version);
	add_time(agent, "since", status->started);
	add_text(agent, "protocol", status->protocol);
	add_text(agent, "receiver", status->receiver);
	add_number(agent, "spans_sent", status->sent);
	add_number(agent, "spans_dropped", status->dropped);
	add_text(agent, "dropped_why", status->dropped_why);
	add_time(agent, "dropped_at", status->dropped_at);
	add_number(agent, "requests_retried", status->retried);
	add_time(agent, "sent_at", status->sent_at);
	add_time(agent, "failing_since", status->failing_since);
	add_text(agent, "error", status->error);
	add_time(agent, "error_at", status->error_at);
	return agent;
}

int status_show_json(const struct status_view *view)
{
	const struct lens_waiting *waiting = &view->waiting;
	struct json_object *root = json_object_new_object();
	struct json_object *problems = json_object_new_array();

	add_text(root, "state_dir", view->state_dir);
	json_object_object_add(root, "agent", agent_json(view));
	add_number(root, "journals_open", waiting->journals_open);
	add_number(root, "journals_waiting", waiting->journals_waiting);
	add_number(root, "notes", waiting->notes);
	add_number(root, "notes_waiting", waiting->notes_waiting);
	add_number(root, "bytes", waiting->bytes);
	add_time(root, "oldest_unsent", waiting->oldest);
	for (size_t i = 0; i < view->problem_count; i++)
		json_object_array_add(problems, json_object_new_string(view->problems[i]));
	json_object_object_add(root, "problems", problems);
	return json_print(root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
}
