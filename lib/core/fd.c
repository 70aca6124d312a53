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

int lens_fd_read(int fd, struct lens_text *out, size_t max)
{
	char chunk[16 * 1024];
	ssize_t count;

	do {
		count = read(fd, chunk, sizeof(chunk));
		if (count > 0)
			lens_text_add(out, chunk, (size_t)count);
		if (out->failed)
			errno = ENOMEM;
		else if (out->length > max)
			errno = EFBIG;
		if (out->failed || out->length > max)
			return -1;
	} while (count > 0 || (count < 0 && errno == EINTR));
	return count < 0 ? -1 : 0;
}
