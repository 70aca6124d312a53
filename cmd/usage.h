/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_USAGE_H
#define LENS_CMD_USAGE_H

#include <stdbool.h>

/* What a subcommand, COMMAND, says of its own command line. */

/* A line on standard error: what is wrong, and where help is. Returns -1. */
int usage_wrong(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same of what getopt_long did not take: OPTION is what it returned, opterr being 0. */
int usage_unknown(const char *command, int option, char *const *argv);

/* Takes the VALUE of --format, text or json. 0, or -1 after a line on standard error. */
int usage_format(bool *json, const char *command, const char *value);

/*
 * For a reader of options that returned PARSED: 0 to go on, 1 when HELP was asked for, -1 after a
 * line on standard error. Whether the command is over, with *STATUS then; it has said the rest.
 */
bool usage_ends(int *status, const char *command, const char *help, int parsed);

#endif
