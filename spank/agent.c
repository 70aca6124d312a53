/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/agent.h"

#include "lib/core/env.h"
#include "lib/core/lock.h"
#include "lib/core/spawn.h"
#include "lib/core/statedir.h"
#include "spank/log.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define AGENT_PATH_VARIABLE "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

int lens_agent_state_open(const struct lens_config *config, bool create)
{
	struct lens_error err = LENS_ERROR_INIT;
	int directory = lens_statedir_open(config->state_dir, create, &err);

	if (directory < 0)
		lens_log("%s", err.text);
	return directory;
}

/* The agent's environment is built, not inherited: a prolog's holds what users named. */
static struct lens_env *agent_env(void)
{
	struct lens_env *env = lens_env_create(NULL);

	if (!env || lens_env_set(env, "PATH", AGENT_PATH_VARIABLE) ||
	    lens_env_set(env, "SLURM_CONF", getenv("SLURM_CONF"))) {
		lens_env_destroy(env);
		return NULL;
	}
	return env;
}

static void start(const struct lens_config *config)
{
	/* program, "agent", "--config", path, "--state-dir", path, then a pair per argument */
	const char **argv = calloc(7 + 2 * config->argument_count, sizeof(*argv));
	struct lens_env *env = agent_env();
	struct lens_error err = LENS_ERROR_INIT;
	size_t n = 0;

	if (!argv || !env) {
		lens_log("the agent was not started: out of memory");
		goto out;
	}
	argv[n++] = config->agent_path;
	argv[n++] = "agent";
	if (*config->config_path && access(config->config_path, R_OK) == 0) {
		argv[n++] = "--config";
		argv[n++] = config->config_path;
	}
	argv[n++] = "--state-dir";
	argv[n++] = config->state_dir;
	for (size_t i = 0; i < config->argument_count; i++) {
		argv[n++] = "--set";
		argv[n++] = config->arguments[i];
	}
	if (lens_spawn_detached(config->agent_path, (char *const *)argv, lens_env_array(env), &err))
		lens_log("AgentPath %s: the agent was not started: %s", config->agent_path,
			 err.text);
out:
	lens_env_destroy(env);
	free(argv);
}

void lens_agent_ensure(int directory, const struct lens_config *config, bool reload)
{
	struct lens_error err = LENS_ERROR_INIT;
	pid_t holder;

	if (config->agent != LENS_AGENT_AUTO)
		return;
	holder = lens_lock_holder(directory, &err);
	if (holder < 0)
		lens_log("%s", err.text);
	else if (holder == 0)
		start(config);
	else if (reload)
		kill(holder, SIGHUP);
}
