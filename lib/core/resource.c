/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/resource.h"

#include "lib/core/identity.h"
#include "lib/core/number.h"
#include "lib/core/words.h"

#include <stdint.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *const lens_identity_keys[] = {
	"slurm.job.id",
	"slurm.job.id.raw",
	"slurm.array.job_id",
	"slurm.array.task_id",
	"slurm.array.count",
	"slurm.sluid",
	"slurm.array.sluid",
	"slurm.job.name",
	"slurm.cluster.name",
	"slurm.partition",
	"slurm.head_node.name",
	"slurm.nnodes",
	"slurm.ntasks",
	"slurm.restart_count",
	"slurm.job.user",
	"slurm.job.account",
	"slurm.job.qos",
	"slurm.job.reservation",
	"slurm.segment",
	"slurm.topology.addr",
	"slurm.topology.addr_pattern",
	"nv.dl.job.uuid",
	"nv.dl.run.uuid",
	"nemo.run.id",
	"nv.dl.rank",
	"nv.dl.world_size",
	"nv.dl.local_rank",
	"service.instance.id",
	"host.name",
};
const size_t lens_identity_key_count = COUNT(lens_identity_keys);
const size_t lens_inherited_key_count = 23;

static const char *const strict_keys[] = {
	"slurm.array.count",
	"slurm.nnodes",
	"slurm.ntasks",
	"slurm.restart_count",
};

static const char *const integer_keys[] = {
	"nv.dl.rank",
	"nv.dl.world_size",
	"nv.dl.local_rank",
	"nv.dl.topology.size.tp",
	"nv.dl.topology.size.pp",
	"nv.dl.topology.size.dp",
	"nv.dl.training.config.global_batch_size",
	"nv.dl.training.config.micro_batch_size",
	"nv.dl.training.config.sequence_length",
	"nv.dl.training.target.train_iters",
	"nv.dl.training.target.train_samples",
	"nv.dl.training.target.train_tokens",
	"nv.gpu.index",
	"nv.gpu.memory_total",
	"host.gpu.count",
};

/* A row whose text is taken over as it is, from the first variable that is not empty. */
struct text_row {
	const char *key;
	const char *variables[2];
};

static const struct text_row text_rows[] = {
	{ "slurm.sluid", { "LENS_SLURM_SLUID", "NV_LAUNCH_SLUID" } },
	{ "slurm.array.sluid", { "LENS_SLURM_ARRAY_SLUID", "NV_LAUNCH_ARRAY_SLUID" } },
	{ "slurm.job.name", { "SLURM_JOB_NAME", NULL } },
	{ "slurm.cluster.name", { "SLURM_CLUSTER_NAME", NULL } },
	{ "slurm.partition", { "SLURM_JOB_PARTITION", "SLURM_PARTITION" } },
	{ "slurm.job.user", { "SLURM_JOB_USER", NULL } },
	{ "slurm.job.account", { "SLURM_JOB_ACCOUNT", NULL } },
	{ "slurm.job.qos", { "SLURM_JOB_QOS", NULL } },
	{ "slurm.job.reservation", { "SLURM_JOB_RESERVATION", NULL } },
	{ "slurm.segment", { "SLURM_SEGMENT", NULL } },
	{ "slurm.topology.addr", { "SLURM_TOPOLOGY_ADDR", NULL } },
	{ "slurm.topology.addr_pattern", { "SLURM_TOPOLOGY_ADDR_PATTERN", NULL } },
};

static const struct text_row kubernetes_rows[] = {
	{ "k8s.namespace.name", { "K8S_NAMESPACE", NULL } },
	{ "k8s.pod.name", { "K8S_POD_NAME", NULL } },
	{ "k8s.pod.uid", { "K8S_POD_UID", NULL } },
	{ "k8s.node.name", { "K8S_NODE_NAME", NULL } },
	{ "k8s.container.name", { "K8S_CONTAINER_NAME", NULL } },
	{ "k8s.job.name", { "K8S_JOB_NAME", NULL } },
};

static const char *env_first(const struct lens_env *env, const char *first, const char *second)
{
	const char *value = lens_env_value_nonempty(env, first);

	return value || !second ? value : lens_env_value_nonempty(env, second);
}

static int publish_text_rows(struct lens_carrier *out, const struct lens_env *env,
			     const struct text_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *value = env_first(env, rows[i].variables[0], rows[i].variables[1]);

		if (lens_carrier_publish(out, rows[i].key, value))
			return -1;
	}
	return 0;
}

/* TEXT (NULL: FALLBACK) as an integer row; nothing when it is none. */
static int publish_integer(struct lens_carrier *out, const char *key, const char *text,
			   const char *fallback)
{
	int64_t number;

	if (lens_int64_parse(text ? text : fallback, &number))
		return 0;
	return lens_carrier_set_number(out, key, number);
}

static struct lens_uuid_source uuid_source(const struct lens_env *env)
{
	return (struct lens_uuid_source){
		.cluster = lens_env_value_nonempty(env, "SLURM_CLUSTER_NAME"),
		.job_id = lens_env_value_nonempty(env, "SLURM_JOB_ID"),
		.array_job_id = lens_env_value_nonempty(env, "SLURM_ARRAY_JOB_ID"),
		.array_task_id = lens_env_value_nonempty(env, "SLURM_ARRAY_TASK_ID"),
		.restart_count = lens_env_value_nonempty(env, "SLURM_RESTART_COUNT"),
		.torchelastic_restart_count =
			lens_env_value_nonempty(env, "TORCHELASTIC_RESTART_COUNT"),
	};
}

/* The first of the ids that are no srun's step: batch, interactive and such (slurm.h). */
#define FIRST_SPECIAL_STEP 0xfffffff0U

static bool outside_step(const struct lens_env *env)
{
	const char *step = env_first(env, "SLURM_STEP_ID", "SLURM_STEPID");
	uint32_t number;

	if (!step || *step == '-')
		return true;
	/* 22.05's interactive step has 4294967290 here. */
	return lens_uint32_parse(step, &number) == 0 && number >= FIRST_SPECIAL_STEP;
}

static int publish_ids(struct lens_carrier *out, const struct lens_env *env, const char *job)
{
	const char *array_job = lens_env_value_nonempty(env, "SLURM_ARRAY_JOB_ID");
	const char *array_task = lens_env_value_nonempty(env, "SLURM_ARRAY_TASK_ID");
	struct lens_text id = LENS_TEXT_INIT;
	int rc = -1;

	if (array_job && array_task)
		lens_text_addf(&id, "%s_%s", array_job, array_task);
	else
		lens_text_adds(&id, job);
	if (!id.failed)
		rc = lens_carrier_publish(out, "slurm.job.id", id.data);
	lens_text_clear(&id);
	if (rc || lens_carrier_publish(out, "slurm.job.id.raw", job) ||
	    lens_carrier_publish(out, "slurm.array.job_id", array_job ? array_job : job) ||
	    lens_carrier_publish(out, "slurm.array.task_id", array_task ? array_task : "0"))
		return -1;
	return publish_integer(out, "slurm.array.count",
			       lens_env_value_nonempty(env, "SLURM_ARRAY_TASK_COUNT"), "1");
}

int lens_resource_slurm(struct lens_carrier *out, const struct lens_env *env)
{
	const char *job = lens_env_value_nonempty(env, "SLURM_JOB_ID");
	struct lens_uuid_source source = uuid_source(env);
	char uuid[LENS_UUID_TEXT];

	if (!job)
		return 0;
	if (publish_ids(out, env, job) ||
	    publish_text_rows(out, env, text_rows, COUNT(text_rows)) ||
	    publish_integer(out, "slurm.nnodes",
			    env_first(env, "SLURM_JOB_NUM_NODES", "SLURM_NNODES"), NULL) ||
	    publish_integer(out, "slurm.ntasks", lens_env_value_nonempty(env, "SLURM_NTASKS"),
			    NULL) ||
	    publish_integer(out, "slurm.restart_count",
			    lens_env_value_nonempty(env, "SLURM_RESTART_COUNT"), "0"))
		return -1;
	if (outside_step(env) &&
	    lens_carrier_publish(out, "slurm.head_node.name",
				 lens_env_value_nonempty(env, "SLURMD_NODENAME")))
		return -1;
	if (lens_job_uuid_derive(uuid, &source))
		return -1;
	return lens_carrier_set(out, "nv.dl.job.uuid", uuid);
}

int lens_resource_run_uuid(struct lens_carrier *out, const struct lens_env *env, const char *run_id)
{
	struct lens_uuid_source source = uuid_source(env);
	char uuid[LENS_UUID_TEXT];

	source.run_id = run_id;
	if (!source.job_id && !source.array_job_id && !run_id)
		return 0;
	if (lens_run_uuid_derive(uuid, &source))
		return -1;
	return lens_carrier_set(out, "nv.dl.run.uuid", uuid);
}

/* How many devices CUDA_VISIBLE_DEVICES names: its entries that are not blank. */
static unsigned int gpu_count(const char *devices)
{
	unsigned int count = 0;

	while (*devices) {
		size_t length = strcspn(devices, ",");

		if (strspn(devices, " \t") < length)
			count++;
		devices += length;
		devices += *devices == ',';
	}
	return count;
}

/* ENVIRONMENT, unless it is what Slurm puts into every batch script (src/common/env.c,
 * env_array_for_batch_job): that names no deployment. */
static const char *user_environment(const struct lens_env *env)
{
	const char *value = lens_env_value_nonempty(env, "ENVIRONMENT");

	return value && strcmp(value, "BATCH") != 0 ? value : NULL;
}

int lens_resource_local(struct lens_carrier *out, const struct lens_env *env, const char *host,
			const char *fallback_environment)
{
	const char *devices = lens_env_value(env, "CUDA_VISIBLE_DEVICES");
	const char *environment = lens_env_value_nonempty(env, "DEPLOYMENT_ENV");

	if (!environment)
		environment = user_environment(env);
	if (!environment && fallback_environment && *fallback_environment)
		environment = fallback_environment;
	if (lens_carrier_publish(out, "deployment.environment", environment) ||
	    lens_carrier_publish(out, "host.name", host))
		return -1;
	if (devices && lens_carrier_set_number(out, "host.gpu.count", gpu_count(devices)))
		return -1;
	return lens_carrier_publish(out, "nv.dl.launch.container.image",
				    env_first(env, "SLURM_CONTAINER", "PYXIS_CONTAINER_IMAGE"));
}

int lens_resource_kubernetes(struct lens_carrier *out, char *const *env, bool in_pod)
{
	struct lens_env *daemon;
	int rc = -1;

	if (!env || (!in_pod && !lens_env_get_nonempty(env, "KUBERNETES_SERVICE_HOST")))
		return 0;
	daemon = lens_env_create(env);
	/* HOSTNAME stands in for a name that is not set at all, not for an empty one. */
	if (daemon && (lens_env_value(daemon, "K8S_POD_NAME") ||
		       lens_carrier_publish(out, "k8s.pod.name",
					    lens_env_value_nonempty(daemon, "HOSTNAME")) == 0))
		rc = publish_text_rows(out, daemon, kubernetes_rows, COUNT(kubernetes_rows));
	lens_env_destroy(daemon);
	return rc;
}

void lens_resource_normalise(struct lens_carrier *attributes)
{
	int64_t number;

	for (size_t i = 0; i < lens_inherited_key_count; i++) {
		const char *value = lens_carrier_get(attributes, lens_identity_keys[i]);

		if (value && !*value)
			lens_carrier_remove(attributes, lens_identity_keys[i]);
	}
	for (size_t i = 0; i < COUNT(strict_keys); i++) {
		const char *value = lens_carrier_get(attributes, strict_keys[i]);

		if (value && lens_int64_parse(value, &number))
			lens_carrier_remove(attributes, strict_keys[i]);
	}
}

bool lens_resource_is_integer(const char *key)
{
	return lens_words_have(strict_keys, COUNT(strict_keys), key) ||
	       lens_words_have(integer_keys, COUNT(integer_keys), key);
}
