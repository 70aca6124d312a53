/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cmd/agent.h"

#include "cmd/command.h"
#include "lib/core/lock.h"
#include "lib/core/statedir.h"
#include "lib/core/text.h"

#include <stdlib.h>
#include <unistd.h>

#define USER_AGENT "OTel-OTLP-Exporter-slurm-lens/" PACKAGE_VERSION

/* What the lock file says about its holder; the caller frees. */
static char *lock_line(const struct agent_options *options)
{
	struct lens_text text = LENS_TEXT_INIT;

	lens_text_adds(&text, PACKAGE_VERSION);
	for (int i = 1; i < options->argc; i++)
		lens_text_addf(&text, " %s", options->argv[i]);
	for (size_t i = 0; text.data != NULL && i < text.length; i++) {
		if (text.data[i] == '\n')
			text.data[i] = ' ';
	}
	return lens_text_take(&text);
}

int agent_open(struct agent *agent, bool *held)
{
	struct lens_error err = LENS_ERROR_INIT;
	char *line = lock_line(agent->options);

	*held = false;
	agent->lock = -1;
	agent->directory =
		lens_statedir_open(agent->config->state_dir, !agent->options->once, &err);
	if (agent->directory == -1 || line == NULL) {
		agent_log_say(agent->log, "%s", line == NULL ? "out of memory" : err.text);
		free(line);
		return LENS_EXIT_ENVIRONMENT;
	}
	agent->lock = lens_lock_take(agent->directory, line, &err);
	free(line);
	if (agent->lock >= 0)
		return LENS_EXIT_OK;
	*held = agent->lock == -2;
	if (!*held)
		agent_log_say(agent->log, "%s", err.text);
	return LENS_EXIT_ENVIRONMENT;
}

static void exporter_create(struct agent *agent)
{
	const struct lens_config *config = agent->config;
	bool file = lens_config_protocol(config) == LENS_PROTOCOL_FILE;
	struct lens_exporter_settings settings = {
		.kind = file ? LENS_EXPORTER_FILE : LENS_EXPORTER_HTTP_PROTOBUF,
		.endpoint = config->endpoint,
		.file = config->file,
		.timeout_ms = config->timeout_ms,
		.user_agent = USER_AGENT,
		.cancelled = agent_cancelled,
		.cancelled_context = agent,
	};
	struct lens_error err = LENS_ERROR_INIT;

	agent->exporter = lens_exporter_create(&settings, &err);
	if (agent->exporter == NULL)
		agent_log_say(agent->log, "%s; the spans wait until that is set right", err.text);
}

int agent_connect(struct agent *agent)
{
	struct lens_job_site site = { .realm = agent->config->realm,
				      .service_name = agent->config->service_name,
				      .version = PACKAGE_VERSION };
	struct lens_backlog_hooks hooks;

	exporter_create(agent);
	agent_hooks_fill(&hooks, agent);
	agent->backlog = lens_backlog_create(agent->directory, &site, &hooks);
	if (agent->backlog == NULL)
		agent_log_say(agent->log, "out of memory");
	return agent->backlog == NULL ? -1 : 0;
}

void agent_disconnect(struct agent *agent)
{
	lens_backlog_destroy(agent->backlog);
	agent->backlog = NULL;
	lens_exporter_destroy(agent->exporter);
	agent->exporter = NULL;
}

void agent_close(struct agent *agent)
{
	agent_disconnect(agent);
	if (agent->lock >= 0)
		close(agent->lock);
	if (agent->directory != -1)
		close(agent->directory);
	lens_config_destroy(agent->config);
}
