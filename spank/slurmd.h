/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_SPANK_SLURMD_H
#define LENS_SPANK_SLURMD_H

/* slurmd starts (24.11 and later: also on reconfigure): the state directory is made where it
 * is missing, the agent is started or told to look at its settings again. */
void lens_slurmd_init(int argc, char **argv);

#endif
