/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_RANKS_H
#define LENS_CORE_RANKS_H

#include "lib/core/error.h"
#include "lib/core/text.h"

#include <stdbool.h>
#include <stdint.h>

/* What a Slurm task is: a rank, or a launcher that starts ranks of its own. */
enum lens_ranks {
	LENS_RANKS_AUTO,
	LENS_RANKS_TASK,
	LENS_RANKS_LAUNCHER,
};

/* "auto", "task", "launcher", in any case. 0 or -1. */
int lens_ranks_parse(const char *text, enum lens_ranks *out);
const char *lens_ranks_name(enum lens_ranks ranks);

/* The step as every one of its nodes sees it, so that all decide alike. */
struct lens_ranks_step {
	char *const *argv; /* the command; NULL: not known */
	size_t argc;       /* its words: no NULL need follow */
	char *const *env;  /* srun's, before any node put its own values in */
	uint32_t tasks;
	uint32_t nodes;    /* 0: not known */
	const char *asked; /* what lens_ranks_asked found; NULL: not known */
};

/*
 * Whether STEP's tasks are launchers under CHOICE. auto: they are when argv[0] is a known
 * launcher (torchrun, accelerate, deepspeed, ft_launcher, orted, prted, hydra_*, mpirun,
 * mpiexec, or `python -m` one of them), or when there are as many tasks as nodes and the
 * step asks for more than one GPU a task. REASON says why, for the log.
 */
bool lens_ranks_are_launched(enum lens_ranks choice, const struct lens_ranks_step *step,
			     struct lens_error *reason);

/* GPUs that the step asks for a task: by its own command line, else by SLURM_GPUS_PER_TASK,
 * SLURM_TRES_PER_TASK, SLURM_GPUS, SLURM_GPUS_PER_NODE, else the job's SLURM_JOB_GPUS; 0:
 * none or not known. */
uint64_t lens_ranks_gpus_per_task(const struct lens_ranks_step *step);

/* Adds to OUT what the COUNT WORDS of srun's command line before its command ask of GPUs:
 * `--gpus-per-task=2`, the narrowest option and of that the last; nothing when they ask for none.
 * Abbreviated options are not seen. */
void lens_ranks_asked(struct lens_text *out, char *const *words, size_t count);

#endif
