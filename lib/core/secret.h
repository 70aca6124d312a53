/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_SECRET_H
#define LENS_CORE_SECRET_H

#include "lib/core/error.h"

#include <stdbool.h>
#include <stddef.h>

#define LENS_SECRET_MAX (1024 * 1024) /* bytes of a file */

/* What a file that a setting names held. {0} is none. */
struct lens_secret {
	char *bytes;
	size_t length;
};

/*
 * Reads PATH, for a process that is root: a regular file, no symbolic link, the caller's own
 * and in directories that nobody else could change (lens_path_check_parents), writable by
 * its owner alone and, with PRIVATE_FILE, readable by nobody else. "" is none. 0, or -1 with
 * ERR: what is wrong and what to do, none of the content. The caller clears OUT either way.
 */
int lens_secret_read(struct lens_secret *out, const char *path, bool private_file,
		     struct lens_error *err);

/*
 * Reads PATH for the user that the process runs for, with that user's rights and nothing else
 * asked of it than to be a regular file, in the end, of at most LENS_SECRET_MAX bytes. As
 * lens_secret_read otherwise; never for a process that is root for others.
 */
int lens_secret_load(struct lens_secret *out, const char *path, struct lens_error *err);

/* Wipes and frees. */
void lens_secret_clear(struct lens_secret *secret);

#endif
