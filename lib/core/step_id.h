/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_STEP_ID_H
#define LENS_CORE_STEP_ID_H

#include <stdint.h>

/* Slurm's own numbers of steps that srun did not make (slurm.h, all releases). */
#define LENS_STEP_EXTERN      4294967292U
#define LENS_STEP_BATCH       4294967291U
#define LENS_STEP_INTERACTIVE 4294967290U

/* STEP as places and slurm.step.id name it: "batch", "interactive", "extern", "0". */
#define LENS_STEP_TEXT 16
void lens_step_text(char out[LENS_STEP_TEXT], uint32_t step);

#endif
