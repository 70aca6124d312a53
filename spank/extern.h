/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_SPANK_EXTERN_H
#define LENS_SPANK_EXTERN_H

#include <slurm/spank.h>

/*
 * The extern step. Where Slurm runs no SPANK prolog and epilog (PrologFlags=RunInJob, 24.11 and
 * later) its end is the job's on the node: the step begins before and ends after all else of the
 * job, or Slurm is ending the job. No option reaches it: whether the job is lens's is known by
 * the journals that there are. lens_context.ending is what one without a note keeps.
 */

/* init_post_opt: the state directory is opened here, for in exit another thread may have lent the
 * process a user's id for a moment (measured on 24.11). Nothing where there is a note. */
void lens_extern_open(spank_t sp, int argc, char **argv);

/* exit: tells the agent by the note it has made or by the job's journals. */
void lens_extern_close(void);

#endif
