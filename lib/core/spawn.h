/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_SPAWN_H
#define LENS_CORE_SPAWN_H

#include "lib/core/error.h"

/*
 * Starts PROGRAM (an absolute path that lens_path_check_program accepts; checked here)
 * detached: double fork, a session of its own, cwd /, umask 077, fds 0-2 on /dev/null,
 * every other descriptor closed, signal mask and dispositions reset, ids root where the
 * caller has them to give, and the environment ENV (NULL: empty) and nothing else. slurmd
 * waits for a pipe that a helper keeps, and slurmstepd blocks SIGTERM in what it forks
 * (measured, docs/slurm-behaviour.md), hence all of it. Does not wait for the program. 0, or
 * -1 with ERR (also when exec failed). Safe in a threaded process: between fork and exec
 * only async-signal-safe calls.
 */
int lens_spawn_detached(const char *program, char *const *argv, char *const *env,
			struct lens_error *err);

/* For a child between fork and exec or _exit; async-signal-safe. /dev/null as 0 to 2: 0, or -1
 * with errno; a descriptor of it may be left above. */
int lens_child_stdio(void);
/* Every signal's default, and none blocked. */
void lens_child_signals(void);

#endif
