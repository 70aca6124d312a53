/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

int fuzz_file(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd == -1)
		fd = memfd_create("input", MFD_CLOEXEC);
	must(fd != -1 && ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0);
	while (size > 0) {
		ssize_t count = write(fd, data, size);

		must(count > 0);
		data += count;
		size -= (size_t)count;
	}
	must(lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}
