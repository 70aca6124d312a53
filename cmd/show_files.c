/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/show_files.h"

#include "cmd/show_names.h"
#include "lib/core/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How far a file was read: known by what it is. */
struct place {
	dev_t device;
	ino_t inode;
	uint64_t offset; /* of the next line */
	uint64_t round;  /* of reading, in which it was seen last */
};

struct show_files {
	char *directory; /* NULL: what was copied alone */
	char *base;      /* in it; NULL: all of the directory */
	FILE *copy;      /* of what is no regular file */
	char *copy_name;
	struct place *places;
	size_t place_count;
	uint64_t round;
};

struct show_files *show_files_create(void)
{
	return calloc(1, sizeof(struct show_files));
}

void show_files_destroy(struct show_files *files)
{
	int saved = errno;

	if (files == NULL)
		return;
	if (files->copy != NULL)
		fclose(files->copy);
	free(files->copy_name);
	free(files->directory);
	free(files->base);
	free(files->places);
	free(files);
	errno = saved;
}

const char *show_files_directory(const struct show_files *files)
{
	return files->directory;
}

static struct place *place_find(const struct show_files *files, const struct stat *status)
{
	for (size_t i = 0; i < files->place_count; i++)
		if (files->places[i].inode == status->st_ino &&
		    files->places[i].device == status->st_dev)
			return &files->places[i];
	return NULL;
}

bool show_files_has(const struct show_files *files, const struct stat *status)
{
	return place_find(files, status) != NULL;
}

/* The place of the file that STATUS is of, a new one at 0. NULL: no memory. */
static struct place *place_of(struct show_files *files, const struct stat *status)
{
	struct place *places, *place = place_find(files, status);

	if (place != NULL)
		return place;
	places = reallocarray(files->places, files->place_count + 1, sizeof(*places));
	if (places == NULL)
		return NULL;
	files->places = places;
	places[files->place_count] =
		(struct place){ .device = status->st_dev, .inode = status->st_ino };
	return &places[files->place_count++];
}

static int copy_make(struct show_files *files, int fd, const char *name, struct lens_error *err)
{
	char buffer[16 << 10];
	struct stat status;
	ssize_t got;

	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && place_of(files, &status) == NULL)
		return lens_error_set(err, "out of memory");

	files->copy = tmpfile();
	files->copy_name = strdup(name);
	if (files->copy == NULL || files->copy_name == NULL)
		return lens_error_set(err, "no temporary file for a copy of %s: %s", name,
				      strerror(errno));
	while ((got = read(fd, buffer, sizeof(buffer))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return lens_error_set(err, "%s: %s", name, strerror(errno));
		if (fwrite(buffer, 1, (size_t)got, files->copy) != (size_t)got)
			break;
	}
	if (fflush(files->copy) != 0 || ferror(files->copy))
		return lens_error_set(err, "the copy of %s in a temporary file: %s", name,
				      strerror(errno));
	return 0;
}

static int copy_path(struct show_files *files, const char *path, struct lens_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int rc;

	if (fd == -1)
		return lens_error_set(err, "%s: %s", path, strerror(errno));
	rc = copy_make(files, fd, path, err);
	close(fd);
	return rc;
}

/* PATH, of a file, into its directory and name. */
static int path_split(struct show_files *files, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		files->directory = strdup(".");
	else
		files->directory = strndup(path, slash > path ? (size_t)(slash - path) : 1);
	files->base = strdup(slash == NULL ? path : slash + 1);
	return files->directory == NULL || files->base == NULL ? -1 : 0;
}

int show_files_add(struct show_files *files, const char *path, bool future, struct lens_error *err)
{
	struct stat status;

	if (strcmp(path, "-") == 0)
		return copy_make(files, STDIN_FILENO, "standard input", err);
	if (stat(path, &status) == -1) {
		if (errno != ENOENT || !future)
			return lens_error_set(err, "%s: %s", path, strerror(errno));
	} else if (S_ISDIR(status.st_mode)) {
		files->directory = strdup(path);
		return files->directory != NULL ? 0 : lens_error_set(err, "out of memory");
	} else if (!S_ISREG(status.st_mode)) {
		return copy_path(files, path, err);
	}
	return path_split(files, path) == 0 ? 0 : lens_error_set(err, "out of memory");
}

struct reading {
	struct show_files *files;
	enum show_read how;
	show_files_fn *fn;
	void *context;
	struct progress *progress;
	uint64_t done, total; /* bytes of files */
};

static int lines_read(struct reading *reading, struct lens_lines *lines, const char *name,
		      uint64_t *offset, struct lens_error *err)
{
	const uint64_t begin = *offset;
	struct lens_error why = LENS_ERROR_INIT;
	struct lens_line line;
	uint64_t number = 0;
	int rc;

	while ((rc = lens_lines_next(lines, &line, &why)) == 1) {
		if (!line.whole && reading->how != SHOW_READ_ALL)
			break; /* its end is still to come */
		*offset = begin + lens_lines_offset(lines);
		progress_set(reading->progress, reading->done + lens_lines_consumed(lines),
			     reading->total);
		rc = reading->fn(reading->context, name, ++number, &line);
		if (rc != 0)
			return rc;
	}
	if (rc == -1)
		return lens_error_set(err, "%s: %s", name, why.text);
	return 0;
}

/* FD is taken. */
static int file_read(struct reading *reading, int fd, const char *name, struct place *place,
		     uint64_t size, struct lens_error *err)
{
	struct lens_lines *lines;
	int rc;

	if (reading->how != SHOW_READ_FRESH || place->offset > size)
		place->offset = 0; /* or it was cut back and is written anew */
	if (lseek(fd, (off_t)place->offset, SEEK_SET) == -1) {
		lens_error_set(err, "%s: %s", name, strerror(errno));
		close(fd);
		return -1;
	}
	lines = lens_lines_open(fd);
	if (lines == NULL)
		return lens_error_set(err, "out of memory");
	rc = lines_read(reading, lines, name, &place->offset, err);
	/* Nothing is added to a packed file. */
	if (lens_lines_packed(lines))
		place->offset = size;
	lens_lines_close(lines);
	reading->done += size;
	return rc;
}

/* A file that went away between listing and opening is read under its next name. */
static int path_read(struct reading *reading, const char *path, struct lens_error *err)
{
	struct show_files *files = reading->files;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct place *place;
	struct stat status;

	if (fd == -1)
		return errno == ENOENT ? 0 : lens_error_set(err, "%s: %s", path, strerror(errno));
	if (fstat(fd, &status) == -1 || !S_ISREG(status.st_mode)) {
		close(fd);
		return 0;
	}
	place = place_of(files, &status);
	if (place == NULL) {
		close(fd);
		return lens_error_set(err, "out of memory");
	}
	if (place->round == files->round ||
	    (reading->how == SHOW_READ_FRESH && place->offset == (uint64_t)status.st_size)) {
		place->round = files->round;
		close(fd);
		return 0;
	}
	place->round = files->round;
	return file_read(reading, fd, path, place, (uint64_t)status.st_size, err);
}

static int copy_read(struct reading *reading, struct lens_error *err)
{
	struct place place = { .offset = 0 };
	int fd = dup(fileno(reading->files->copy));
	struct stat status;

	if (fd == -1 || fstat(fd, &status) == -1) {
		if (fd != -1)
			close(fd);
		return lens_error_set(err, "%s: %s", reading->files->copy_name, strerror(errno));
	}
	reading->total = (uint64_t)status.st_size;
	return file_read(reading, fd, reading->files->copy_name, &place, (uint64_t)status.st_size,
			 err);
}

/*
 * Twice: a file that was rotated while another was read has got a name that was passed
 * already. What was read in this round is not read again.
 */
int show_files_read(struct show_files *files, enum show_read how, show_files_fn *fn, void *context,
		    struct progress *progress, struct lens_error *err)
{
	struct reading reading = {
		.files = files,
		.how = how,
		.fn = fn,
		.context = context,
		.progress = progress,
	};
	int rc = 0;

	files->round++;
	if (files->copy != NULL)
		return copy_read(&reading, err);
	for (int pass = 0; pass < 2 && rc == 0; pass++) {
		struct show_names names = { 0 };

		rc = show_names_list(&names, files->directory, files->base, err);
		reading.total = names.bytes;
		for (size_t i = 0; i < names.count && rc == 0; i++)
			rc = path_read(&reading, names.paths[i], err);
		show_names_clear(&names);
	}
	return rc;
}
