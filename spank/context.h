/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_SPANK_CONTEXT_H
#define LENS_SPANK_CONTEXT_H

#include "lib/core/config.h"
#include "lib/core/options.h"

#include <stdbool.h>

/*
 * The plugin's one object per process: Slurm's option callback brings no pointer of ours,
 * so it has to be found by name.
 */
struct lens_context {
	bool options_ready; /* init runs once per component of a het job, in one process */
	struct lens_options options;
	struct lens_config *config; /* NULL until loaded */
	bool inject;                /* srun: its tasks are told */
	char *submitter; /* TRACEPARENT that sbatch, salloc or srun was started with; or NULL */
	struct lens_step *step;     /* slurmstepd of a step that is lens's; else NULL */
	struct lens_extern *ending; /* slurmstepd of an extern step with no note; else NULL */
};

extern struct lens_context lens_context;

/*
 * Loads the settings from plugstack's arguments and lens.conf once. Problems go to
 * PROBLEM, which may be NULL. Returns the config, owned by lens_context; NULL: no memory.
 */
const struct lens_config *lens_context_load(int argc, char *const *argv,
					    lens_config_problem_fn *problem, void *context);

/* Frees what the process still holds. */
void lens_context_clear(void);

#endif
