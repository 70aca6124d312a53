/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_SPANK_AGENT_H
#define LENS_SPANK_AGENT_H

#include "lib/core/config.h"

#include <stdbool.h>

/*
 * Sees that the agent runs: one question to its lock, and a start when it is free. With RELOAD a
 * running agent is sent SIGHUP: slurmd was started anew, settings or the program may have
 * changed. DIRECTORY is the open state directory. Nothing with Agent=external or off.
 */
void lens_agent_ensure(int directory, const struct lens_config *config, bool reload);

/* The state directory of CONFIG, or -1 after one line in the log. The caller closes. */
int lens_agent_state_open(const struct lens_config *config, bool create);

#endif
