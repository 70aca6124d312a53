/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_PROGRESS_H
#define LENS_CMD_PROGRESS_H

#include <stdint.h>
#include <stdio.h>

/*
 * How far long work is, on a line of standard error that is written over and is gone at the end.
 * Only on a terminal, and only when the work takes more than half a second.
 */
struct progress;

/* WHAT is a word for it, `reading`. NULL, which all below take, when nothing is to be shown
 * or there is no memory. */
struct progress *progress_create(const char *what);
void progress_destroy(struct progress *progress);

/* DONE of TOTAL bytes; a TOTAL of 0 is not known. Cheap enough to call for each line. */
void progress_set(struct progress *progress, uint64_t done, uint64_t total);

/* DONE of TOTAL things. */
void progress_count(struct progress *progress, uint64_t done, uint64_t total);

/*
 * A stream of the bytes of FD that tells PROGRESS how many of TOTAL have come, and while none have for
 * how long they have been waited for. Both must stay while it is read. The caller closes it, which
 * leaves FD open; NULL: no memory.
 */
FILE *progress_stream(struct progress *progress, int fd, uint64_t total);

/* Takes the line away, before other output. */
void progress_clear(struct progress *progress);

#endif
