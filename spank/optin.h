/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_SPANK_OPTIN_H
#define LENS_SPANK_OPTIN_H

#include "lib/core/config.h"

#include <slurm/spank.h>
#include <stdbool.h>

/*
 * How prolog and epilog learn that a job is lens's: the submit side puts it into the job
 * control environment, where it arrives as SPANK_LENS. A user can put it there too: it then
 * costs the site the spans of that user's own job.
 */
void lens_optin_hand_on(spank_t sp);

/* In prolog and epilog: whether the job is lens's, by that and by what the site says. */
bool lens_optin_from_job(const struct lens_config *config);

#endif
