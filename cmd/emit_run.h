/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_EMIT_RUN_H
#define LENS_CMD_EMIT_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What became of a command. */
struct emit_run {
	int64_t start_ns, end_ns; /* since 1970; never inverted */
	pid_t pid;
	int exec_error; /* errno: it could not be run; 0: it was */
	int status;     /* of waitpid */
};

/*
 * Runs ARGV (looked up in PATH) with ENV and waits for its end. It has the caller's descriptors,
 * process group, terminal and signal dispositions, so that it cannot tell the caller from a shell;
 * a signal that somebody sends to the caller goes on to it. Not what the command and the caller
 * get both: the terminal's signals, and those that slurmstepd sends to every process of a step.
 * 0, and signals stay blocked, for emit_run_stopped to be asked; or -1 with errno: there is no
 * process to be had, and nothing has changed.
 */
int emit_run(struct emit_run *out, char **argv, char *const *env);

/* Whether, since the command ended, HUP, INT, QUIT or TERM came for this process, not for the whole
 * step. Once it is true it stays so. */
bool emit_run_stopped(void);

/* Becomes the command. Returns errno when that fails. */
int emit_become(char **argv, char *const *env);

/* What a shell would exit with when EXEC_ERROR kept it from running a command. */
int emit_exec_status(int exec_error);

#endif
