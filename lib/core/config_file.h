/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_CONFIG_FILE_H
#define LENS_CORE_CONFIG_FILE_H

#include "lib/core/config.h"

#include <stdbool.h>

#define LENS_CONFIG_PROBLEMS 10 /* problem_max, unless somebody asks for more */

/*
 * Reads lens.conf at PATH into CONFIG: a line is Key=Value with white space around both; as
 * in slurm.conf `#` begins a comment anywhere and `\#` is a `#`; CR ends are tolerated;
 * the last of several wins. A missing file is a problem only when it was NAMED. At most
 * problem_max lines are reported one by one, then their number.
 */
void lens_config_file_read(struct lens_config *config, const char *path, bool named,
			   lens_config_problem_fn *problem, void *context);

#endif
