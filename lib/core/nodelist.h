/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_NODELIST_H
#define LENS_CORE_NODELIST_H

#include <stdint.h>

/*
 * Slurm's node lists, `n[1-3,07],login1,rack[0-1]n[00-15]`, as far as lens needs them:
 * the first name and how many there are. No libslurm in the plugin's processes.
 */

/* The first name; the caller frees. NULL when LIST is NULL, empty, malformed or memory ran out. */
char *lens_nodelist_first(const char *list);

/* The number of names, 0 when LIST is NULL, empty or malformed. */
uint64_t lens_nodelist_count(const char *list);

#endif
