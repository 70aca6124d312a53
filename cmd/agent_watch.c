/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/agent.h"

#include "lib/core/statedir.h"

#include <signal.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void signals_fill(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
}

void agent_signals_block(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	signals_fill(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

int agent_signals_open(void)
{
	sigset_t set;

	signals_fill(&set);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int agent_events_open(int directory)
{
	char path[32];
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	/* Whatever the directory's name leads to by now. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", directory);
	if (fd != -1 && inotify_add_watch(fd, path,
					  IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO |
						  IN_DELETE_SELF | IN_ONLYDIR) == -1) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The lock, the log and the status lie in the directory too: they are nothing new. */
static bool event_counts(const struct inotify_event *event, const struct lens_backlog *backlog)
{
	struct lens_state_name name;

	if ((event->mask & IN_Q_OVERFLOW) != 0)
		return true;
	if (event->len == 0 || lens_state_name_parse(&name, event->name) != 0)
		return false;
	return (event->mask & IN_CLOSE_WRITE) == 0 || !lens_backlog_wrote(backlog, event->name);
}

bool agent_events_read(int events, const struct lens_backlog *backlog, bool *gone)
{
	char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool counts = false;
	ssize_t length;

	while ((length = read(events, buffer, sizeof(buffer))) > 0) {
		for (char *at = buffer; at < buffer + length;) {
			const struct inotify_event *event = (const void *)at;

			if ((event->mask & (IN_DELETE_SELF | IN_IGNORED)) != 0)
				*gone = true;
			counts = counts || event_counts(event, backlog);
			at += sizeof(*event) + event->len;
		}
	}
	return counts;
}
