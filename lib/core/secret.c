/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/secret.h"
#include "lib/core/fd.h"
#include "lib/core/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_size(const struct stat *status, const char *path, struct lens_error *err)
{
	if (!S_ISREG(status->st_mode))
		return lens_error_set(err, "%s is not a regular file", path);
	if (status->st_size > LENS_SECRET_MAX)
		return lens_error_set(err, "%s is larger than %d bytes", path, LENS_SECRET_MAX);
	return 0;
}

static int check(int fd, const char *path, bool private_file, struct stat *status,
		 struct lens_error *err)
{
	unsigned int others = private_file ? 077 : 022;

	if (fstat(fd, status) != 0)
		return lens_error_set(err, "%s: %m", path);
	if (check_size(status, path, err) != 0)
		return -1;
	if (status->st_uid != geteuid())
		return lens_error_set(err, "%s belongs to uid %u: chown %u %s", path,
				      (unsigned int)status->st_uid, (unsigned int)geteuid(), path);
	if ((status->st_mode & others) != 0)
		return lens_error_set(err, "%s can be %s by others (mode %04o): chmod %s %s", path,
				      private_file ? "read or written" : "written",
				      (unsigned int)(status->st_mode & 07777),
				      private_file ? "0600" : "go-w", path);
	return 0;
}

static int read_all(struct lens_secret *out, int fd, const char *path, size_t size,
		    struct lens_error *err)
{
	out->bytes = calloc(1, size + 1);
	if (out->bytes == NULL)
		return lens_error_set(err, "%s: no memory", path);
	while (out->length < size) {
		ssize_t got = read(fd, out->bytes + out->length, size - out->length);

		if (got == -1 && errno == EINTR)
			continue;
		if (got == -1)
			return lens_error_set(err, "%s: %m", path);
		if (got == 0)
			break;
		out->length += (size_t)got;
	}
	return 0;
}

int lens_secret_read(struct lens_secret *out, const char *path, bool private_file,
		     struct lens_error *err)
{
	struct stat status;
	int fd, result = -1;

	*out = (struct lens_secret){ 0 };
	if (*path == '\0')
		return 0;
	if (lens_path_check_parents(path, geteuid(), err) != 0)
		return -1;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && errno == ELOOP)
		return lens_error_set(err, "%s is a symbolic link: name the file it leads to",
				      path);
	if (fd < 0)
		return lens_error_set(err, "%s: %m", path);
	if (check(fd, path, private_file, &status, err) == 0)
		result = read_all(out, fd, path, (size_t)status.st_size, err);
	lens_fd_close(fd);
	return result;
}

int lens_secret_load(struct lens_secret *out, const char *path, struct lens_error *err)
{
	struct stat status;
	int fd, result = -1;

	*out = (struct lens_secret){ 0 };
	/* A FIFO would hold the caller for as long as nobody writes to it. */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return lens_error_set(err, "%s: %m", path);
	if (fstat(fd, &status) != 0)
		lens_error_set(err, "%s: %m", path);
	else if (check_size(&status, path, err) == 0)
		result = read_all(out, fd, path, (size_t)status.st_size, err);
	lens_fd_close(fd);
	return result;
}

void lens_secret_clear(struct lens_secret *secret)
{
	if (secret->bytes != NULL)
		explicit_bzero(secret->bytes, secret->length);
	free(secret->bytes);
	*secret = (struct lens_secret){ 0 };
}
