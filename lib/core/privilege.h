/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_PRIVILEGE_H
#define LENS_CORE_PRIVILEGE_H

#include "lib/core/error.h"

/*
 * Makes this process USER's for good: his uid and group, no other group, no capability in any
 * set, no_new_privs; its memory is closed to others, it writes no file and no core, has
 * few descriptors, and stands in `/`. A caller that is not root stays who he is and gives up the
 * rest. Root as USER is refused. 0, or -1 with ERR; the process is then to end.
 */
int lens_privilege_drop(const char *user, struct lens_error *err);

#endif
