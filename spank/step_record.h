/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_SPANK_STEP_RECORD_H
#define LENS_SPANK_STEP_RECORD_H

#include "lib/core/carrier.h"
#include "lib/core/config.h"
#include "spank/step_open.h"

#include <slurm/spank.h>

/*
 * What a journal says of its step (docs/journal.md). CLEAN is the environment without what
 * lens set in it. 0, or -1 when memory ran out.
 */

/* Adds the keys of `step_open`. */
int lens_step_record_open(spank_t sp, struct lens_carrier *record, const struct lens_step *step,
			  const struct lens_config *config, const struct lens_env *clean);

/* Adds the keys of `amend`: the attempt and what it is part of. */
int lens_step_record_amend(struct lens_carrier *record, const struct lens_step *step,
			   const struct lens_config *config, const struct lens_env *clean);

#endif
