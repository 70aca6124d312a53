/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cmd/check.h"

#include "cmd/agent_sender.h"
#include "cmd/agent_sender_start.h"
#include "cmd/agent_settings.h"
#include "cmd/command.h"
#include "lib/core/secret.h"
#include "lib/otlp/endpoint.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One receiver: where it is, and as whom it is talked to. */
struct receiver {
	const char *name;                 /* of the row */
	const char *key;                  /* the setting that names it */
	const struct lens_config *config; /* Endpoint is the receiver's */
	enum lens_exporter_kind kind;
	const char *credentials; /* what to do when it wants others */
};

/* The next event of SENDER, waited for. */
static enum agent_sender_event sender_wait(struct agent_sender *sender,
					   struct lens_export_result *result)
{
	enum agent_sender_event event;

	while ((event = agent_sender_step(sender, result)) == AGENT_SENDER_NOTHING) {
		struct pollfd fd;
		int64_t timeout_ms = -1;

		agent_sender_poll(sender, &fd, &timeout_ms);
		poll(&fd, 1, (int)timeout_ms);
	}
	return event;
}

/*
 * Asks as the agent does: by a sender of its own, as AgentUser when this is root. 0 with RESULT,
 * or -1 with ERR when it could not be asked.
 */
static int receiver_ask(const struct receiver *receiver, struct lens_export_result *result,
			struct lens_error *err)
{
	struct agent_sender *sender =
		agent_sender_create(receiver->config, receiver->kind, LENS_USER_AGENT, NULL);
	const uint8_t *bytes;
	size_t length;
	int rc = -1;

	if (sender == NULL)
		return lens_error_set(err, "out of memory");
	if (sender_wait(sender, result) != AGENT_SENDER_READY) {
		lens_error_set(err, "%s", agent_sender_fault(sender));
		goto out;
	}
	bytes = lens_exporter_empty(receiver->kind, &length);
	if (agent_sender_submit(sender, bytes, length) != 0)
		lens_error_set(err, "out of memory");
	else if (sender_wait(sender, result) != AGENT_SENDER_ANSWER)
		lens_error_set(err, "%s", agent_sender_fault(sender));
	else
		rc = 0;
out:
	agent_sender_destroy(sender);
	return rc;
}

static const char *remedy_of(const struct receiver *receiver, enum lens_trouble trouble)
{
	switch (trouble) {
	case LENS_TROUBLE_AWAY:
		return "is the receiver up, is its name and port right, and may this machine reach "
		       "it?";
	case LENS_TROUBLE_SILENT:
		return "a firewall may drop what goes there; a receiver that is slow needs a larger "
		       "Timeout";
	case LENS_TROUBLE_TLS:
		return "does the receiver speak TLS on this port, is its certificate for this name, "
		       "and CertificateFile of who signed it?";
	case LENS_TROUBLE_PROTOCOL:
		return "set Protocol to what listens there: by habit grpc is port 4317, "
		       "http/protobuf and http/json are 4318";
	case LENS_TROUBLE_CREDENTIALS:
		return receiver->credentials;
	case LENS_TROUBLE_PLACE:
		return "no receiver of traces is there: check the path (v1/traces is added to it) "
		       "and the port";
	case LENS_TROUBLE_BUSY:
		return "the receiver, or what stands before it, takes nothing now: look into its "
		       "own log";
	case LENS_TROUBLE_NONE:
	case LENS_TROUBLE_OTHER:
		break;
	}
	return "look into the receiver's own log";
}

static void result_say(struct check *check, const struct receiver *receiver,
		       const struct lens_export_result *result)
{
	char *shown = lens_endpoint_redact(receiver->config->endpoint);
	const char *protocol = lens_protocol_name(lens_config_protocol(receiver->config));

	if (result->verdict == LENS_VERDICT_DONE && *result->message == '\0') {
		check_add(check, CHECK_OK, receiver->name, "%s took an empty request (%s)",
			  shown != NULL ? shown : receiver->key, protocol);
	} else if (result->verdict == LENS_VERDICT_DONE) {
		check_add(check, CHECK_WARNING, receiver->name, "%s", result->message);
	} else {
		check_add(check, CHECK_FAIL, receiver->name, "%s (%s, an empty request)",
			  result->message, protocol);
		check_remedy(check, "%s", remedy_of(receiver, result->trouble));
	}
	free(shown);
}

static void receiver_check(struct check *check, const struct receiver *receiver)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_export_result result;

	signal(SIGPIPE, SIG_IGN);
	if (receiver_ask(receiver, &result, &err) == 0) {
		if (result.date != 0)
			check->receiver_skew = result.date - (int64_t)time(NULL);
		check->receiver_date = check->receiver_date || result.date != 0;
		result_say(check, receiver, &result);
		return;
	}
	check_add(check, CHECK_FAIL, receiver->name, "%s", err.text);
	check_remedy(check, "set it right: spans wait until then");
}

/* What is wrong with the files of secrets. True: all are as the agent needs them. */
static bool secrets_check(struct check *check)
{
	struct agent_secret_file files[AGENT_SECRET_FILES];
	struct lens_error err = LENS_ERROR_INIT;
	size_t named = 0, wrong = 0;

	agent_secret_files(files, check->config);
	for (size_t i = 0; i < AGENT_SECRET_FILES; i++) {
		struct lens_secret secret = { 0 };

		if (*files[i].path == '\0')
			continue;
		named++;
		if (!check->root)
			continue;
		if (lens_secret_read(&secret, files[i].path, files[i].private_file, &err) != 0) {
			wrong++;
			check_add(check, check->compute ? CHECK_FAIL : CHECK_WARNING, "secrets",
				  "%s: %s", files[i].key, err.text);
			check_remedy(check, "%s",
				     check->compute
					     ? "it must be root's own, in directories of root's"
					     : "no slurmd runs on this machine: compute nodes "
					       "need it, this one does not");
		}
		lens_secret_clear(&secret);
	}
	if (named == 0 || wrong > 0)
		return wrong == 0;
	if (check->root)
		check_add(check, CHECK_OK, "secrets", "%zu %s root's and closed to others", named,
			  named == 1 ? "file is" : "files are");
	return check->root;
}

static void endpoint_check(struct check *check)
{
	const struct lens_config *config = check->config;
	struct receiver receiver = {
		.name = "endpoint",
		.key = "Endpoint",
		.config = config,
		.kind = agent_exporter_kind(lens_config_protocol(config)),
		.credentials = "it wants other credentials: check what HeadersFile holds",
	};

	if (secrets_check(check)) {
		receiver_check(check, &receiver);
		return;
	}
	check_add(check, CHECK_WARNING, receiver.name,
		  "not asked: the files of secrets are not to be read here");
	check_remedy(check, "run this as root of a compute node");
}

static void file_check(struct check *check)
{
	const struct lens_config *config = check->config;
	struct lens_error err = LENS_ERROR_INIT;

	if (check->root && check->compute && agent_file_check(config->file, &err) != 0) {
		check_add(check, CHECK_FAIL, "endpoint", "File: %s", err.text);
		check_remedy(check, "root writes it: its directory must be root's");
	} else if (config->protocol_set) {
		check_add(check, CHECK_OK, "endpoint", "Protocol=file: each node keeps %s",
			  config->file);
	} else {
		check_add(check, CHECK_WARNING, "endpoint",
			  "no Endpoint is set: spans stay on their node, in %s", config->file);
		check_remedy(check, "set Endpoint, or Protocol=file if that is meant");
	}
}

/* The receiver of the tasks, with what the plugin tells them: no header and no certificate of
 * the agent's goes there. */
static void tasks_check(struct check *check)
{
	enum lens_protocol protocol = lens_config_protocol(check->config);
	struct lens_config *config = lens_config_create();
	struct receiver receiver = {
		.name = "tasks",
		.key = "TaskEndpoint",
		.config = config,
		.credentials = "it wants credentials, which lens gives to no task: users set "
			       "OTEL_EXPORTER_OTLP_HEADERS",
	};

	/* As the plugin: a site whose agent writes a file tells its tasks http/protobuf. */
	if (protocol == LENS_PROTOCOL_FILE)
		protocol = LENS_PROTOCOL_HTTP_PROTOBUF;
	receiver.kind = agent_exporter_kind(protocol);
	if (config == NULL ||
	    lens_config_set(config, "Endpoint", check->config->task_endpoint, NULL) != 0 ||
	    lens_config_set(config, "Protocol", lens_protocol_name(protocol), NULL) != 0 ||
	    lens_config_set(config, "AgentUser", check->config->agent_user, NULL) != 0) {
		check->rows.failed = true;
	} else {
		config->timeout_ms = check->config->timeout_ms;
		receiver_check(check, &receiver);
	}
	lens_config_destroy(config);
}

void check_receiver(struct check *check)
{
	const struct lens_config *config = check->config;

	if (lens_config_protocol(config) == LENS_PROTOCOL_FILE)
		file_check(check);
	else if (*config->endpoint != '\0')
		endpoint_check(check);
	if (*config->task_endpoint != '\0')
		tasks_check(check);
	else
		check_add(check, CHECK_OK, "tasks",
			  "no TaskEndpoint: tasks export where their user's "
			  "OTEL_EXPORTER_OTLP_ENDPOINT says, else to localhost");
}
