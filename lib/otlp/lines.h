/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_LINES_H
#define LENS_OTLP_LINES_H

#include "lib/core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The lines of a file, plain or gzip, one after the other: memory for the longest alone. */
struct lens_lines;

struct lens_line {
	const char *bytes; /* without the newline; a NUL follows. Valid until the next call. */
	size_t length;
	bool whole;    /* false: the file ends without a newline; LENGTH 0: it is packed and cut */
	bool too_long; /* beyond LENS_READ_LINE_MAX: skipped, LENGTH is 0 */
};

/*
 * Reads from the place FD stands at. Takes FD, also when it fails: NULL, no memory.
 */
struct lens_lines *lens_lines_open(int fd);
void lens_lines_close(struct lens_lines *lines);

/* 1 and the next line; 0 at the end; -1 with ERR when it cannot be read. */
int lens_lines_next(struct lens_lines *lines, struct lens_line *line, struct lens_error *err);

/* Bytes of the (unpacked) file behind which the next line begins, from where FD stood. */
uint64_t lens_lines_offset(const struct lens_lines *lines);
/* Bytes of the file itself read so far, packed as they are. */
uint64_t lens_lines_consumed(const struct lens_lines *lines);
bool lens_lines_packed(const struct lens_lines *lines); /* it is gzip; after the first line */

#endif
