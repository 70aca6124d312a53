/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_LOCK_H
#define LENS_CORE_LOCK_H

#include "lib/core/error.h"

#include <sys/types.h>

/*
 * The agent's lock: `agent.lock` in the state directory, an fcntl write lock (it
 * survives exec and ends with the process, a fork does not keep it); the file holds one
 * line about its holder. Any close of the file drops the lock, so the holder itself never
 * calls one of these again.
 */

/* The pid that holds it, 0 when it is free or there is no file, -1 with ERR. One F_GETLK. */
pid_t lens_lock_holder(int directory, struct lens_error *err);

/*
 * As lens_lock_holder, and *LINE receives the holder's line without pid and newline, ""
 * when it has not written it yet; NULL where *PID is 0. The caller frees. LINE may be
 * NULL. 0, or -1 with ERR.
 */
int lens_lock_read(int directory, pid_t *pid, char **line, struct lens_error *err);

/*
 * Takes the lock and writes LINE (without newline; the pid is put before it) into the
 * file. Returns the descriptor, which must stay open and which exec keeps; -1 with ERR;
 * -2 when another process holds it.
 */
int lens_lock_take(int directory, const char *line, struct lens_error *err);

#endif
