/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_SPANK_OPTIONS_H
#define LENS_SPANK_OPTIONS_H

#include <slurm/spank.h>

/* Registers every --lens option (in init, where Slurm wants it). */
void lens_options_register(spank_t sp);

/*
 * Slurm 22.05 loses sbatch's options in the batch step under --export=NONE; they are still
 * in the job's environment ENV as SLURM_SPANK__SLURM_SPANK_OPTION_lens_*. Takes them from
 * there when no option came by callback.
 */
void lens_options_recover(char *const *env);

#endif
