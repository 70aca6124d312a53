/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/waiting.h"

#include "lib/core/fd.h"
#include "lib/core/journal.h"
#include "lib/core/statedir.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void waits(struct lens_waiting *out, const struct stat *status)
{
	if (out->oldest == 0 || status->st_mtime < out->oldest)
		out->oldest = status->st_mtime;
}

static void file_count(struct lens_waiting *out, enum lens_state_kind kind, int fd,
		       const struct stat *status)
{
	out->bytes += (uint64_t)status->st_size;
	switch (kind) {
	case LENS_STATE_NOTE:
		out->notes++;
		break;
	case LENS_STATE_ENDED:
		out->notes_waiting++;
		waits(out, status);
		break;
	case LENS_STATE_JOURNAL:
		if (lens_journal_has_writer(fd)) {
			out->journals_open++;
			break;
		}
		out->journals_waiting++;
		waits(out, status);
		break;
	}
}

int lens_waiting_count(int directory, struct lens_waiting *out, struct lens_error *err)
{
	int list = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = list == -1 ? NULL : fdopendir(list);
	const struct dirent *entry;
	struct lens_state_name name;
	struct stat status;

	memset(out, 0, sizeof(*out));
	if (stream == NULL) {
		lens_fd_close(list);
		return lens_error_set(err, "the state directory cannot be read: %m");
	}
	while ((entry = readdir(stream)) != NULL) {
		int fd;

		if (lens_state_name_parse(&name, entry->d_name) == -1)
			continue;
		fd = openat(directory, entry->d_name,
			    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd != -1 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
			file_count(out, name.kind, fd, &status);
		lens_fd_close(fd);
	}
	closedir(stream);
	return 0;
}
