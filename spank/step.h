/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_SPANK_STEP_H
#define LENS_SPANK_STEP_H

#include <slurm/spank.h>

/*
 * slurmstepd of a batch script, an interactive shell or a step, and the tasks it forks; of the
 * extern step only its end may be told (spank/extern.h). lens_context.step is what one of
 * lens's keeps in memory.
 */
struct lens_step;

/* init_post_opt, as root, one thread of ours: settings, note and journal are opened and
 * read here, for no later hook can (user's ids, a container's file system). */
void lens_step_open(spank_t sp, int argc, char **argv);

/* task_init, in the task's process: the environment becomes the task's own. */
void lens_step_task_init(spank_t sp);

/* task_exit, in slurmstepd. Its time is not the task's end: slurmstepd reaps in
 * batches, up to 0.1 s late (measured). */
void lens_step_task_exit(spank_t sp);

/* exit: the only hook that is sure to come at the end. */
void lens_step_close(void);

#endif
