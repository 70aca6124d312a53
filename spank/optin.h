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

/* Hands on that the new job is lens's, with OUTER, the submitter's TRACEPARENT (NULL: none),
 * as SETTINGS mean it. */
void lens_optin_hand_on(spank_t sp, const struct lens_settings *settings, const char *outer);

/* The same for a step of a job, with the word of that job's submitter: without
 * PrologFlags=Alloc it is all that the prologs of the step's nodes see. */
void lens_optin_pass_on(spank_t sp);

/* In prolog and epilog: fills lens, outer and in_outer of NOTE by that and by what the
 * site says. 0, or -1 when memory ran out. */
int lens_optin_read(struct lens_note *note, const struct lens_config *config);

/* Inside the job: fills outer and in_outer of NOTE by the same word, which the job's own
 * environment ENV has as SLURM_SPANK_LENS. 0, or -1 when memory ran out. */
int lens_optin_recall(struct lens_note *note, char *const *env);

#endif
