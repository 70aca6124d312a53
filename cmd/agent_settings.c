/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cmd/agent_settings.h"

#include "lib/core/path.h"
#include "lib/core/text.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPTION_CONFIG = 256, OPTION_STATE_DIR, OPTION_SET, OPTION_ONCE, OPTION_STOP, OPTION_HELP };

static const struct option long_options[] = {
	{ "config", required_argument, NULL, OPTION_CONFIG },
	{ "state-dir", required_argument, NULL, OPTION_STATE_DIR },
	{ "set", required_argument, NULL, OPTION_SET },
	{ "once", no_argument, NULL, OPTION_ONCE },
	{ "stop", no_argument, NULL, OPTION_STOP },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ 0 },
};

/* Adds PREFIX and VALUE as one argument. */
static int argument_add(struct agent_options *options, const char *prefix, const char *value,
			struct lens_error *err)
{
	struct lens_text text = LENS_TEXT_INIT;
	char **arguments =
		reallocarray(options->arguments, options->argument_count + 1, sizeof(*arguments));

	if (arguments == NULL)
		return lens_error_set(err, "out of memory");
	options->arguments = arguments;
	lens_text_addf(&text, "%s%s", prefix, value);
	arguments[options->argument_count] = lens_text_take(&text);
	if (arguments[options->argument_count] == NULL)
		return lens_error_set(err, "out of memory");
	options->argument_count++;
	return 0;
}

/* PATH, given with OPTION, as an absolute one; the caller frees. */
static char *path_whole(const char *option, const char *path, struct lens_error *err)
{
	struct lens_text text = LENS_TEXT_INIT;
	char *here = NULL;

	if (*path == '\0') {
		lens_error_set(err, "%s: its value is empty", option);
		return NULL;
	}
	if (*path != '/') {
		here = getcwd(NULL, 0);
		if (here == NULL) {
			lens_error_set(err, "%s %s: the present directory: %m", option, path);
			return NULL;
		}
		lens_text_addf(&text, "%s/", here);
		free(here);
	}
	lens_text_adds(&text, path);
	here = lens_text_take(&text);
	if (here == NULL)
		lens_error_set(err, "out of memory");
	return here;
}

int agent_options_config(struct agent_options *options, const char *path, struct lens_error *err)
{
	char *whole = path_whole("--config", path, err);
	int rc = whole == NULL ? -1 : argument_add(options, "config=", whole, err);

	free(whole);
	return rc;
}

int agent_options_set(struct agent_options *options, const char *text, struct lens_error *err)
{
	if (strchr(text, '=') == NULL)
		return lens_error_set(err, "--set %s: takes Key=Value", text);
	return argument_add(options, "", text, err);
}

int agent_options_state_dir(struct agent_options *options, const char *path, struct lens_error *err)
{
	char *whole = path_whole("--state-dir", path, err);

	if (whole == NULL)
		return -1;
	free(options->state_dir);
	options->state_dir = whole;
	return 0;
}

static int option_take(struct agent_options *out, int option, char **argv, struct lens_error *err)
{
	switch (option) {
	case OPTION_CONFIG:
		return agent_options_config(out, optarg, err);
	case OPTION_SET:
		return agent_options_set(out, optarg, err);
	case OPTION_STATE_DIR:
		return agent_options_state_dir(out, optarg, err);
	case OPTION_ONCE:
		out->once = true;
		return 0;
	case OPTION_STOP:
		out->stop = true;
		return 0;
	case OPTION_HELP:
		out->help = true;
		return 0;
	case ':':
		return lens_error_set(err, "%s: its value is missing", argv[optind - 1]);
	default:
		return lens_error_set(err, "%s: no such option", argv[optind - 1]);
	}
}

int agent_options_parse(struct agent_options *out, int argc, char **argv, struct lens_error *err)
{
	int option;

	memset(out, 0, sizeof(*out));
	out->argc = argc;
	out->argv = argv;
	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
		if (option_take(out, option, argv, err) == -1)
			return -1;
	}
	if (optind < argc)
		return lens_error_set(err, "%s: not expected here", argv[optind]);
	if (out->once && out->stop)
		return lens_error_set(err, "--once and --stop do not go together");
	return 0;
}

void agent_options_clear(struct agent_options *options)
{
	for (size_t i = 0; i < options->argument_count; i++)
		free(options->arguments[i]);
	free(options->arguments);
	free(options->state_dir);
	memset(options, 0, sizeof(*options));
}

static void problem_log(void *context, const char *text)
{
	agent_log_say(context, "%s", text);
}

struct lens_config *agent_settings_load(const struct agent_options *options, struct agent_log *log)
{
	struct lens_config *config = lens_config_create();
	char *path = lens_config_default_path();
	struct lens_error err = LENS_ERROR_INIT;

	if (config == NULL || path == NULL) {
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
