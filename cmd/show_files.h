/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_SHOW_FILES_H
#define LENS_CMD_SHOW_FILES_H

#include "cmd/progress.h"
#include "lib/core/error.h"
#include "lib/otlp/lines.h"

#include <stdbool.h>
#include <sys/stat.h>

/*
 * The files that `slurm-lens show` reads: a file with those it was rotated into, all of a
 * directory, or standard input. Files are known by what they are, not by name, so that reading
 * goes on where it was when they are rotated.
 */
struct show_files;

struct show_files *show_files_create(void); /* NULL: no memory */
void show_files_destroy(struct show_files *files);

/*
 * PATH: `-`, a directory (its *.jsonl, rotated and gzipped ones too) or a file (and what it was
 * rotated into). What is no regular file is copied to a temporary file first, since it is read
 * twice. 0; -1 with ERR. A file that is not there is no error for FUTURE: it may come.
 */
int show_files_add(struct show_files *files, const char *path, bool future, struct lens_error *err);

/* Whether STATUS is that of a file that was read. */
bool show_files_has(const struct show_files *files, const struct stat *status);

/* The directory to watch for changes; NULL: there is nothing to wait for. */
const char *show_files_directory(const struct show_files *files);

/* A line, in NAME at NUMBER (from where reading began). Other than 0 ends reading with it. */
typedef int show_files_fn(void *context, const char *name, uint64_t number,
			  const struct lens_line *line);

enum show_read {
	SHOW_READ_ALL,   /* from the beginning, a last line without its newline too */
	SHOW_READ_WHOLE, /* from the beginning, whole lines alone: the rest is still to come */
	SHOW_READ_FRESH, /* whole lines that came since files were read last */
};

/*
 * Calls FN for each line of all files. 0; -1 with ERR, naming the
 * file; else what FN returned. PROGRESS may be NULL.
 */
int show_files_read(struct show_files *files, enum show_read how, show_files_fn *fn, void *context,
		    struct progress *progress, struct lens_error *err);

#endif
