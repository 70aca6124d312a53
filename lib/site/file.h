/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_SITE_FILE_H
#define LENS_SITE_FILE_H

#include "lib/core/error.h"
#include "lib/core/text.h"

#include <stddef.h>

/*
 * Adds the bytes of PATH, a regular file of at most MAX bytes, to OUT, which the caller clears
 * either way. 0, or -1 with ERR naming the path.
 */
int lens_file_read(struct lens_text *out, const char *path, size_t max, struct lens_error *err);

#endif
