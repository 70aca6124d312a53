/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int lens_fd_raise(int fd, int command)
{
	int raised;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	raised = fcntl(fd, command, STDERR_FILENO + 1);
	lens_fd_close(fd);
	return raised;
}

void lens_fd_close(int fd)
{
	int saved = errno;

	if (fd >= 0)
		close(fd);
	errno = saved;
}
