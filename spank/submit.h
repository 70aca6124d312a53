/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_SPANK_SUBMIT_H
#define LENS_SPANK_SUBMIT_H

#include <slurm/spank.h>

/* sbatch, salloc and srun: options and their check, the opt-in handed on. */

/* In srun only: takes what an outer level of lens set out of the environment, or Slurm's
 * `--export=ALL,NAME=value` would keep it in place of the user's value. */
void lens_submit_srun_init(void);

/* Once the options are read: checks the settings, hands the opt-in on and, when a new job is
 * made, leaves an outer job's identity behind. */
void lens_submit_post_opt(spank_t sp, int argc, char **argv);

/* In srun only, before it launches its step: hands on what the step needs to know of it. */
void lens_submit_srun_launch(spank_t sp);

void lens_submit_exit(void);

#endif
