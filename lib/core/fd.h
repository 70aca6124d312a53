/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_FD_H
#define LENS_CORE_FD_H

#include "lib/core/text.h"

#include <stddef.h>

/*
 * FD itself when it is above 2, else a duplicate that is (FD is then closed): in Slurm's
 * prolog and epilog descriptor 0 is closed, and the first open would become somebody's
 * standard input. COMMAND is F_DUPFD_CLOEXEC or F_DUPFD. -1 with errno, FD closed; a
 * negative FD is handed through. Before any lock is taken: closing FD would drop it.
 */
int lens_fd_raise(int fd, int command);

/* Closes FD and keeps errno; a negative FD does nothing. */
void lens_fd_close(int fd);

/* Adds what FD holds from here on to OUT, which the caller clears either way. 0; -1 with errno,
 * EFBIG when it is more than MAX bytes in all. */
int lens_fd_read(int fd, struct lens_text *out, size_t max);

#endif
