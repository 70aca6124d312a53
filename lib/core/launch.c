/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/launch.h"

#include "lib/core/encoding.h"
#include "lib/core/env.h"
#include "lib/core/number.h"
#include "lib/core/resource.h"
#include "lib/core/show.h"
#include "lib/core/step_id.h"

#include <stdio.h>
#include <string.h>

bool lens_launch_has_ranks(const struct lens_launch *launch)
{
	return launch->place == LENS_PLACE_STEP && !launch->launched;
}

int lens_launch_trace(struct lens_trace_id *out, const struct lens_launch *launch,
		      const char *realm)
{
	return lens_trace_id_derive(out, realm, launch->cluster, launch->leader, launch->attempt);
}

int lens_launch_span(struct lens_span_id *out, const struct lens_launch *launch,
		     const struct lens_trace_id *trace, const struct lens_rank *rank, bool exports)
{
	char step[LENS_STEP_TEXT];
	char place[2 * LENS_STEP_TEXT];

	if (launch->place == LENS_PLACE_BATCH) {
		snprintf(place, sizeof(place), "%u", launch->job);
		return lens_span_id_derive(out, trace, "slurm.batch", place);
	}
	lens_step_text(step, launch->place == LENS_PLACE_INTERACTIVE ? LENS_STEP_INTERACTIVE
								     : launch->step);
	if (launch->place == LENS_PLACE_INTERACTIVE || !exports)
		return lens_span_id_derive(out, trace, "slurm.step", step);
	snprintf(place, sizeof(place), "%s/%u", step, rank->rank);
	return lens_span_id_derive(out, trace, "slurm.task", place);
}

static int set_number(struct lens_env *env, const char *name, uint32_t number)
{
	char text[LENS_INT64_TEXT];

	lens_int64_format(text, number);
	return lens_env_set(env, name, text);
}

/* Variables of an array job, which a job submitted from inside one inherits. */
static const char *const array_variables[] = {
	"SLURM_ARRAY_JOB_ID",
	"SLURM_ARRAY_TASK_ID",
	"SLURM_ARRAY_TASK_COUNT",
};

struct lens_env *lens_launch_truth(const struct lens_env *env, const struct lens_launch *launch)
{
	struct lens_env *truth = lens_env_copy(env);

	if (!truth || set_number(truth, "SLURM_JOB_ID", launch->leader) ||
	    set_number(truth, "SLURM_RESTART_COUNT", launch->attempt))
		goto fail;
	if (launch->cluster && lens_env_set(truth, "SLURM_CLUSTER_NAME", launch->cluster))
		goto fail;
	if (launch->sluid && *launch->sluid &&
	    lens_env_set(truth, "LENS_SLURM_SLUID", launch->sluid))
		goto fail;
	for (size_t i = 0; !launch->array && i < sizeof(array_variables) / sizeof(char *); i++)
		if (lens_env_set(truth, array_variables[i], NULL))
			goto fail;
	if (launch->place == LENS_PLACE_STEP) {
		if (set_number(truth, "SLURM_STEP_ID", launch->step))
			goto fail;
	} else if (lens_env_set(truth, "SLURM_STEP_ID", NULL) ||
		   lens_env_set(truth, "SLURM_STEPID", NULL)) {
		goto fail;
	}
	return truth;
fail:
	lens_env_destroy(truth);
	return NULL;
}

int lens_launch_run_id(struct lens_text *out, const struct lens_launch *launch,
		       const struct lens_settings *settings, const struct lens_carrier *own)
{
	const char *run = settings->run_id;

	if (!run && own)
		run = lens_carrier_get(own, "nemo.run.id");
	/* It becomes a variable of the task's too: no line break may slip in by an escape. */
	if (run && *run && lens_value_printable(run))
		lens_text_adds(out, run);
	else
		lens_text_addf(out, "%u", launch->leader);
	return out->failed ? -1 : 0;
}

/* The site's Attributes, whose values are published like all that is not the user's. */
static int add_site_attributes(struct lens_carrier *attributes, const char *text)
{
	struct lens_carrier *site = lens_carrier_create();
	int rc = site ? lens_carrier_parse(site, text, NULL) : -1;

	for (size_t i = 0; rc == 0 && i < lens_carrier_count(site); i++)
		rc = lens_carrier_publish(attributes, lens_carrier_key(site, i),
					  lens_carrier_value(site, i));
	lens_carrier_destroy(site);
	return rc;
}

struct lens_carrier *lens_launch_attributes(const struct lens_env *truth,
					    const struct lens_launch *launch,
					    const struct lens_config *config, const char *run_id)
{
	struct lens_carrier *attributes = lens_carrier_create();

	if (!attributes || lens_resource_slurm(attributes, truth) ||
	    lens_carrier_publish(attributes, "slurm.head_node.name", launch->head_node) ||
	    lens_resource_run_uuid(attributes, truth, run_id) ||
	    lens_resource_local(attributes, truth, launch->host, config->environment) ||
	    lens_resource_kubernetes(attributes, launch->daemon_env, launch->in_pod) ||
	    add_site_attributes(attributes, config->attributes) ||
	    lens_carrier_publish(attributes, "nemo.run.id", run_id)) {
		lens_carrier_destroy(attributes);
		return NULL;
	}
	return attributes;
}

int lens_launch_rank_attributes(struct lens_carrier *attributes, const struct lens_rank *rank,
				const char *run_id)
{
	char suffix[32];
	size_t cut;

	/* A long run id is cut, not the rank. */
	snprintf(suffix, sizeof(suffix), "-rank%u", rank->rank);
	cut = lens_utf8_cut(run_id, strlen(run_id), LENS_VALUE_MAX - strlen(suffix));
	if (lens_carrier_set_number(attributes, "nv.dl.rank", rank->rank) ||
	    lens_carrier_set_number(attributes, "nv.dl.world_size", rank->world) ||
	    lens_carrier_set_number(attributes, "nv.dl.local_rank", rank->local))
		return -1;
	return lens_carrier_setf(attributes, "service.instance.id", "%.*s%s", (int)cut, run_id,
				 suffix);
}

/* What the user says of the job, as the tasks have it. */
static int merge_user(struct lens_carrier *resource, const struct lens_carrier *own,
		      const struct lens_settings *settings)
{
	const char *user = settings->user ? settings->user : lens_carrier_get(own, "nemo.user.id");

	for (size_t i = 0; i < lens_carrier_count(resource); i++) {
		const char *key = lens_carrier_key(resource, i);
		const char *value = lens_carrier_get(own, key);

		if (value && strcmp(key, "nemo.run.id") != 0 &&
		    lens_carrier_publish(resource, key, value))
			return -1;
	}
	return lens_carrier_publish(resource, "nemo.user.id", user);
}

struct lens_carrier *lens_launch_resource(const struct lens_env *env,
					  const struct lens_launch *launch,
					  const struct lens_config *config,
					  const struct lens_settings *settings)
{
	struct lens_env *truth = lens_launch_truth(env, launch);
	struct lens_carrier *own = lens_carrier_create();
	struct lens_carrier *resource = NULL;
	struct lens_text run = LENS_TEXT_INIT;

	if (!truth || !own ||
	    lens_carrier_parse(own, lens_env_value(env, LENS_ATTRIBUTES_NAME), NULL))
		goto out;
	lens_resource_normalise(own);
	if (lens_launch_run_id(&run, launch, settings, own))
		goto out;
	resource = lens_launch_attributes(truth, launch, config, run.data);
	if (!resource)
		goto out;
	/* The resource is the job's: a step's task count and a task's devices are not. */
	if (launch->place == LENS_PLACE_STEP) {
		lens_carrier_remove(resource, "slurm.ntasks");
		lens_carrier_remove(resource, "host.gpu.count");
	}
	if (merge_user(resource, own, settings)) {
		lens_carrier_destroy(resource);
		resource = NULL;
	}
out:
	lens_text_clear(&run);
	lens_carrier_destroy(own);
	lens_env_destroy(truth);
	return resource;
}
