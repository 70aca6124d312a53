/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_INJECT_H
#define LENS_CORE_INJECT_H

#include "lib/core/config.h"
#include "lib/core/env.h"
#include "lib/core/launch.h"
#include "lib/core/settings.h"

#include <stdbool.h>

/*
 * What a task is told: environment in, environment out, nothing else touched. The plugin
 * and `slurm-lens attrs` share it.
 */

struct lens_injection {
	struct lens_env *env; /* what the task gets */
	bool exports;         /* NEMO_LENS_ENABLED=1 */
};

/*
 * CLEAN, the task's environment without what an outer level of lens left in it (lens_mark_clean),
 * becomes OUT->env, which the caller destroys; it is taken over, also when that fails. Problems (a value that
 * cannot be used, attributes that do not fit) go to PROBLEM, once each; the task starts
 * whatever happens. 0, or -1 when memory ran out; OUT is then empty.
 */
int lens_inject(struct lens_injection *out, struct lens_env *clean,
		const struct lens_launch *launch, const struct lens_rank *rank,
		const struct lens_config *config, const struct lens_settings *settings,
		lens_config_problem_fn *problem, void *context);

#endif
