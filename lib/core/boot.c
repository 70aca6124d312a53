/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/boot.h"
#include "lib/core/fd.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int lens_boot_id_get(char out[LENS_BOOT_ID])
{
	char text[LENS_BOOT_ID] = "";
	ssize_t count = -1;
	int fd;

	out[0] = '\0';
	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		count = read(fd, text, LENS_BOOT_ID - 1);
	lens_fd_close(fd);
	if (count != LENS_BOOT_ID - 1 || strspn(text, "0123456789abcdef") != LENS_BOOT_ID - 1)
		return -1;
	memcpy(out, text, sizeof(text));
	return 0;
}
