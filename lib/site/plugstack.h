/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_SITE_PLUGSTACK_H
#define LENS_SITE_PLUGSTACK_H

#include "lib/core/error.h"

#include <stdbool.h>
#include <stddef.h>

/* A line of plugstack.conf that names a plugin. */
struct lens_plugstack_line {
	char *file; /* where it stands: plugstack.conf or a file that it includes */
	unsigned int number;
	bool required; /* not optional */
	char *plugin;  /* as it is written */
	char **arguments;
	size_t argument_count;
};

/* The plugins in the order in which Slurm calls them. */
struct lens_plugstack {
	struct lens_plugstack_line *lines;
	size_t count;
};

/* Called for each line that Slurm does not take, or takes otherwise than it is meant; the text
 * begins with `FILE:LINE: `. */
typedef void lens_plugstack_problem_fn(void *context, const char *text);

/*
 * Reads plugstack.conf as Slurm does (measured on 22.05, src/common/plugstack.c): words between
 * blanks and tabs, without quotes; `#` begins a comment anywhere; `include` takes a pattern
 * of the shell, relative to the file that has it, and no match is no error; a line that it does
 * not understand is left out. 0, or -1 with ERR when PATH itself cannot be read. The caller
 * clears OUT either way.
 */
int lens_plugstack_read(struct lens_plugstack *out, const char *path,
			lens_plugstack_problem_fn *problem, void *context, struct lens_error *err);
void lens_plugstack_clear(struct lens_plugstack *stack);

/*
 * The path of PLUGIN, one that has no `/` at its begin looked for in PLUGIN_DIR, Slurm's
 * PluginDir: directories joined by `:`. NULL: it is in none of them, or memory ran out. The caller
 * frees.
 */
char *lens_plugstack_find(const char *plugin, const char *plugin_dir);

/* What lens's plugin is called where nobody has renamed it. */
#define LENS_PLUGIN_FILE "lens.so"

/* Whether LINE is lens's, whatever its file is called. */
bool lens_plugstack_is_lens(const struct lens_plugstack_line *line, const char *plugin_dir);

/*
 * Where plugstack.conf is on this machine: NAMED, slurm.conf's PlugStackConfig, else (it is "" or not
 * absolute) beside slurm.conf; a configless node has it from slurmd. The caller frees; NULL: no memory.
 */
char *lens_plugstack_path(const char *named);

#endif
