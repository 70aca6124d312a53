/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_SHOW_RUN_H
#define LENS_CMD_SHOW_RUN_H

#include "cmd/show_collect.h"
#include "cmd/show_options.h"

/* A run of `slurm-lens show`, as its files share it. */
struct show_run {
	struct show_options *options;
	struct show_files *files;
	struct show_index *index;
	struct show_collect *collect;
	struct terminal terminal;
	const char *where; /* the file or directory, for messages */
	struct show_skipped skipped;
};

/*
 * Reads all lines as HOW says and finds out which jobs there are. 0; -1 after a line on standard
 * error.
 */
int show_run_index(struct show_run *run, enum show_read how);

/*
 * Aims at entry FIRST of the index and its group, then reads all again for their spans. 0; -1
 * after a line on standard error.
 */
int show_run_collect(struct show_run *run, size_t first, enum show_read how);

/* Which entry is meant: 1 and *FIRST, 0 when there are several or none. */
int show_run_choose(const struct show_run *run, size_t *first);

/* show_follow.c: shows it again and again. An enum lens_exit. */
int show_follow(struct show_run *run);

/* Writes TEXT out, or says that there is no memory: an enum lens_exit. Clears it. */
int show_run_put(struct lens_text *text);

/* A line on standard error: what was skipped, if anything. */
void show_run_skipped(const struct show_run *run);

#endif
