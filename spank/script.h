/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_SPANK_SCRIPT_H
#define LENS_SPANK_SCRIPT_H

#include <slurm/spank.h>

/*
 * The spank prolog and epilog: a short process of root's per job and node, its
 * environment made of Slurm's variables and, as SPANK_*, the user's.
 */
void lens_script_prolog(spank_t sp, int argc, char **argv); /* writes the attempt's note */
void lens_script_epilog(spank_t sp, int argc, char **argv); /* ends it */

#endif
