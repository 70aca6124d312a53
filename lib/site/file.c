/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/site/file.h"

#include "lib/core/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

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
	else if (lens_fd_read(fd, out, max) == 0)
		rc = 0;
	else if (errno == EFBIG)
		rc = lens_error_set(err, "%s is larger than %zu bytes; not read", path, max);
	else
		rc = lens_error_set(err, "%s: %m", path);
	lens_fd_close(fd);
	return rc;
}
