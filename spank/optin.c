/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/optin.h"

#include "lib/core/number.h"
#include "spank/log.h"

#include <stdlib.h>

void lens_optin_hand_on(spank_t sp)
{
	if (spank_job_control_setenv(sp, "LENS", "1", 1) != ESPANK_SUCCESS)
		lens_log("warning: Slurm did not take word of --lens for the job's prolog; its first node tells of it when a step starts");
}

bool lens_optin_from_job(const struct lens_config *config)
{
	bool on = false;

	if (config->job_spans != LENS_WHEN_OPTIN)
		return config->job_spans == LENS_WHEN_ALWAYS;
	if (config->inject == LENS_WHEN_NEVER)
		return false;
	return lens_bool_parse(getenv("SPANK_LENS"), &on) == 0 && on;
}
