/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/fd.h"
#include "lib/core/statedir.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 512 /* st_blocks counts these, whatever the file system has */

int lens_statedir_size(int directory, uint64_t *out)
{
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	struct lens_state_name name;
	struct dirent *entry;
	struct stat status;

	if (list == NULL) {
		lens_fd_close(fd);
		return -1;
	}
	*out = 0;
	while ((entry = readdir(list)) != NULL) {
		if (lens_state_name_parse(&name, entry->d_name) == 0 &&
		    fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(status.st_mode))
			*out += (uint64_t)status.st_blocks * BLOCK;
	}
	closedir(list);
	return 0;
}
