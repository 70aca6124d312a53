/* SPDX-License-Identifier: Apache-2.0 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "lib/core/config.h"
#include "lib/core/config_file.h"
#include "lib/core/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#ifndef LENS_DEFAULT_AGENT_PATH
#define LENS_DEFAULT_AGENT_PATH "/usr/bin/slurm-lens"
#endif
#ifndef LENS_DEFAULT_STATE_DIR
#define LENS_DEFAULT_STATE_DIR "/var/spool/slurm-lens"
#endif
#define DEFAULT_FILE "/var/log/slurm-lens/traces.jsonl"

#ifndef LENS_SLURM_SYSCONFDIR
#define LENS_SLURM_SYSCONFDIR "/etc/slurm"
#endif

char *lens_config_path_beside(const char *name)
{
	const char *slurm_conf = getenv("SLURM_CONF");
	const char *slash = slurm_conf != NULL ? strrchr(slurm_conf, '/') : NULL;
	struct lens_text path = LENS_TEXT_INIT;

	if (slash != NULL && *slurm_conf == '/')
		lens_text_add(&path, slurm_conf, (size_t)(slash - slurm_conf));
	else
		lens_text_adds(&path, LENS_SLURM_SYSCONFDIR);
	lens_text_adds(&path, "/");
	lens_text_adds(&path, name);
	return lens_text_take(&path);
}

char *lens_config_default_path(void)
{
	return lens_config_path_beside("lens.conf");
}

/* Fills each string that is still NULL; -1 when memory ran out. */
static int fill_strings(struct lens_config *config)
{
	const struct {
		char **string;
		const char *value;
	} defaults[] = {
		{ &config->span_groups, "" },
		{ &config->attributes, "" },
		{ &config->task_service_name, "" },
		{ &config->task_endpoint, "" },
		{ &config->endpoint, "" },
		{ &config->file, DEFAULT_FILE },
		{ &config->proxy, "" },
		{ &config->headers_file, "" },
		{ &config->certificate_file, "" },
		{ &config->client_certificate_file, "" },
		{ &config->client_key_file, "" },
		{ &config->state_dir, LENS_DEFAULT_STATE_DIR },
		{ &config->agent_path, LENS_DEFAULT_AGENT_PATH },
		{ &config->agent_user, "nobody" },
		{ &config->service_name, "slurm" },
		{ &config->environment, "" },
		{ &config->realm, "" },
		{ &config->config_path, "" },
	};

	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
		*defaults[i].string = strdup(defaults[i].value);
		if (*defaults[i].string == NULL)
			return -1;
	}
	return 0;
}

struct lens_config *lens_config_create(void)
{
	struct lens_config *config = calloc(1, sizeof(*config));

	if (config == NULL)
		return NULL;
	config->inject = LENS_WHEN_OPTIN;
	config->job_spans = LENS_WHEN_OPTIN;
	config->strategy = (struct lens_strategy_choice){ LENS_STRATEGY_SINGLE_RANK, -1, 1.0 };
	config->ranks = LENS_RANKS_AUTO;
	config->outer = LENS_OUTER_LINK;
	config->gate = LENS_GATE_LENS;
	config->protocol = LENS_PROTOCOL_FILE;
	config->timeout_ms = 10000;
	config->problem_max = LENS_CONFIG_PROBLEMS;
	config->max_notes = 10000;
	config->max_spool = 256 * 1024 * 1024;
	config->agent = LENS_AGENT_AUTO;
	if (fill_strings(config) != 0) {
		lens_config_destroy(config);
		return NULL;
	}
	return config;
}

void lens_config_destroy(struct lens_config *config)
{
	int saved = errno;

	if (config == NULL)
		return;
	free(config->span_groups);
	free(config->attributes);
	free(config->task_service_name);
	free(config->task_endpoint);
	free(config->endpoint);
	free(config->file);
	free(config->proxy);
	free(config->headers_file);
	free(config->certificate_file);
	free(config->client_certificate_file);
	free(config->client_key_file);
	free(config->state_dir);
	free(config->agent_path);
	free(config->agent_user);
	free(config->service_name);
	free(config->environment);
	free(config->realm);
	free(config->config_path);
	for (size_t i = 0; i < config->argument_count; i++)
		free(config->arguments[i]);
	free(config->arguments);
	free(config);
	errno = saved;
}

/* The problems of one loading: counted, and handed on. */
struct load {
	struct lens_config *config;
	lens_config_problem_fn *problem;
	void *context;
	size_t problems;
};

static void load_problem(void *context, const char *text)
{
	struct load *load = context;

	load->problems++;
	if (load->problem != NULL)
		load->problem(load->context, text);
}

static void argument_problem(struct load *load, const char *text)
{
	struct lens_error line;

	lens_error_set(&line, "plugstack.conf: %s", text);
	load_problem(load, line.text);
}

static void no_memory(struct load *load)
{
	load->config->incomplete = true;
	argument_problem(load, "no memory");
}

static void keep_argument(struct load *load, const char *argument)
{
	struct lens_config *config = load->config;
	char **arguments =
		reallocarray(config->arguments, config->argument_count + 1, sizeof(*arguments));

	if (arguments != NULL) {
		config->arguments = arguments;
		arguments[config->argument_count] = strdup(argument);
		if (arguments[config->argument_count] != NULL) {
			config->argument_count++;
			return;
		}
	}
	no_memory(load);
}

static void set_path(struct load *load, const char *path)
{
	char *copy = strdup(path);

	if (copy == NULL) {
		no_memory(load);
		return;
	}
	free(load->config->config_path);
	load->config->config_path = copy;
}

/* Takes one argument; returns the PATH when it is config=PATH, else NULL. */
static const char *load_argument(struct load *load, const char *argument)
{
	const char *equals = strchr(argument, '=');
	struct lens_error err = LENS_ERROR_INIT;
	char *key;

	if (equals == NULL) {
		keep_argument(load, argument);
		argument_problem(load, "an argument without `=`: write Key=Value");
		return NULL;
	}
	if (strncasecmp(argument, "config=", strlen("config=")) == 0) {
		if (equals[1] == '/')
			return equals + 1;
		argument_problem(load, "config= takes an absolute path");
		return NULL;
	}
	keep_argument(load, argument);
	key = strndup(argument, (size_t)(equals - argument));
	if (key == NULL)
		no_memory(load);
	else if (lens_config_set(load->config, key, equals + 1, &err) != 0)
		argument_problem(load, err.text);
	free(key);
	return NULL;
}

/* What single keys cannot tell. */
static void check_together(struct load *load)
{
	const struct lens_config *config = load->config;
	struct lens_error line;

	if (lens_config_protocol(config) == LENS_PROTOCOL_FILE)
		return;
	if (*config->endpoint == '\0') {
		lens_error_set(&line, "lens.conf: Protocol=%s needs an Endpoint",
			       lens_protocol_name(config->protocol));
		load_problem(load, line.text);
	}
	if ((*config->client_certificate_file == '\0') != (*config->client_key_file == '\0'))
		load_problem(load,
			     "lens.conf: ClientCertificateFile and ClientKeyFile go together");
}

int lens_config_load(struct lens_config *config, int argument_count, char *const *arguments,
		     const char *default_path, lens_config_problem_fn *problem, void *context)
{
	struct load load = { config, problem, context, 0 };
	const char *named = NULL, *path;

	for (int i = 0; i < argument_count; i++) {
		path = load_argument(&load, arguments[i]);
		if (path != NULL)
			named = path;
	}
	path = named != NULL ? named : default_path;
	if (path != NULL) {
		set_path(&load, path);
		lens_config_file_read(config, path, named != NULL, load_problem, &load);
	}
	check_together(&load);
	return load.problems == 0 ? 0 : -1;
}

enum lens_protocol lens_config_protocol(const struct lens_config *config)
{
	if (config->protocol_set)
		return config->protocol;
	return *config->endpoint != '\0' ? LENS_PROTOCOL_HTTP_PROTOBUF : LENS_PROTOCOL_FILE;
}
