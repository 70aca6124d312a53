/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_SPANK_ASKED_H
#define LENS_SPANK_ASKED_H

#include <slurm/spank.h>

/*
 * What a step asks of GPUs stands in srun's command line alone: neither an item nor a variable
 * of the step has it (measured on 22.05). srun hands it to its step in LENS_ASKED_NAME, which no
 * task sees. In srun's local_user_init, where the command is known; a heterogeneous step is
 * left out.
 */
void lens_asked_hand_on(spank_t sp);

#endif
