/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_SPANK_OPTIN_H
#define LENS_SPANK_OPTIN_H

#include "lib/core/config.h"
#include "lib/core/note.h"
#include "lib/core/settings.h"

#include <slurm/spank.h>
#include <stdbool.h>

/*
 * How prolog and epilog learn that a job is lens's: the submit side puts it into the job
 * control environment, where it arrives as SPANK_LENS, a carrier: `v=1`, `outer` (the
 * submitter's TRACEPARENT) and `inouter` as in the note. A user can put it there too: it
 * then costs the site the spans of that user's own job.
 */

/* Hands on that the job is lens's, with OUTER, the submitter's TRACEPARENT (NULL: none, or
 * not a job of its own), as SETTINGS mean it. */
void lens_optin_hand_on(spank_t sp, const struct lens_settings *settings, const char *outer);

/* In prolog and epilog: fills lens, outer and in_outer of NOTE by that and by what the
 * site says. 0, or -1 when memory ran out. */
int lens_optin_read(struct lens_note *note, const struct lens_config *config);

#endif
