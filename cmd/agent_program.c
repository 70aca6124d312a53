/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/agent.h"

#include "lib/core/path.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One per process, as /proc/self/exe is. */
static struct {
	char path[PATH_MAX]; /* "" when it is not known */
	struct stat status;
} program;

void agent_program_remember(void)
{
	ssize_t length = readlink("/proc/self/exe", program.path, sizeof(program.path) - 1);

	if (length == -1 || stat("/proc/self/exe", &program.status) == -1)
		length = 0;
	program.path[length] = '\0';
}

static bool changed(void)
{
	struct stat now;

	if (program.path[0] == '\0' || stat(program.path, &now) == -1)
		return false; /* gone for the moment: an upgrade may be under way */
	return now.st_dev != program.status.st_dev || now.st_ino != program.status.st_ino ||
	       now.st_mtim.tv_sec != program.status.st_mtim.tv_sec ||
	       now.st_mtim.tv_nsec != program.status.st_mtim.tv_nsec;
}

void agent_program_renew(struct agent *agent)
{
	const struct agent_options *options = agent->options;
	struct lens_error err = LENS_ERROR_INIT;
	char **argv;

	if (!changed())
		return;
	if (lens_path_check_program(program.path, &err) == -1) {
		agent_log_say(agent->log, "the new program is not started: %s", err.text);
		return;
	}
	argv = calloc((size_t)options->argc + 2, sizeof(*argv));
	if (argv == NULL)
		return;
	argv[0] = program.path;
	for (int i = 0; i < options->argc; i++)
		argv[i + 1] = options->argv[i];
	agent_log_say(agent->log, "%s has changed: starting it anew", program.path);
	/* The lock's descriptor is not close-on-exec, and an fcntl lock survives exec. */
	execv(program.path, argv);
	agent_log_say(agent->log, "%s cannot be started: %m; going on", program.path);
	free(argv);
}
