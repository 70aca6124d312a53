/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cmd/agent.h"

#include "cmd/agent_sender_start.h"
#include "cmd/agent_settings.h"
#include "cmd/command.h"
#include "lib/core/lock.h"
#include "lib/core/note.h"
#include "lib/core/statedir.h"
#include "lib/core/text.h"
#include "lib/job/backlog_memory.h"

#include <stdlib.h>
#include <unistd.h>

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

static void file_create(struct agent *agent)
{
	struct lens_exporter_settings settings = { .kind = LENS_EXPORTER_FILE,
						   .file = agent->config->file,
						   .file_make_directory = true };
	struct lens_error err = LENS_ERROR_INIT;

	if (agent_file_check(agent->config->file, &err) == 0)
		agent->exporter = lens_exporter_create(&settings, &err);
	if (agent->exporter != NULL)
		return;
	agent_log_say(agent->log, "%s; the spans wait until that is set right", err.text);
	agent_report_fault(&agent->report, err.text);
}

static void exporter_create(struct agent *agent)
{
	agent->kind = agent_exporter_kind(lens_config_protocol(agent->config));
	agent_report_receiver(&agent->report, agent->config);
	if (agent->kind == LENS_EXPORTER_FILE)
		file_create(agent);
	else
		agent->sender = agent_sender_create(agent->config, agent->kind, LENS_USER_AGENT,
						    agent->log);
}

bool agent_can_send(const struct agent *agent)
{
	return agent->exporter != NULL ||
	       (agent->sender != NULL && agent_sender_free(agent->sender));
}

int agent_connect(struct agent *agent)
{
	struct lens_job_site site = { .realm = agent->config->realm,
				      .service_name = agent->config->service_name,
				      .version = PACKAGE_VERSION };
	struct lens_backlog_hooks hooks;

	lens_note_sweep(agent->directory);
	exporter_create(agent);
	agent_hooks_fill(&hooks, agent);
	if (agent->memory == NULL)
		agent->memory = lens_memory_create();
	if (agent->memory != NULL)
		agent->backlog = lens_backlog_create(agent->directory, &site, &hooks);
	if (agent->backlog == NULL) {
		agent_log_say(agent->log, "out of memory");
		return -1;
	}
	lens_backlog_remember(agent->backlog, agent->memory);
	lens_backlog_limit(agent->backlog, agent->config->max_spool);
	return 0;
}

void agent_disconnect(struct agent *agent)
{
	lens_backlog_destroy(agent->backlog);
	agent->backlog = NULL;
	lens_exporter_destroy(agent->exporter);
	agent->exporter = NULL;
	agent_sender_destroy(agent->sender);
	agent->sender = NULL;
	agent_report_sender(&agent->report, 0);
}

void agent_close(struct agent *agent)
{
	agent_disconnect(agent);
	lens_memory_destroy(agent->memory);
	if (agent->lock >= 0)
		close(agent->lock);
	if (agent->directory != -1)
		close(agent->directory);
	lens_config_destroy(agent->config);
}
