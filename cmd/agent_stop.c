/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/agent.h"

#include "cmd/command.h"
#include "lib/core/lock.h"
#include "lib/core/statedir.h"
#include "lib/job/waiting.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define STOP_PATIENCE_MS 15000
#define STOP_LOOK_MS     50

/* Waits until somebody else than HOLDER, or nobody, has the lock. */
static int stop_wait(int directory, pid_t holder, struct agent_log *log)
{
	struct lens_error err = LENS_ERROR_INIT;

	for (int waited = 0; waited < STOP_PATIENCE_MS; waited += STOP_LOOK_MS) {
		pid_t now = lens_lock_holder(directory, &err);

		if (now == -1) {
			agent_log_say(log, "%s", err.text);
			return LENS_EXIT_ENVIRONMENT;
		}
		if (now != holder)
			return LENS_EXIT_OK;
		usleep(STOP_LOOK_MS * 1000);
	}
	agent_log_say(log, "agent %d has not ended within %d s", (int)holder,
		      STOP_PATIENCE_MS / 1000);
	return LENS_EXIT_NO;
}

static void ended_say(int directory, pid_t holder)
{
	struct lens_waiting waiting;
	size_t files;

	printf("agent %d has ended", (int)holder);
	if (lens_waiting_count(directory, &waiting, NULL) == 0) {
		files = waiting.journals_waiting + waiting.notes_waiting;
		if (files == 0)
			fputs("; nothing waits to be sent", stdout);
		else
			printf("; %zu %s to be sent by the next one", files,
			       files == 1 ? "file waits" : "files wait");
	}
	putchar('\n');
}

int agent_stop(const struct lens_config *config, struct agent_log *log)
{
	struct lens_error err = LENS_ERROR_INIT;
	int directory = lens_statedir_open(config->state_dir, false, &err);
	int status = LENS_EXIT_ENVIRONMENT;
	pid_t holder;

	if (directory == -1) {
		agent_log_say(log, "%s", err.text);
		return LENS_EXIT_ENVIRONMENT;
	}
	holder = lens_lock_holder(directory, &err);
	if (holder == -1) {
		agent_log_say(log, "%s", err.text);
	} else if (holder == 0) {
		printf("no agent runs for %s\n", config->state_dir);
		status = LENS_EXIT_OK;
	} else if (kill(holder, SIGTERM) == -1 && errno != ESRCH) {
		agent_log_say(log, "agent %d cannot be stopped: %m", (int)holder);
	} else {
		status = stop_wait(directory, holder, log);
		if (status == LENS_EXIT_OK)
			ended_say(directory, holder);
	}
	close(directory);
	return status;
}
