/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/agent.h"
#include "spank/options.h"
#include "spank/script.h"
#include "spank/slurmd.h"
#include "spank/step.h"
#include "spank/submit.h"

#include <config.h>
#include <slurm/spank.h>

/*
 * Slurm's hooks, and nothing but the switch on where they run. Every one returns success
 * whatever happened: telemetry never harms a job. Which hook runs where, and as whom,
 * is in docs/slurm-behaviour.md.
 */
SPANK_PLUGIN(lens, 1);

/* For `slurm-lens check`, which reads it in the file: plugin_version is Slurm's. */
extern const char spank_lens_version[];
const char spank_lens_version[] = PACKAGE_VERSION;

/* 26.05: should Slurm ever count a failed init of ours, then against the job, not the node. */
#if HAVE_DECL_ESPANK_JOB_FAILURE
int slurm_spank_init_failure_mode = ESPANK_JOB_FAILURE;
#endif

int slurm_spank_init(spank_t sp, int argc, char **argv)
{
	switch (spank_context()) {
	case S_CTX_ALLOCATOR:
		lens_options_register(sp);
		break;
	case S_CTX_LOCAL:
		lens_options_register(sp);
		lens_submit_srun_init();
		break;
	case S_CTX_REMOTE:
		lens_options_register(sp);
		break;
	case S_CTX_SLURMD:
		lens_slurmd_init(argc, argv);
		break;
	default:
		break;
	}
	return ESPANK_SUCCESS;
}

int slurm_spank_init_post_opt(spank_t sp, int argc, char **argv)
{
	switch (spank_context()) {
	case S_CTX_ALLOCATOR:
	case S_CTX_LOCAL:
		lens_submit_post_opt(sp, argc, argv);
		break;
	case S_CTX_REMOTE:
		lens_step_open(sp, argc, argv);
		break;
	default:
		break;
	}
	return ESPANK_SUCCESS;
}

int slurm_spank_local_user_init(spank_t sp, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (spank_context() == S_CTX_LOCAL)
		lens_submit_srun_launch(sp);
	return ESPANK_SUCCESS;
}

int slurm_spank_task_init(spank_t sp, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (spank_context() == S_CTX_REMOTE)
		lens_step_task_init(sp);
	return ESPANK_SUCCESS;
}

int slurm_spank_task_exit(spank_t sp, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (spank_context() == S_CTX_REMOTE)
		lens_step_task_exit(sp);
	return ESPANK_SUCCESS;
}

int slurm_spank_exit(spank_t sp, int argc, char **argv)
{
	(void)sp;
	(void)argc;
	(void)argv;
	switch (spank_context()) {
	case S_CTX_ALLOCATOR:
	case S_CTX_LOCAL:
		lens_submit_exit();
		break;
	case S_CTX_REMOTE:
		lens_step_close();
		break;
	default:
		break;
	}
	return ESPANK_SUCCESS;
}

int slurm_spank_job_prolog(spank_t sp, int argc, char **argv)
{
	lens_script_prolog(sp, argc, argv);
	return ESPANK_SUCCESS;
}

int slurm_spank_job_epilog(spank_t sp, int argc, char **argv)
{
	lens_script_epilog(sp, argc, argv);
	return ESPANK_SUCCESS;
}
