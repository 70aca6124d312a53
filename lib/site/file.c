/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/site/file.h"

#include "lib/core/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_all(struct lens_text *out, int fd, const char *path, size_t max,
		    struct lens_error *err)
{
	char chunk[16 * 1024];
	ssize_t count;

	do {
		count = read(fd, chunk, sizeof(chunk));
		if (count > 0)
			lens_text_add(out, chunk, (size_t)count);
		if (out->failed)
			return lens_error_set(err, "%s: no memory", path);
		if (out->length > max)
			return lens_error_set(err, "%s is larger than %zu bytes; not read", path,
					      max);
	} while (count > 0 || (count < 0 && errno == EINTR));
	return count < 0 ? lens_error_set(err, "%s: %m", path) : 0;
}

int lens_file_read(struct lens_text *out, const char *path, size_t max, struct lens_error *err)
{
	struct stat status;
	int fd, rc;

	/* Without O_NONBLOCK a FIFO would never open. */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return lens_error_set(err, "%s: %m", path);
	if (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode))
		rc = lens_error_set(err, "%s is not a regular file", path);
	else
		rc = read_all(out, fd, path, max, err);
	lens_fd_close(fd);
	return rc;
}
