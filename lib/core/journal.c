/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/journal.h"
#include "lib/core/fd.h"
#include "lib/core/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct lens_journal {
	int fd;
};

/* Readable too: the end of the file tells whether the line before was cut. */
#define JOURNAL_FLAGS (O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

static int open_file(int directory, const char *name, struct lens_error *err)
{
	struct stat status;
	int fd = openat(directory, name, JOURNAL_FLAGS | O_CREAT | O_EXCL, 0600);

	if (fd < 0 && errno == EEXIST)
		fd = openat(directory, name, JOURNAL_FLAGS);
	fd = lens_fd_raise(fd, F_DUPFD_CLOEXEC);
	if (fd < 0)
		return lens_error_set(err, "journal %s in the StateDir: %m", name);
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		return fd;
	lens_fd_close(fd);
	return lens_error_set(err, "journal %s in the StateDir is no regular file: remove it",
			      name);
}

struct lens_journal *lens_journal_create(int directory, const struct lens_state_name *name,
					 struct lens_error *err)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct lens_journal *journal = NULL;
	char file[LENS_STATE_NAME];
	int fd;

	lens_state_name_format(file, name);
	fd = open_file(directory, file, err);
	if (fd < 0)
		return NULL;
	if (fcntl(fd, F_SETLK, &lock) != 0) {
		lens_error_set(err, "journal %s in the StateDir has another writer: %m", file);
		goto failed;
	}
	journal = malloc(sizeof(*journal));
	if (journal == NULL) {
		lens_error_set(err, "journal %s in the StateDir: no memory", file);
		goto failed;
	}
	journal->fd = fd;
	return journal;
failed:
	lens_fd_close(fd);
	return NULL;
}

int lens_journal_append(struct lens_journal *journal, const struct lens_carrier *record)
{
	/* Asked of the file each time: a forked task may have left a cut line of its own. */
	int torn = lens_record_torn(journal->fd);

	return lens_record_append(journal->fd, record, &torn);
}

void lens_journal_destroy(struct lens_journal *journal)
{
	int saved = errno;

	if (journal == NULL)
		return;
	lens_fd_close(journal->fd);
	free(journal);
	errno = saved;
}

bool lens_journal_has_writer(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	/* Not knowing, it is taken for alive: a span closed too early would be wrong for good. */
	return fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}
