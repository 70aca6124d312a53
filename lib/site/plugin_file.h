/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_SITE_PLUGIN_FILE_H
#define LENS_SITE_PLUGIN_FILE_H

#include "lib/core/error.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What a plugin of Slurm says of itself in its file (slurm/spank.h, SLURM_VERSION_NUM of
 * slurm/slurm.h). It is read, not loaded: nothing of it runs.
 */
struct lens_plugin_file {
	uint32_t slurm;   /* plugin_version: the Slurm it was built for; 0 it says none */
	char name[64];    /* plugin_name; "" none */
	char type[64];    /* plugin_type: `spank`, `auth/munge` */
	char version[32]; /* spank_lens_version of lens.so; "" none */
	bool task_init;   /* it acts when a task starts */
};

/* Reads PATH, an ELF shared object for this machine. 0, or -1 with ERR. */
int lens_plugin_file_read(struct lens_plugin_file *out, const char *path, struct lens_error *err);

/* What the Slurm that is installed in PLUGIN_DIR (Slurm's PluginDir) is: the version of the first
 * plugin there that is Slurm's own. 0: none was found. */
uint32_t lens_plugin_dir_slurm(const char *plugin_dir);

/* Whether a Slurm of version RUNS loads a plugin built for BUILT: the same release, a
 * maintenance version apart at most. */
bool lens_plugin_fits(uint32_t built, uint32_t runs);

/* `22.05.8` for a version; `22.05.8` as a version, 0 when TEXT is none. */
#define LENS_SLURM_VERSION 16
void lens_slurm_version_format(char out[LENS_SLURM_VERSION], uint32_t version);
uint32_t lens_slurm_version_parse(const char *text);

#endif
