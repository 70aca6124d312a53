/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_PATH_H
#define LENS_CORE_PATH_H

#include "lib/core/error.h"

#include <sys/types.h>

/*
 * Checks that nobody but root and OWNER could have put something else at PATH:
 * absolute, PATH and every parent owned by root or OWNER, no parent writable by group
 * or others unless it is sticky. Symbolic links are resolved first and what they lead
 * to is checked. 0, or -1 with ERR naming the directory at fault and what to do.
 */
int lens_path_check(const char *path, uid_t owner, struct lens_error *err);

/* As lens_path_check, for the directories above PATH alone, the nearest one included: PATH
 * itself need not be there. */
int lens_path_check_parents(const char *path, uid_t owner, struct lens_error *err);

/* As lens_path_check, and PATH is a regular executable file not writable by group or
 * others: what root may run. */
int lens_path_check_program(const char *path, struct lens_error *err);

#endif
