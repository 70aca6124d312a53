/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_SHOW_OPTIONS_H
#define LENS_CMD_SHOW_OPTIONS_H

#include "cmd/common_options.h"
#include "cmd/show_index.h"
#include "cmd/show_rows.h"
#include "cmd/terminal.h"

#include <stdbool.h>

/* The command line of `slurm-lens show`. Strings are ARGV's. */
struct show_options {
	const char *path; /* FILE or DIR; NULL: File of the settings */
	struct show_wish wish;
	struct show_limits limits;
	enum terminal_color color;
	size_t width;     /* 0: not given */
	const char *html; /* where the page goes; NULL: no page */
	bool follow;
	struct common_options common; /* --config, --set, --help */
};

/* 0; -1 after a line on standard error. The caller clears either way. */
int show_options_parse(struct show_options *out, int argc, char **argv);
void show_options_clear(struct show_options *options);

void show_help(void);

#endif
