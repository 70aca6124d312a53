/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/slurmd.h"

#include "spank/agent.h"
#include "spank/context.h"
#include "spank/log.h"
#include "spank/order.h"

#include <config.h>
#include <unistd.h>

/* Each problem in a line of its own: this is where an admin looks. */
static void log_problem(void *context, const char *text)
{
	(void)context;
	lens_log("%s", text);
}

static void log_start(const struct lens_config *config)
{
	bool file = lens_config_protocol(config) == LENS_PROTOCOL_FILE;

	lens_log("%s is loaded; spans go to %s", PACKAGE_VERSION,
		 file ? config->file : "the Endpoint of its settings");
}

void lens_slurmd_init(int argc, char **argv)
{
	const struct lens_config *config;
	int directory;

	config = lens_context_load(argc, argv, log_problem, NULL);
	lens_order_check();
	if (!config)
		return;
	log_start(config);
	directory = lens_agent_state_open(config, true);
	if (directory >= 0) {
		lens_agent_ensure(directory, config, true);
		close(directory);
	}
	/* No other hook runs in slurmd. */
	lens_context_clear();
}
