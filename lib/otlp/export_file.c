/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/export_file.h"

#include "lib/core/record.h"
#include "lib/core/text.h"
#include "lib/otlp/result.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct lens_file_exporter {
	char *path;
	char *directory;
	const char *name; /* the last component, inside path */
	bool make_directory;
	uint64_t max_bytes;
	unsigned int keep;
};

struct lens_file_exporter *lens_file_exporter_create(const struct lens_exporter_settings *settings,
						     struct lens_error *err)
{
	const char *file = settings->file ? settings->file : "";
	const char *slash = strrchr(file, '/');
	struct lens_file_exporter *exporter;

	/* Room for a rotated file's number behind the name. */
	if (file[0] != '/' || !slash[1] || strlen(slash + 1) > NAME_MAX - 11 ||
	    strcmp(slash, "/.") == 0 || strcmp(slash, "/..") == 0) {
		lens_error_set(err, "File: `%s`: must be the absolute path of a file", file);
		return NULL;
	}
	exporter = calloc(1, sizeof(*exporter));
	if (exporter) {
		exporter->path = strdup(file);
		exporter->directory = strndup(file, slash > file ? (size_t)(slash - file) : 1);
	}
	if (!exporter || !exporter->path || !exporter->directory) {
		lens_file_exporter_destroy(exporter);
		lens_error_set(err, "File: `%s`: out of memory", file);
		return NULL;
	}
	exporter->name = exporter->path + (slash + 1 - file);
	exporter->make_directory = settings->file_make_directory;
	exporter->max_bytes =
		settings->file_max_bytes ? settings->file_max_bytes : LENS_FILE_MAX_DEFAULT;
	exporter->keep = settings->file_keep ? settings->file_keep : LENS_FILE_KEEP_DEFAULT;
	return exporter;
}

void lens_file_exporter_destroy(struct lens_file_exporter *exporter)
{
	int saved = errno;

	if (!exporter)
		return;
	free(exporter->path);
	free(exporter->directory);
	free(exporter);
	errno = saved;
}

static int directory_open(const struct lens_file_exporter *exporter)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	int fd = open(exporter->directory, flags);

	if (fd >= 0 || errno != ENOENT || !exporter->make_directory)
		return fd;
	if (mkdir(exporter->directory, 0755) < 0 && errno != EEXIST)
		return -1;
	return open(exporter->directory, flags);
}

/* The file, made where it is missing; -1 with errno: EINVAL for what is no regular file, EPERM for
 * somebody else's. */
static int file_open(const struct lens_file_exporter *exporter, int directory, struct stat *status)
{
	/* Reading too is for lens_record_torn; on Linux it also keeps a FIFO in the file's place
	 * from blocking. */
	const int flags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(directory, exporter->name, flags, 0640);
	int saved;

	if (fd < 0)
		return -1;
	if (fstat(fd, status) == 0) {
		if (S_ISREG(status->st_mode) && status->st_uid == geteuid())
			return fd;
		/* Somebody else's would be read, or replaced, by its owner. */
		errno = S_ISREG(status->st_mode) ? EPERM : EINVAL;
	}
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

static void rotated_name(const struct lens_file_exporter *exporter, unsigned int number,
			 char out[NAME_MAX + 1])
{
	if (number == 0)
		snprintf(out, NAME_MAX + 1, "%s", exporter->name);
	else
		snprintf(out, NAME_MAX + 1, "%s.%u", exporter->name, number);
}

/* Moves each file one number up; the oldest is overwritten. */
static int files_rotate(const struct lens_file_exporter *exporter, int directory)
{
	for (unsigned int number = exporter->keep; number > 0; number--) {
		char from[NAME_MAX + 1], to[NAME_MAX + 1];

		rotated_name(exporter, number - 1, from);
		rotated_name(exporter, number, to);
		if (renameat(directory, from, directory, to) < 0 && errno != ENOENT)
			return -1;
	}
	return 0;
}

/*
 * Appends LINE, whole and on the disk, or not at all. The file is cut back to its SIZE
 * when only a part found room: half a line would spoil the next one.
 */
static int line_append(int fd, off_t size, const char *line, size_t length)
{
	ssize_t written = write(fd, line, length);
	int saved = errno;

	if (written >= 0 && (size_t)written == length) {
		if (fsync(fd) == 0)
			return 0;
		saved = errno;
	} else if (written >= 0) {
		saved = ENOSPC;
	}
	if (written > 0 && ftruncate(fd, size) < 0)
		saved = errno;
	errno = saved;
	return -1;
}

/* The file to append LENGTH bytes to, a fresh one when they do not fit. -1 with errno. */
static int file_ready(const struct lens_file_exporter *exporter, int directory, size_t length,
		      struct stat *status)
{
	int fd = file_open(exporter, directory, status);

	if (fd < 0 || status->st_size == 0 ||
	    (uint64_t)status->st_size + length <= exporter->max_bytes)
		return fd;
	close(fd);
	if (files_rotate(exporter, directory) < 0)
		return -1;
	return file_open(exporter, directory, status);
}

static int line_store(const struct lens_file_exporter *exporter, struct lens_text *line)
{
	int directory = directory_open(exporter);
	struct stat status;
	const char *begin = line->data;
	int fd = -1;
	int saved;
	int rc = -1;

	if (directory < 0)
		return -1;
	/* LINE begins with the newline that closes a torn line before it. */
	fd = file_ready(exporter, directory, line->length - 1, &status);
	if (fd < 0)
		goto out;
	if (lens_record_torn(fd) == 0) /* else a power cut took the last line's end */
		begin++;
	rc = line_append(fd, status.st_size, begin, line->length - (size_t)(begin - line->data));
	/* A new file's name must last as well; some file systems sync no directory. */
	if (rc == 0 && status.st_size == 0 && fsync(directory) < 0 && errno != EINVAL)
		rc = -1;
out:
	saved = errno;
	if (fd >= 0)
		close(fd);
	close(directory);
	errno = saved;
	return rc;
}

void lens_file_exporter_post(struct lens_file_exporter *exporter, const uint8_t *bytes,
			     size_t length, struct lens_export_result *result)
{
	struct lens_text line = LENS_TEXT_INIT;

	lens_text_add(&line, "\n", 1);
	lens_text_add(&line, (const char *)bytes, length);
	if (line.failed)
		lens_result_message(result, "%s: out of memory", exporter->path);
	else if (line_store(exporter, &line) == 0)
		result->verdict = LENS_VERDICT_DONE;
	else if (errno == EINVAL)
		lens_result_message(result, "%s: not a regular file", exporter->path);
	else if (errno == ELOOP)
		lens_result_message(result, "%s: a symbolic link is not followed", exporter->path);
	else
		lens_result_message(result, "%s: %s", exporter->path, strerror(errno));
	lens_text_clear(&line);
}
