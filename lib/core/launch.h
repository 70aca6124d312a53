/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_LAUNCH_H
#define LENS_CORE_LAUNCH_H

#include "lib/core/carrier.h"
#include "lib/core/config.h"
#include "lib/core/env.h"
#include "lib/core/identity.h"
#include "lib/core/settings.h"
#include "lib/core/traceparent.h"

#include <stdbool.h>
#include <stdint.h>

/* Where a process stands in its job. */
enum lens_place {
	LENS_PLACE_BATCH,       /* the batch script: no rank */
	LENS_PLACE_INTERACTIVE, /* the shell of salloc's interactive step: no rank */
	LENS_PLACE_STEP,        /* a task of an srun: a rank */
};

/* What is known better than the environment tells it (docs/identity.md says why). */
struct lens_launch {
	enum lens_place place;
	uint32_t job;    /* this component's own id */
	uint32_t leader; /* the id that tasks see: the het leader's */
	uint32_t attempt;
	const char *cluster;           /* NULL: the environment's */
	const char *sluid;             /* NULL or "": none */
	const char *head_node;         /* NULL: not known */
	bool array;                    /* whether SLURM_ARRAY_* is this job's */
	uint32_t step;                 /* Slurm's step number */
	bool launched;                 /* a task is a launcher: it holds no rank */
	bool in_outer;                 /* --lens-traceparent=parent: spans go into outer's trace */
	struct lens_traceparent outer; /* the submitter's; zero: none */
	const char *host;              /* host.name; NULL leaves it out */
	bool in_pod;                   /* slurmd's pod by its file system */
	char *const *daemon_env;       /* slurmd's environment, for k8s.*; NULL none */
};

/* The task's own numbers, from the environment that Slurm gave it. */
struct lens_rank {
	uint32_t rank;
	uint32_t world;
	uint32_t local;
};

/*
 * Fills the span that is the parent of what the process opens: `slurm.task` for an
 * exporting rank, `slurm.step` for another, `slurm.batch` for the batch script,
 * `slurm.step` for the interactive shell. RANK is ignored outside LENS_PLACE_STEP. 0 or
 * -1 (memory).
 */
int lens_launch_span(struct lens_span_id *out, const struct lens_launch *launch,
		     const struct lens_trace_id *trace, const struct lens_rank *rank, bool exports);

/* Whether a task of LAUNCH is one rank. */
bool lens_launch_has_ranks(const struct lens_launch *launch);

/* The job's own trace of LAUNCH under the site's REALM: what span ids hash, and where spans
 * go unless launch->in_outer. 0 or -1 (memory). */
int lens_launch_trace(struct lens_trace_id *out, const struct lens_launch *launch,
		      const char *realm);

/*
 * ENV with what LAUNCH knows better put in place, to derive from: no process gets it. The
 * caller destroys; NULL when memory ran out.
 */
struct lens_env *lens_launch_truth(const struct lens_env *env, const struct lens_launch *launch);

/* Adds the run id to OUT: SETTINGS' (option, then NEMO_LENS_RUN_ID), else the one in OWN, the
 * user's carrier (may be NULL) unless it holds control characters, else the job id. 0 or -1
 * (memory). */
int lens_launch_run_id(struct lens_text *out, const struct lens_launch *launch,
		       const struct lens_settings *settings, const struct lens_carrier *own);

/* What TRUTH, LAUNCH and CONFIG tell of the job, without any rank. The caller destroys; NULL
 * when memory ran out. */
struct lens_carrier *lens_launch_attributes(const struct lens_env *truth,
					    const struct lens_launch *launch,
					    const struct lens_config *config, const char *run_id);

/* Adds nv.dl.rank, nv.dl.world_size, nv.dl.local_rank and service.instance.id. 0 or -1 (memory). */
int lens_launch_rank_attributes(struct lens_carrier *attributes, const struct lens_rank *rank,
				const char *run_id);

/*
 * The attributes of the job for lens's own spans: the Slurm rows, run and user id, uuids
 * and surroundings that ENV and LAUNCH tell, the user's carrier merged in. The caller
 * destroys; NULL when memory ran out.
 */
struct lens_carrier *lens_launch_resource(const struct lens_env *env,
					  const struct lens_launch *launch,
					  const struct lens_config *config,
					  const struct lens_settings *settings);

#endif
