/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/lock.h"
#include "lib/core/fd.h"
#include "lib/core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOCK_NAME      "agent.lock"
#define LINE_MAX_BYTES (64 * 1024)

static int lock_open(int directory, int flags, struct lens_error *err)
{
	int fd = openat(directory, LOCK_NAME, flags | O_NOFOLLOW | O_NONBLOCK, 0600);

	fd = lens_fd_raise(fd, (flags & O_CLOEXEC) != 0 ? F_DUPFD_CLOEXEC : F_DUPFD);
	if (fd < 0 && (errno != ENOENT || (flags & O_CREAT) != 0))
		return lens_error_set(err, "%s in the StateDir: %m", LOCK_NAME);
	return fd;
}

/* The pid that holds the lock of the file at FD, 0 for nobody, -1 with ERR. */
static pid_t holder_of(int fd, struct lens_error *err)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, F_GETLK, &lock) != 0)
		return lens_error_set(err, "%s in the StateDir: %m", LOCK_NAME);
	if (lock.l_type == F_UNLCK)
		return 0;
	if (lock.l_pid <= 0)
		return lens_error_set(err,
				      "%s is held by a process of another pid namespace: look "
				      "for the agent outside this container",
				      LOCK_NAME);
	return lock.l_pid;
}

/* What the file says after the pid of its HOLDER, up to the newline; "" when it does not
 * name that pid (yet). The caller frees; NULL when memory ran out. */
static char *line_of(int fd, pid_t holder)
{
	char *buffer = calloc(1, LINE_MAX_BYTES + 1);
	char *line = NULL, *rest;
	size_t used = 0;
	ssize_t count;

	if (buffer == NULL)
		return NULL;
	do {
		count = pread(fd, buffer + used, LINE_MAX_BYTES - used, (off_t)used);
		if (count > 0)
			used += (size_t)count;
	} while (count > 0 || (count < 0 && errno == EINTR));
	buffer[strcspn(buffer, "\n")] = '\0';
	if (strtoll(buffer, &rest, 10) == (long long)holder && *rest == ' ')
		line = strdup(rest + 1);
	else
		line = strdup("");
	free(buffer);
	return line;
}

int lens_lock_read(int directory, pid_t *pid, char **line, struct lens_error *err)
{
	int fd, result = -1;

	*pid = 0;
	if (line != NULL)
		*line = NULL;
	errno = 0;
	fd = lock_open(directory, O_RDONLY | O_CLOEXEC, err);
	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	*pid = holder_of(fd, err);
	if (*pid < 0)
		goto out;
	if (*pid > 0 && line != NULL) {
		*line = line_of(fd, *pid);
		if (*line == NULL) {
			lens_error_set(err, "%s in the StateDir: no memory", LOCK_NAME);
			goto out;
		}
	}
	result = 0;
out:
	lens_fd_close(fd);
	return result;
}

pid_t lens_lock_holder(int directory, struct lens_error *err)
{
	pid_t pid;

	return lens_lock_read(directory, &pid, NULL, err) == 0 ? pid : -1;
}

static int write_line(int fd, const char *line, struct lens_error *err)
{
	struct lens_text text = LENS_TEXT_INIT;
	int result = -1;

	/* Written over what is there, cut after: a full disk must not keep the agent out. */
	lens_text_addf(&text, "%lld %s\n", (long long)getpid(), line);
	if (text.failed)
		lens_error_set(err, "%s in the StateDir: no memory", LOCK_NAME);
	else if (pwrite(fd, text.data, text.length, 0) != (ssize_t)text.length ||
		 ftruncate(fd, (off_t)text.length) != 0)
		lens_error_set(err, "%s in the StateDir cannot be written: %m", LOCK_NAME);
	else
		result = 0;
	lens_text_clear(&text);
	return result;
}

int lens_lock_take(int directory, const char *line, struct lens_error *err)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd, result = -1;

	if (strchr(line, '\n') != NULL || strlen(line) > LINE_MAX_BYTES - 32)
		return lens_error_set(err, "the settings do not fit on one line of %s", LOCK_NAME);
	fd = lock_open(directory, O_RDWR | O_CREAT, err);
	if (fd < 0)
		return -1;
	if (fcntl(fd, F_SETLK, &lock) != 0) {
		if (errno == EAGAIN || errno == EACCES)
			result = -2;
		else
			lens_error_set(err, "%s in the StateDir: %m", LOCK_NAME);
		goto failed;
	}
	if (write_line(fd, line, err) != 0)
		goto failed;
	return fd;
failed:
	lens_fd_close(fd);
	return result;
}
