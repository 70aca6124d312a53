/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_USAGE_H
#define LENS_CMD_USAGE_H

#include <stdbool.h>

/* What a subcommand, COMMAND, says of its own command line: a line on standard error with what is
 * wrong and where help is. */

/* Returns -1. */
int usage_wrong(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* VALUE of --OPTION is not TAKES, as `a number above 0`. Returns -1. */
int usage_refuse(const char *command, const char *option, const char *value, const char *takes);

/*
 * What getopt_long did not take: OPTION is what it returned. Its short options begin with a `:`, its
 * long ones have values of no character, and opterr is 0. Returns -1.
 */
int usage_unknown(const char *command, int option, char *const *argv);

/* For a command that takes only options, which are read: 0, or -1 where a word is left. */
int usage_words_none(const char *command, int argc, char *const *argv);

/*
 * For a reader of options that returned PARSED: 0 to go on, 1 when HELP was asked for, -1 after a
 * line on standard error. Whether the command is over, with *STATUS then.
 */
bool usage_ends(int *status, const char *help, int parsed);

#endif
