/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/agent.h"

#include "cmd/agent_settings.h"
#include "cmd/command.h"
#include "cmd/usage.h"
#include "lib/core/lock.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { OPTION_ONCE = COMMON_OPTION_OWN, OPTION_STOP };

static const char help_text[] =
	"Usage: slurm-lens agent [OPTION...]\n"
	"\n"
	"Makes spans of what the plugin left in the state directory and sends them. The plugin\n"
	"starts it; it stays in the foreground, one for each state directory. A second process,\n"
	"as AgentUser, talks to the receiver.\n"
	"\n"
	"  --once            send what is ready now, then exit\n"
	"  --stop            end the agent that runs\n"
	"  --config FILE     lens.conf (default: beside slurm.conf)\n"
	"  --set KEY=VALUE   a setting, as an argument in plugstack.conf; lens.conf beats it\n"
	"  --state-dir DIR   the state directory, whatever the settings say\n"
	"  --help            say this\n"
	"\n"
	"Lens's line in plugstack.conf, then lens.conf say what the options do not. SIGHUP reads\n"
	"both again. SIGTERM ends it, once what is ready is sent but within 10 s; the rest stays\n"
	"on disk.\n"
	"Exit status: 0 ok; 1 something is left that could be sent (--once), or the agent would\n"
	"not end (--stop); 2 usage or environment.\n";

/* Another agent has the lock: right for the plugin, which starts one whenever in doubt. */
static int held_say(struct agent *agent)
{
	struct lens_error err = LENS_ERROR_INIT;
	pid_t holder = lens_lock_holder(agent->directory, &err);

	if (holder <= 0)
		agent_log_say(agent->log, "an agent is running for %s", agent->config->state_dir);
	else
		agent_log_say(agent->log,
			      "an agent (pid %d) is running for %s and does this already",
			      (int)holder, agent->config->state_dir);
	return agent->options->once ? LENS_EXIT_NO : LENS_EXIT_OK;
}

static int agent_run(struct agent *agent)
{
	bool held;
	int status;

	if (agent->options->once) {
		signal(SIGHUP, SIG_IGN);
	} else {
		agent_signals_block();
	}
	status = agent_open(agent, &held);
	if (held)
		return held_say(agent);
	if (status != LENS_EXIT_OK)
		return status;
	agent_log_open(agent->log, agent->directory);
	agent_report_begin(&agent->report);
	if (agent_connect(agent) == -1)
		return LENS_EXIT_ENVIRONMENT;
	return agent->options->once ? agent_once(agent) : agent_loop(agent);
}

/* Jitter shall differ between nodes that start at the same moment. */
static void random_seed(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	srandom((unsigned int)now.tv_nsec ^ (unsigned int)getpid());
}

static int option_take(struct agent_options *out, int option, char *const *argv)
{
	switch (option) {
	case OPTION_ONCE:
		out->once = true;
		return 0;
	case OPTION_STOP:
		out->stop = true;
		return 0;
	default:
		return common_options_take(&out->common, "agent", option, argv);
	}
}

/* 0; -1 after a line on standard error. */
static int options_parse(struct agent_options *out, int argc, char **argv)
{
	static const struct option options[] = {
		COMMON_OPTIONS_SETTINGS,
		COMMON_OPTIONS_STATE_DIR,
		{ "once", no_argument, NULL, OPTION_ONCE },
		{ "stop", no_argument, NULL, OPTION_STOP },
		COMMON_OPTIONS_HELP,
		{ 0 },
	};
	int option;

	*out = (struct agent_options){ .argc = argc, .argv = argv };
	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (option_take(out, option, argv) == -1)
			return -1;
	}
	if (out->once && out->stop)
		return usage_wrong("agent", "--once and --stop do not go together");
	return usage_words_none("agent", argc, argv);
}

int lens_agent_main(int argc, char **argv)
{
	struct agent_options options;
	struct agent agent = { .options = &options, .directory = -1, .lock = -1 };
	int status = LENS_EXIT_ENVIRONMENT;

	agent_program_remember();
	random_seed();
	umask(022);
	/* It may be read by nobody any more when the program is started anew. */
	signal(SIGPIPE, SIG_IGN);
	if (options_parse(&options, argc, argv) == -1)
		goto out;
	if (options.common.help) {
		fputs(help_text, stdout);
		status = LENS_EXIT_OK;
		goto out;
	}
	agent.log = agent_log_create(
		options.once || options.stop || isatty(STDERR_FILENO) == 1 ? "agent" : NULL);
	if (agent.log != NULL)
		agent.config = agent_settings_load(&options.common, agent.log);
	if (agent.config == NULL)
		fputs("slurm-lens agent: its settings could not be read whole: out of memory or "
		      "descriptors, or the disk fails\n",
		      stderr);
	else if (options.stop)
		status = agent_stop(agent.config, agent.log);
	else
		status = agent_run(&agent);
	agent_close(&agent);
	agent_log_destroy(agent.log);
out:
	common_options_clear(&options.common);
	return status;
}
