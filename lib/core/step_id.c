/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/step_id.h"

#include <inttypes.h>
#include <stdio.h>

void lens_step_text(char out[LENS_STEP_TEXT], uint32_t step)
{
	switch (step) {
	case LENS_STEP_BATCH:
		snprintf(out, LENS_STEP_TEXT, "batch");
		break;
	case LENS_STEP_INTERACTIVE:
		snprintf(out, LENS_STEP_TEXT, "interactive");
		break;
	case LENS_STEP_EXTERN:
		snprintf(out, LENS_STEP_TEXT, "extern");
		break;
	default:
		snprintf(out, LENS_STEP_TEXT, "%" PRIu32, step);
		break;
	}
}
