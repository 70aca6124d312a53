/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/backlog_parts.h"

#include "lib/core/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* 0, or 1: no memory. */
static int names_add(void *context, const struct lens_state_name *name, const char *text)
{
	struct backlog_names *names = context;
	size_t count = names->count;

	(void)text;
	if ((count & (count - 1)) == 0) { /* grows by doubling */
		size_t room = count == 0 ? 1 : count * 2;
		struct lens_state_name *items = reallocarray(names->items, room, sizeof(*items));

		if (items == NULL)
			return 1;
		names->items = items;
	}
	names->items[names->count++] = *name;
	return 0;
}

static int rank_of(enum lens_state_kind kind)
{
	return kind == LENS_STATE_JOURNAL ? 0 : kind == LENS_STATE_NOTE ? 1 : 2;
}

static int order(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

int backlog_name_order(const struct lens_state_name *a, const struct lens_state_name *b)
{
	int difference = rank_of(a->kind) - rank_of(b->kind);

	if (difference == 0)
		difference = order(a->job, b->job);
	if (difference == 0)
		difference = order(a->attempt, b->attempt);
	if (difference == 0)
		difference = order(a->step, b->step);
	if (difference == 0)
		difference = order(a->node, b->node);
	return difference != 0 ? difference : order(a->pid, b->pid);
}

static int names_order(const void *left, const void *right)
{
	return backlog_name_order(left, right);
}

int backlog_list(int directory, struct backlog_names *out, struct lens_error *err)
{
	switch (lens_statedir_each(directory, names_add, out)) {
	case 0:
		break;
	case -1:
		return lens_error_set(err, "the state directory cannot be read: %m");
	default:
		free(out->items);
		*out = (struct backlog_names){ 0 };
		return lens_error_set(err, "out of memory");
	}
	if (out->count > 0)
		qsort(out->items, out->count, sizeof(*out->items), names_order);
	return 0;
}

bool backlog_fault_passes(int code)
{
	return code == EMFILE || code == ENFILE || code == ENOMEM || code == EIO || code == ENOLCK;
}

void backlog_fault(struct lens_backlog *backlog, int code)
{
	if (!backlog_fault_passes(code))
		return;
	backlog->faulty = true;
	backlog->result->unsent = true;
	backlog_due(backlog, backlog_now(backlog) + BACKLOG_FAULT_MS);
}

int backlog_open(struct lens_backlog *backlog, const struct lens_state_name *name, int flags)
{
	char text[LENS_STATE_NAME];
	struct stat status;
	int fd;

	lens_state_name_format(text, name);
	fd = openat(backlog->directory, text, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd != -1 && fstat(fd, &status) == -1) {
		lens_fd_close(fd);
		fd = -1;
	}
	if (fd == -1) {
		int saved = errno;

		if (saved != ENOENT)
			backlog_log(backlog, "%s cannot be opened: %s", text, strerror(saved));
		backlog_fault(backlog, saved);
		errno = saved;
		return -1;
	}
	if (!S_ISREG(status.st_mode)) {
		backlog_log(backlog, "%s is no regular file: not touched", text);
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}

void backlog_unlink(struct lens_backlog *backlog, const struct lens_state_name *name)
{
	char text[LENS_STATE_NAME];

	lens_state_name_format(text, name);
	if (unlinkat(backlog->directory, text, 0) == -1 && errno != ENOENT) {
		int saved = errno;

		backlog_log(backlog, "%s cannot be removed: %s", text, strerror(saved));
		backlog_fault(backlog, saved);
	} else {
		backlog_sent_gone(backlog, name);
	}
	if (name->kind == LENS_STATE_JOURNAL)
		backlog_live_remove(backlog, name);
}

bool backlog_young(struct lens_backlog *backlog, int fd)
{
	struct stat status;
	time_t now = time(NULL);

	if (fstat(fd, &status) == -1 || status.st_mtime + BACKLOG_YOUNG_S <= now)
		return false;
	backlog_due(backlog, backlog_now(backlog) + BACKLOG_YOUNG_S * 1000);
	return true;
}
