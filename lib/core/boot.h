/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_BOOT_H
#define LENS_CORE_BOOT_H

#define LENS_BOOT_ID 9

/*
 * The first 8 hex digits of the kernel's boot id, by which a note or journal of an
 * earlier boot is known: its monotonic times and pids mean nothing any more. 0, or -1
 * with OUT "" where /proc does not tell.
 */
int lens_boot_id_get(char out[LENS_BOOT_ID]);

#endif
