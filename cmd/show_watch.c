/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/show_watch.h"

#include "lib/core/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define EVERY_MS 200  /* no more often, while much is written */
#define LOOK_MS  2000 /* without being told: another machine may write */

struct show_watch {
	char *directory;
	int events, signals;
	bool watching; /* the directory is there and watched */
	int64_t next_ms;
	sigset_t before;
};

struct show_watch *show_watch_create(const char *directory)
{
	struct show_watch *watch = calloc(1, sizeof(*watch));
	sigset_t set;

	if (watch == NULL)
		return NULL;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGWINCH);
	sigprocmask(SIG_BLOCK, &set, &watch->before);
	watch->directory = strdup(directory);
	watch->events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	watch->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (watch->directory == NULL || watch->signals == -1) {
		show_watch_destroy(watch);
		return NULL;
	}
	return watch;
}

void show_watch_destroy(struct show_watch *watch)
{
	int saved = errno;

	if (watch == NULL)
		return;
	if (watch->events != -1)
		close(watch->events);
	if (watch->signals != -1)
		close(watch->signals);
	sigprocmask(SIG_SETMASK, &watch->before, NULL);
	free(watch->directory);
	free(watch);
	errno = saved;
}

/* What the signals that are there mean; SHOW_WATCH_CHANGED: nothing. */
static enum show_watch_event signals_read(struct show_watch *watch)
{
	enum show_watch_event event = SHOW_WATCH_CHANGED;
	struct signalfd_siginfo info;

	while (read(watch->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo != SIGWINCH)
			return SHOW_WATCH_END;
		event = SHOW_WATCH_RESIZED;
	}
	return event;
}

static void events_drop(const struct show_watch *watch)
{
	char buffer[4096];

	while (read(watch->events, buffer, sizeof(buffer)) > 0)
		continue;
}

/* Waits MS; with EVENTS also for the directory. Whether standard output is gone: *GONE. */
static void wait_ms(const struct show_watch *watch, int ms, bool events, bool *gone)
{
	struct pollfd fds[] = {
		{ .fd = watch->signals, .events = POLLIN },
		{ .fd = STDOUT_FILENO },
		{ .fd = events ? watch->events : -1, .events = POLLIN },
	};

	if (poll(fds, 3, ms) > 0)
		*gone = (fds[1].revents & (POLLERR | POLLNVAL)) != 0;
}

enum show_watch_event show_watch_wait(struct show_watch *watch)
{
	enum show_watch_event event;
	bool gone = false;
	int64_t left;

	if (!watch->watching && watch->events != -1) {
		watch->watching = inotify_add_watch(watch->events, watch->directory,
						    IN_MODIFY | IN_CREATE | IN_MOVED_TO) != -1;
		/* What happened before it was watched has not been told. */
		if (watch->watching)
			return SHOW_WATCH_CHANGED;
	}
	left = watch->next_ms - lens_clock_ms();
	if (left > 0)
		wait_ms(watch, (int)left, false, &gone);
	event = signals_read(watch);
	if (event == SHOW_WATCH_CHANGED && !gone) {
		wait_ms(watch, LOOK_MS, true, &gone);
		event = signals_read(watch);
	}
	events_drop(watch);
	watch->next_ms = lens_clock_ms() + EVERY_MS;
	return gone ? SHOW_WATCH_END : event;
}
