/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/emit.h"

#include "cmd/command.h"
#include "cmd/emit_run.h"
#include "lib/core/env.h"
#include "lib/core/traceparent.h"
#include "lib/job/wait_status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The command has ended, and somebody may wait for its status: what a site has set for programs
 * that export as they run is too long. Milliseconds. */
#define TIMEOUT_MS 2000

#define SIGNAL_STATUS 128

static int cannot_run(const char *command, int error)
{
	emit_say("%s: %s", command, strerror(error));
	return emit_exec_status(error);
}

/* The command's environment: its span is the parent of what it traces itself. NULL after a line on
 * standard error. */
static struct lens_env *environment(const struct emit_settings *settings,
				    const struct lens_span_id *id)
{
	struct lens_traceparent own = { settings->trace, *id, settings->flags };
	struct lens_env *env = lens_env_create(environ);
	char text[LENS_TRACEPARENT_TEXT];

	lens_traceparent_format(text, &own);
	/* Another trace's state means nothing in a new one. */
	if (env != NULL && lens_env_set(env, "TRACEPARENT", text) == 0 &&
	    (settings->has_parent || lens_env_set(env, "TRACESTATE", NULL) == 0))
		return env;
	emit_say("the command has no span: out of memory");
	lens_env_destroy(env);
	return NULL;
}

static int member_add(struct lens_interval *interval, const char *key, json_object *value)
{
	if (interval->attributes == NULL)
		interval->attributes = json_object_new_object();
	if (value == NULL || interval->attributes == NULL)
		return -1;
	return json_object_object_add(interval->attributes, key, value);
}

static int arguments_add(struct lens_interval *interval, char **command)
{
	json_object *array = json_object_new_array();

	for (; array != NULL && *command != NULL; command++) {
		if (json_object_array_add(array, json_object_new_string(*command)) != 0)
			return -1;
	}
	return member_add(interval, "process.command_args", array);
}

/* ERROR with TYPE, which is `error.type`. */
static int error_set(struct lens_interval *interval, const char *type, const char *message)
{
	interval->status = LENS_STATUS_ERROR;
	interval->message = strdup(message);
	return interval->message != NULL ? lens_interval_attribute(interval, "error.type", type)
					 : -1;
}

static int outcome_add(struct lens_interval *interval, const struct emit_run *run)
{
	struct lens_wait_status status = lens_wait_status_decode((uint32_t)run->status);
	char type[LENS_ERROR_TYPE], message[64];

	if (run->exec_error != 0)
		return error_set(interval,
				 emit_exec_status(run->exec_error) == 127 ? "command_not_found"
									  : "command_not_runnable",
				 strerror(run->exec_error));
	if (status.signal == 0 &&
	    member_add(interval, "process.exit.code", json_object_new_int(status.exit_code)) == -1)
		return -1;
	lens_wait_status_type(type, &status);
	if (type[0] == '\0')
		return 0;
	if (status.signal == 0)
		snprintf(message, sizeof(message), "exit code %d", status.exit_code);
	else
		snprintf(message, sizeof(message), "ended by %s", type);
	return error_set(interval, type, message);
}

static int interval_fill(struct lens_interval *interval, const struct emit_options *options,
			 const struct emit_run *run)
{
	const char *command = options->command[0];
	const char *slash = strrchr(command, '/');
	const char *name = options->name;

	if (name == NULL)
		name = slash != NULL && slash[1] != '\0' ? slash + 1 : command;
	interval->name = strdup(*name != '\0' ? name : "command");
	interval->start_ns = run->start_ns;
	interval->end_ns = run->end_ns;
	if (interval->name == NULL ||
	    lens_interval_attribute(interval, "process.command", command) == -1 ||
	    member_add(interval, "process.pid", json_object_new_int64(run->pid)) == -1 ||
	    outcome_add(interval, run) == -1)
		return -1;
	if (options->command_args && arguments_add(interval, options->command) == -1)
		return -1;
	if (options->kind != NULL && lens_interval_kind(interval, options->kind) == -1)
		return -1;
	for (size_t i = 0; i < options->attributes.count; i++) {
		if (emit_attribute_set(interval, options->attributes.items[i], true) == -1)
			return -1;
	}
	return 0;
}

static void span_send(const struct emit_options *options, struct emit_settings *settings,
		      const struct lens_span_id *id, const struct emit_run *run)
{
	struct lens_intervals list = LENS_INTERVALS_INIT;
	struct lens_interval *interval = lens_intervals_grow(&list);

	if (!options->timeout_set &&
	    (settings->timeout_ms == 0 || settings->timeout_ms > TIMEOUT_MS))
		settings->timeout_ms = TIMEOUT_MS;
	/* The command's standard output is the command's. */
	if (interval == NULL || interval_fill(interval, options, run) == -1)
		emit_say("out of memory");
	else
		emit_send(settings, options->verbose, &list, id, emit_run_stopped, stderr);
	lens_intervals_clear(&list);
}

static int run_in_span(const struct emit_options *options, struct emit_settings *settings)
{
	struct lens_span_id *id = emit_ids(1);
	struct lens_env *env = id != NULL ? environment(settings, id) : NULL;
	struct emit_run run;
	int status;

	/* The command runs also where it cannot be traced. */
	if (env == NULL || emit_run(&run, options->command, lens_env_array(env)) == -1) {
		if (env != NULL)
			emit_say("the command has no span: %m");
		status = cannot_run(options->command[0], emit_become(options->command, environ));
		goto out;
	}
	if (run.exec_error != 0)
		status = cannot_run(options->command[0], run.exec_error);
	else if (WIFSIGNALED(run.status))
		status = SIGNAL_STATUS + WTERMSIG(run.status);
	else
		status = WEXITSTATUS(run.status);
	span_send(options, settings, id, &run);
out:
	lens_env_destroy(env);
	free(id);
	return status;
}

int emit_command(const struct emit_options *options)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct emit_settings settings;
	int status;

	if (emit_settings_read(&settings, options, environ, &err) == -1)
		emit_say("the command has no span: %s", err.text);
	else if (settings.off[0] != '\0' && options->verbose)
		emit_say("the command has no span: %s", settings.off);
	if (err.text[0] != '\0' || settings.off[0] != '\0')
		status = cannot_run(options->command[0], emit_become(options->command, environ));
	else
		status = run_in_span(options, &settings);
	emit_settings_clear(&settings);
	return status;
}
