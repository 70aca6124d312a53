/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_SPANK_FACTS_H
#define LENS_SPANK_FACTS_H

#include <slurm/spank.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The one reader of SPANK's items: what each answers, and where it lies, was measured on
 * 22.05, 24.11 and 26.05 and stands in docs/slurm-behaviour.md. A function returns 0, or
 * -1 when Slurm does not tell.
 */
int lens_facts_job(spank_t sp, uint32_t *job);   /* this component's own id */
int lens_facts_step(spank_t sp, uint32_t *step); /* 4294967291 is batch */

/* The step's environment; from task_init on in the task's process that task's, before it
 * and in slurmstepd the submitter's. Borrowed from Slurm. NULL when not told. */
char *const *lens_facts_env(spank_t sp);

/* The command's words, borrowed, and how many; 0 when not told. No NULL need be behind them: in a het
 * job's srun there is none. */
size_t lens_facts_argv(spank_t sp, char *const **out);

/* Whether the job is an array's element: S_JOB_ARRAY_TASK_ID is not NO_VAL. (In a step
 * S_JOB_ARRAY_ID is never 0, and both are taken from an environment that may be another job's.) */
bool lens_facts_is_array(spank_t sp);

/* Tasks of the step on all nodes. In the batch step Slurm answers the job's -n: 1 there. */
uint32_t lens_facts_tasks(spank_t sp, uint32_t step);

/* Nodes of the step; 0 when Slurm does not tell (in the batch step it answers 0). */
uint32_t lens_facts_nodes(spank_t sp);

/* The node's number in the step; in a het job in the component, in the extern step in the job. */
int lens_facts_nodeid(spank_t sp, uint32_t *nodeid);

/* In task_exit: the wait status and the process of the task. */
int lens_facts_exit_status(spank_t sp, int *status);
int lens_facts_task_pid(spank_t sp, int *pid);

/* In task_exit: the task's rank in the whole step. In a het job S_TASK_GLOBAL_ID counts per
 * component, and slurmstepd's SLURM_PROCID is the true one there. */
int lens_facts_exit_rank(spank_t sp, uint32_t *rank);

/* In task_exit and task_init: the task's number on its node. */
int lens_facts_local_rank(spank_t sp, uint32_t *local);

#endif
