/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/slurmd.h"

#include "spank/agent.h"
#include "spank/context.h"
#include "spank/log.h"
#include "spank/order.h"

#include <unistd.h>

void lens_slurmd_init(int argc, char **argv)
{
	struct lens_problems problems = { 0 };
	const struct lens_config *config;
	int directory;

	config = lens_context_load(argc, argv, lens_problems_add, &problems);
	lens_problems_log(&problems, "");
	lens_order_check();
	if (!config)
		return;
	directory = lens_agent_state_open(config, true);
	if (directory < 0)
		return;
	lens_agent_ensure(directory, config, true);
	close(directory);
}
