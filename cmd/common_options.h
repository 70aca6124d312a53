/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_COMMON_OPTIONS_H
#define LENS_CMD_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* The options that several commands have, so that each takes them in the same way. */
struct common_options {
	char **arguments; /* as plugstack would give them: --set's, and --config as config= */
	size_t argument_count;
	size_t site_count; /* so many of them, the first, are of plugstack.conf itself */
	char *state_dir;   /* NULL: not given */
	bool json, help;
};

/* What getopt_long returns for them. A command's own options begin with COMMON_OPTION_OWN. */
enum {
	COMMON_OPTION_CONFIG = 256,
	COMMON_OPTION_SET,
	COMMON_OPTION_STATE_DIR,
	COMMON_OPTION_FORMAT,
	COMMON_OPTION_JSON,
	COMMON_OPTION_HELP,
	COMMON_OPTION_OWN,
};

/* Rows of the table for getopt_long, which a command ends itself. */
/* clang-format off */
#define COMMON_OPTIONS_SETTINGS \
	{ "config", required_argument, NULL, COMMON_OPTION_CONFIG }, \
	{ "set", required_argument, NULL, COMMON_OPTION_SET }
#define COMMON_OPTIONS_STATE_DIR \
	{ "state-dir", required_argument, NULL, COMMON_OPTION_STATE_DIR }
#define COMMON_OPTIONS_FORMAT \
	{ "format", required_argument, NULL, COMMON_OPTION_FORMAT }, \
	{ "json", no_argument, NULL, COMMON_OPTION_JSON }
#define COMMON_OPTIONS_HELP \
	{ "help", no_argument, NULL, COMMON_OPTION_HELP }
/* clang-format on */

/*
 * Takes what getopt_long returned, OPTION, for COMMAND; one that is not the command's own is refused
 * here too. Settings hold absolute paths, people name files from where they are: a relative path is
 * of the present directory. 0, or -1 after a line on standard error.
 */
int common_options_take(struct common_options *out, const char *command, int option,
			char *const *argv);
void common_options_clear(struct common_options *options);

#endif
