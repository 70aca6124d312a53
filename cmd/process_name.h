/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_PROCESS_NAME_H
#define LENS_CMD_PROCESS_NAME_H

#include <sys/types.h>

#define PROCESS_NAME 32 /* bytes; the kernel keeps 15 of a name */

/* The name of PID as every user may see it (proc(5), comm); "" when it is gone or not to be seen
 * from here. */
void process_name(char out[PROCESS_NAME], pid_t pid);

#endif
