/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_AGENT_SETTINGS_H
#define LENS_CMD_AGENT_SETTINGS_H

#include "cmd/agent_log.h"
#include "cmd/common_options.h"
#include "lib/core/config.h"
#include "lib/core/error.h"

/*
 * The settings as the plugin has them: lens.conf beats a --set, which beats an argument of
 * plugstack.conf's line (the plugin hands its own on as --set; a unit has none); --state-dir, which
 * a person gives, beats all. Without --config lens.conf is looked for beside slurm.conf (SLURM_CONF,
 * else the built-in place). Every problem is a line in LOG, the rest stands. The caller destroys; NULL: they could not be taken in whole (no memory, no
 * descriptor), and what is missing may be where the spans go.
 */
struct lens_config *agent_settings_load(struct common_options *options, struct agent_log *log);

/* Whether FILE, of the setting File, is in a place where nobody else may put something in its
 * stead: the keeper is root. Its directory, the last one, need not be there. 0, or -1 with ERR. */
int agent_file_check(const char *file, struct lens_error *err);

#endif
