/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_SITE_ARGUMENTS_H
#define LENS_CMD_SITE_ARGUMENTS_H

#include "cmd/common_options.h"
#include "lib/core/config.h"

/*
 * Puts the arguments that lens's line in plugstack.conf has before those of the command line, so
 * that a command looks where the plugin does. slurmctld is not asked: it may be away. Where there is
 * no such line, or it cannot be read, or others than root could have written what root would read,
 * OPTIONS stay as they are; called again, it is read again. 0, or -1 (memory).
 */
int site_arguments_add(struct common_options *options);

/*
 * The settings as the plugin has them, with these arguments and OPTIONS' own. What is wrong in them goes to
 * PROBLEM (with CONTEXT). 0 and *OUT, which the caller destroys; -1: no memory; -2: what the command line
 * itself asks for is not to be had. *OUT is NULL then.
 */
int site_config_load(struct lens_config **out, struct common_options *options,
		     lens_config_problem_fn *problem, void *context);

#endif
