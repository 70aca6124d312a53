/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cmd/common_options.h"

#include "cmd/usage.h"
#include "lib/core/text.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Adds PREFIX and VALUE as one argument. */
static int argument_add(struct common_options *options, const char *command, const char *prefix,
			const char *value)
{
	struct lens_text text = LENS_TEXT_INIT;
	char **arguments =
		reallocarray(options->arguments, options->argument_count + 1, sizeof(*arguments));

	if (arguments == NULL)
		return usage_wrong(command, "out of memory");
	options->arguments = arguments;
	lens_text_addf(&text, "%s%s", prefix, value);
	arguments[options->argument_count] = lens_text_take(&text);
	if (arguments[options->argument_count] == NULL)
		return usage_wrong(command, "out of memory");
	options->argument_count++;
	return 0;
}

/* PATH, given with OPTION, as an absolute one; the caller frees. */
static char *path_whole(const char *command, const char *option, const char *path)
{
	struct lens_text text = LENS_TEXT_INIT;
	char *here = NULL;

	if (*path == '\0') {
		usage_wrong(command, "%s: its value is empty", option);
		return NULL;
	}
	if (*path != '/') {
		here = getcwd(NULL, 0);
		if (here == NULL) {
			usage_wrong(command, "%s %s: the present directory: %s", option, path,
				    strerror(errno));
			return NULL;
		}
		lens_text_addf(&text, "%s/", here);
		free(here);
	}
	lens_text_adds(&text, path);
	here = lens_text_take(&text);
	if (here == NULL)
		usage_wrong(command, "out of memory");
	return here;
}

static int config_take(struct common_options *out, const char *command)
{
	char *whole = path_whole(command, "--config", optarg);
	int rc = whole == NULL ? -1 : argument_add(out, command, "config=", whole);

	free(whole);
	return rc;
}

static int state_dir_take(struct common_options *out, const char *command)
{
	char *whole = path_whole(command, "--state-dir", optarg);

	if (whole == NULL)
		return -1;
	free(out->state_dir);
	out->state_dir = whole;
	return 0;
}

static int format_take(struct common_options *out, const char *command)
{
	out->json = strcmp(optarg, "json") == 0;
	return out->json || strcmp(optarg, "text") == 0
		       ? 0
		       : usage_refuse(command, "format", optarg, "text or json");
}

int common_options_take(struct common_options *out, const char *command, int option,
			char *const *argv)
{
	switch (option) {
	case COMMON_OPTION_CONFIG:
		return config_take(out, command);
	case COMMON_OPTION_SET:
		if (strchr(optarg, '=') == NULL)
			return usage_wrong(command, "--set %s: takes Key=Value", optarg);
		return argument_add(out, command, "", optarg);
	case COMMON_OPTION_STATE_DIR:
		return state_dir_take(out, command);
	case COMMON_OPTION_FORMAT:
		return format_take(out, command);
	case COMMON_OPTION_JSON:
		out->json = true;
		return 0;
	case COMMON_OPTION_HELP:
		out->help = true;
		return 0;
	default:
		return usage_unknown(command, option, argv);
	}
}

void common_options_clear(struct common_options *options)
{
	for (size_t i = 0; i < options->argument_count; i++)
		free(options->arguments[i]);
	free(options->arguments);
	free(options->state_dir);
	*options = (struct common_options){ 0 };
}
