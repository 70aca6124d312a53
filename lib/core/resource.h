/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_RESOURCE_H
#define LENS_CORE_RESOURCE_H

#include "lib/core/carrier.h"
#include "lib/core/env.h"

#include <stdbool.h>
#include <stddef.h>

#define LENS_ATTRIBUTES_NAME "OTEL_RESOURCE_ATTRIBUTES"

/*
 * The keys that say which job, attempt and rank a process is: what an outer job's
 * carrier must not lend to an inner one. The first lens_inherited_key_count are those
 * that NeMo Lens takes from an inherited carrier.
 */
extern const char *const lens_identity_keys[];
extern const size_t lens_identity_key_count;
extern const size_t lens_inherited_key_count;

/*
 * Adds the Slurm rows of NeMo Lens's resource detection that ENV tells: the ids, names,
 * counts and nv.dl.job.uuid. Nothing without SLURM_JOB_ID. An integer row whose variable
 * is no integer is omitted (slurm.restart_count counts as 0, slurm.array.count as 1 when unset).
 * slurm.head_node.name only outside a step (SLURM_STEP_ID and SLURM_STEPID unset, or
 * negative, as 26.05's batch step has it, or 4294967290, 22.05's interactive step). 0, or
 * -1 when memory ran out.
 */
int lens_resource_slurm(struct lens_carrier *out, const struct lens_env *env);

/*
 * Adds what the process's surroundings tell: host.name (HOST, NULL to leave it out),
 * host.gpu.count from CUDA_VISIBLE_DEVICES (empty is 0, unset omits it),
 * deployment.environment (DEPLOYMENT_ENV, ENVIRONMENT unless it is Slurm's own BATCH, else
 * FALLBACK_ENVIRONMENT),
 * nv.dl.launch.container.image. 0, or -1 when memory ran out.
 */
int lens_resource_local(struct lens_carrier *out, const struct lens_env *env, const char *host,
			const char *fallback_environment);

/* Adds the k8s.* rows when ENV, slurmd's own (NULL none), says that slurmd runs in a pod. 0 or -1 (memory). */
int lens_resource_kubernetes(struct lens_carrier *out, char *const *env, bool in_pod);

/* Adds nv.dl.run.uuid from ENV; nothing when it cannot be told. RUN_ID stands in where there
 * is no Slurm id. 0 or -1 (memory). */
int lens_resource_run_uuid(struct lens_carrier *out, const struct lens_env *env,
			   const char *run_id);

/*
 * Takes from ATTRIBUTES, a user's carrier, what may not win over a derived value: an
 * empty inherited key, and an integer row that is no `[+-]?[0-9]+` within int64.
 */
void lens_resource_normalise(struct lens_carrier *attributes);

/* Whether KEY is an integer in OTLP (the rows that resource detection restores). */
bool lens_resource_is_integer(const char *key);

#endif
