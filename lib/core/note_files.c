/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/note_files.h"

#include "lib/core/fd.h"
#include "lib/core/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TEMPORARY   "tmp."
#define TEMPORARY_S 60 /* no process takes that long to write one */

#define FILE_FLAGS (O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

void lens_note_names_format(struct lens_note_names *names, uint32_t job, const char *node,
			    uint32_t attempt)
{
	struct lens_state_name name = { .kind = LENS_STATE_NOTE,
					.job = job,
					.node = lens_name_number(node),
					.attempt = attempt };

	lens_state_name_format(names->now, &name);
	snprintf(names->temporary, sizeof(names->temporary), TEMPORARY "%s.%u", names->now,
		 (unsigned int)getpid());
	name.kind = LENS_STATE_ENDED;
	lens_state_name_format(names->ended, &name);
}

int lens_note_error(struct lens_error *err, const char *name, const char *what)
{
	return lens_error_set(err, "note %s in the StateDir %s: %m", name, what);
}

int lens_note_open(int directory, uint32_t job, const char *node, int flags, struct lens_note *out,
		   bool *damaged, struct lens_error *err)
{
	struct lens_records *records;
	struct lens_note_names names;
	int fd;

	*out = (struct lens_note){ 0 };
	lens_note_names_format(&names, job, node, 0);
	fd = lens_fd_raise(openat(directory, names.now, flags | FILE_FLAGS), F_DUPFD_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return -2;
	if (fd < 0)
		return lens_note_error(err, names.now, "cannot be opened");
	records = lens_records_read(fd);
	if (records == NULL) {
		lens_note_error(err, names.now, "cannot be read");
		lens_fd_close(fd);
		return -1;
	}
	*damaged = lens_note_parse(out, records) != 0 || out->job != job ||
		   strcmp(out->node, node) != 0;
	if (*damaged && out->node == NULL && errno == ENOMEM) {
		lens_note_error(err, names.now, "cannot be read");
		lens_fd_close(fd);
		fd = -1;
	}
	if (*damaged)
		lens_note_clear(out);
	lens_records_destroy(records);
	return fd;
}

int lens_note_add(int fd, const struct lens_carrier *record)
{
	int torn = lens_record_torn(fd);

	return lens_record_append(fd, record, &torn);
}

/* Adds the records of the file FROM to the file TO. */
static int add_file(int directory, const char *from, const char *to)
{
	struct lens_records *records = NULL;
	int source, target = -1, result = -1, torn;
	struct stat status;

	source = openat(directory, from, O_RDONLY | FILE_FLAGS);
	if (source >= 0)
		records = lens_records_read(source);
	if (records != NULL)
		target = openat(directory, to, O_RDWR | O_APPEND | FILE_FLAGS);
	if (target < 0)
		goto out;
	torn = lens_record_torn(target);
	for (size_t i = 0; i < lens_records_count(records); i++)
		if (lens_record_append(target, lens_records_at(records, i), &torn) != 0)
			goto out;
	/* Unlinked meanwhile: nobody will read it. */
	if (fstat(target, &status) == 0 && status.st_nlink == 0)
		errno = ENOENT;
	else
		result = 0;
out:
	lens_records_destroy(records);
	lens_fd_close(source);
	lens_fd_close(target);
	return result;
}

static int rename_new(int directory, const char *from, const char *to)
{
	struct stat status;

	if (renameat2(directory, from, directory, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	/* A file system that cannot do it at once. */
	if (fstatat(directory, to, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return renameat(directory, from, directory, to);
	errno = EEXIST;
	return -1;
}

int lens_note_move(int directory, const char *from, const char *to)
{
	for (int tries = 0; tries < 2; tries++) {
		if (rename_new(directory, from, to) == 0)
			return 0;
		if (errno != EEXIST)
			return -1;
		if (add_file(directory, from, to) == 0)
			return unlinkat(directory, from, 0);
		if (errno != ENOENT) /* else the agent was done with TO at this moment */
			return -1;
	}
	return -1;
}

int lens_note_write_temporary(int directory, const struct lens_note_names *names,
			      const struct lens_note *note, const struct lens_carrier *epilog,
			      struct lens_error *err)
{
	struct lens_carrier *record = lens_note_record(note, epilog != NULL);
	int fd = -1, torn = 0, result = -1;

	if (record == NULL) {
		errno = ENOMEM;
		goto out;
	}
	/* What a killed process left: O_EXCL makes sure that it is nobody else's file. */
	unlinkat(directory, names->temporary, 0);
	fd = openat(directory, names->temporary,
		    O_WRONLY | O_APPEND | O_CREAT | O_EXCL | FILE_FLAGS, 0600);
	fd = lens_fd_raise(fd, F_DUPFD_CLOEXEC);
	if (fd < 0 || lens_record_append(fd, record, &torn) != 0)
		goto out;
	if (epilog != NULL && lens_record_append(fd, epilog, &torn) != 0)
		goto out;
	result = 0;
out:
	if (result != 0) {
		lens_note_error(err, names->now, "cannot be written");
		unlinkat(directory, names->temporary, 0);
	}
	lens_carrier_destroy(record);
	lens_fd_close(fd);
	return result;
}

void lens_note_sweep(int directory)
{
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	struct stat status;

	if (list == NULL) {
		lens_fd_close(fd);
		return;
	}
	while ((entry = readdir(list)) != NULL) {
		if (strncmp(entry->d_name, TEMPORARY, strlen(TEMPORARY)) == 0 &&
		    fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    status.st_mtime + TEMPORARY_S < time(NULL))
			unlinkat(directory, entry->d_name, 0);
	}
	closedir(list);
}
