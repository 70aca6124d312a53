/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/waiting.h"

#include "lib/core/fd.h"
#include "lib/core/journal.h"
#include "lib/core/statedir.h"

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
	out->bytes += lens_state_file_size(status);
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

struct count {
	int directory;
	struct lens_waiting *out;
};

static int count_one(void *context, const struct lens_state_name *name, const char *text)
{
	const struct count *count = context;
	int fd = openat(count->directory, text, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd != -1 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		file_count(count->out, name->kind, fd, &status);
	lens_fd_close(fd);
	return 0;
}

int lens_waiting_count(int directory, struct lens_waiting *out, struct lens_error *err)
{
	struct count count = { .directory = directory, .out = out };

	memset(out, 0, sizeof(*out));
	if (lens_statedir_each(directory, count_one, &count) != 0)
		return lens_error_set(err, "the state directory cannot be read: %m");
	return 0;
}
