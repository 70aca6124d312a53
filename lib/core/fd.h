/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_FD_H
#define LENS_CORE_FD_H

/*
 * FD itself when it is above 2, else a duplicate that is (FD is then closed): in Slurm's
 * prolog and epilog descriptor 0 is closed, and the first open would become somebody's
 * standard input. COMMAND is F_DUPFD_CLOEXEC or F_DUPFD. -1 with errno, FD closed; a
 * negative FD is handed through. Before any lock is taken: closing FD would drop it.
 */
int lens_fd_raise(int fd, int command);

/* Closes FD and keeps errno; a negative FD does nothing. */
void lens_fd_close(int fd);

#endif
