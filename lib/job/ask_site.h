/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_ASK_SITE_H
#define LENS_JOB_ASK_SITE_H

#include "lib/core/error.h"

#include <stdbool.h>
#include <stdint.h>

/* What slurmctld says of its configuration. Strings are never NULL. */
struct lens_site {
	char *version;    /* `22.05.8` */
	char *cluster;    /* ClusterName */
	char *plugstack;  /* PlugStackConfig */
	char *plugin_dir; /* PluginDir */
	/* PrologFlags. Slurm sets alloc with any of the others. */
	bool alloc, contain, run_in_job;
	int64_t now;      /* slurmctld's clock when it answered, seconds */
	int64_t asked;    /* this machine's, before ... */
	int64_t answered; /* ... and after */
};

/*
 * Asks slurmctld and waits, at most LENS_ASK_DEADLINE_MS. A root's question does not go where its
 * environment names another slurmctld than the slurm.conf in force (SLURM_CONF) does. The
 * caller must be single-threaded and clears OUT either way. 0, or -1 with ERR.
 */
int lens_site_ask(struct lens_site *out, struct lens_error *err);
void lens_site_clear(struct lens_site *site);

#endif
