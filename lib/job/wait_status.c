/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/wait_status.h"

#include <stdio.h>
#include <signal.h>
#include <string.h>

#define SIGNAL_BITS 0x7fU
#define CORE_BIT    0x80U

struct lens_wait_status lens_wait_status_decode(uint32_t status)
{
	struct lens_wait_status out = { .exit_code = -1 };

	out.signal = (int)(status & SIGNAL_BITS);
	if (out.signal == 0)
		out.exit_code = (int)((status >> 8) & 0xffU);
	else
		out.core = (status & CORE_BIT) != 0;
	return out;
}

void lens_wait_status_type(char out[LENS_ERROR_TYPE], const struct lens_wait_status *status)
{
	const char *name;

	out[0] = '\0';
	if (status->signal == 0) {
		if (status->exit_code != 0)
			snprintf(out, LENS_ERROR_TYPE, "exit_%d", status->exit_code);
		return;
	}
	name = status->signal < SIGRTMIN ? sigabbrev_np(status->signal) : NULL;
	if (name != NULL)
		snprintf(out, LENS_ERROR_TYPE, "SIG%s", name);
	else if (status->signal >= SIGRTMIN && status->signal <= SIGRTMAX)
		snprintf(out, LENS_ERROR_TYPE, "SIGRTMIN+%d", status->signal - SIGRTMIN);
	else
		snprintf(out, LENS_ERROR_TYPE, "signal_%d", status->signal);
}

void lens_wait_status_text(char out[LENS_ERROR_TYPE], const struct lens_wait_status *status)
{
	snprintf(out, LENS_ERROR_TYPE, "%d:%d", status->signal == 0 ? status->exit_code : 0,
		 status->signal);
}
