/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin that does nothing in the hooks that lens.so has: what Slurm itself takes for them. */
#include <slurm/slurm.h>
#include <slurm/spank.h>

SPANK_PLUGIN(empty, 1);

#define EMPTY_HOOK(name)                        \
	int name(spank_t sp, int ac, char **av) \
	{                                       \
		(void)sp;                       \
		(void)ac;                       \
		(void)av;                       \
		return 0;                       \
	}

EMPTY_HOOK(slurm_spank_init)
EMPTY_HOOK(slurm_spank_job_prolog)
EMPTY_HOOK(slurm_spank_init_post_opt)
EMPTY_HOOK(slurm_spank_local_user_init)
EMPTY_HOOK(slurm_spank_task_init)
EMPTY_HOOK(slurm_spank_task_exit)
EMPTY_HOOK(slurm_spank_job_epilog)
EMPTY_HOOK(slurm_spank_exit)
