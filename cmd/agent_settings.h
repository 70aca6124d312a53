/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_AGENT_SETTINGS_H
#define LENS_CMD_AGENT_SETTINGS_H

#include "cmd/agent_log.h"
#include "lib/core/config.h"
#include "lib/core/error.h"

#include <stdbool.h>
#include <stddef.h>

/* The command line of `slurm-lens agent`, and what other commands share with it. */
struct agent_options {
	bool once, stop, help;
	char *state_dir;  /* NULL: not given */
	char **arguments; /* as plugstack would give them: --set's, and --config as config= */
	size_t argument_count;
	int argc; /* the whole of it, to start the program anew */
	char **argv;
};

/* 0; -1 with ERR naming the option. The caller clears either way. */
int agent_options_parse(struct agent_options *out, int argc, char **argv, struct lens_error *err);
void agent_options_clear(struct agent_options *options);
/*
 * What --config, --set and --state-dir of any command give. Settings hold absolute paths, people
 * name files from where they are: a relative one is of the present directory. 0, or -1 with ERR
 * naming the option.
 */
int agent_options_config(struct agent_options *options, const char *path, struct lens_error *err);
int agent_options_set(struct agent_options *options, const char *text, struct lens_error *err);
int agent_options_state_dir(struct agent_options *options, const char *path,
			    struct lens_error *err);

/*
 * The settings as the plugin has them: lens.conf beats a --set, as it beats a plugstack
 * argument; --state-dir, which a person gives, beats both. Without --config lens.conf is
 * looked for beside slurm.conf (SLURM_CONF, else the built-in place). Every problem is a line in
 * LOG, the rest stands. The caller destroys; NULL: they could not be taken in whole (no memory, no
 * descriptor), and what is missing may be where the spans go.
 */
struct lens_config *agent_settings_load(const struct agent_options *options, struct agent_log *log);

/* Whether FILE, of the setting File, is in a place where nobody else may put something in its
 * stead: the keeper is root. Its directory, the last one, need not be there. 0, or -1 with ERR. */
int agent_file_check(const char *file, struct lens_error *err);

#endif
