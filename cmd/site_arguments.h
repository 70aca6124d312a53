/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_SITE_ARGUMENTS_H
#define LENS_CMD_SITE_ARGUMENTS_H

#include "cmd/common_options.h"

/*
 * Puts the arguments that lens's line in plugstack.conf has before those of the command line, so
 * that a command looks where the plugin does. slurmctld is not asked: it may be away. Where there is
 * no such line, or it cannot be read, or others than root could have written what root would read,
 * OPTIONS stay as they are. 0, or -1 (memory).
 */
int site_arguments_add(struct common_options *options);

#endif
