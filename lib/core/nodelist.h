/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_NODELIST_H
#define LENS_CORE_NODELIST_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Slurm's node lists, `n[1-3,07],login1,rack[0-1]n[00-15]`, as far as lens needs them:
 * the first name, how many there are, and whether one is among them. The plugin's processes have
 * no libslurm for it.
 */

/* The first name; the caller frees. NULL when LIST is NULL, empty, malformed or memory ran out. */
char *lens_nodelist_first(const char *list);

/* The number of names, 0 when LIST is NULL, empty or malformed. */
uint64_t lens_nodelist_count(const char *list);

/* Whether NAME, of at most 255 bytes, is one of the names; false when LIST is NULL or malformed. */
bool lens_nodelist_has(const char *list, const char *name);

#endif
