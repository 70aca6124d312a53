/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/agent_settings.h"

#include "cmd/site_arguments.h"
#include "lib/core/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void problem_log(void *context, const char *text)
{
	agent_log_say(context, "%s", text);
}

struct lens_config *agent_settings_load(struct common_options *options, struct agent_log *log)
{
	struct lens_config *config = lens_config_create();
	char *path = lens_config_default_path();
	struct lens_error err = LENS_ERROR_INIT;

	if (config == NULL || path == NULL || site_arguments_add(options) == -1) {
		lens_config_destroy(config);
		free(path);
		return NULL;
	}
	lens_config_load(config, (int)options->argument_count, options->arguments, path,
			 problem_log, log);
	if (options->state_dir != NULL &&
	    lens_config_set(config, "StateDir", options->state_dir, &err) == -1)
		agent_log_say(log, "--state-dir: %s", err.text);
	free(path);
	/* Spans would go where the settings that are missing did not say. */
	if (config->incomplete) {
		lens_config_destroy(config);
		return NULL;
	}
	return config;
}

int agent_file_check(const char *file, struct lens_error *err)
{
	const char *slash = strrchr(file, '/');
	char *directory = strndup(file, slash > file ? (size_t)(slash - file) : 1);
	int rc = -1;

	if (directory == NULL)
		return lens_error_set(err, "File %s: out of memory", file);
	if (access(directory, F_OK) == -1 && errno == ENOENT)
		rc = lens_path_check_parents(directory, geteuid(), err);
	else
		rc = lens_path_check_parents(file, geteuid(), err);
	free(directory);
	return rc;
}
