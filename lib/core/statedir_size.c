/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/statedir.h"

#include <fcntl.h>
#include <sys/stat.h>

#define BLOCK 512 /* st_blocks counts these, whatever the file system has */

struct sum {
	int directory;
	uint64_t *bytes;
};

uint64_t lens_state_file_size(const struct stat *status)
{
	return (uint64_t)status->st_blocks * BLOCK;
}

static int add(void *context, const struct lens_state_name *name, const char *text)
{
	const struct sum *sum = context;
	struct stat status;

	(void)name;
	if (fstatat(sum->directory, text, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(status.st_mode))
		*sum->bytes += lens_state_file_size(&status);
	return 0;
}

int lens_statedir_size(int directory, uint64_t *out)
{
	struct sum sum = { .directory = directory, .bytes = out };

	*out = 0;
	return lens_statedir_each(directory, add, &sum);
}
