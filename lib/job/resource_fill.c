/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/resource_fill.h"

#include "lib/core/identity.h"
#include "lib/core/number.h"
#include "lib/core/resource.h"
#include "lib/core/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void entry_add(struct lens_attributes *resource, const char *key, const char *value)
{
	int64_t number;

	if (lens_resource_is_integer(key) && lens_int64_parse(value, &number) == 0)
		lens_attributes_int(resource, key, number);
	else
		lens_attributes_string(resource, key, value);
}

void lens_resource_add(struct lens_attributes *resource, const struct lens_carrier *carrier)
{
	for (size_t i = 0; i < lens_carrier_count(carrier); i++)
		entry_add(resource, lens_carrier_key(carrier, i), lens_carrier_value(carrier, i));
}

static int carrier_fill(struct lens_attributes *resource, const struct lens_job_site *site,
			struct lens_carrier *carrier, const char *cluster, const char *node)
{
	struct lens_text instance = LENS_TEXT_INIT;
	char *text;

	lens_resource_normalise(carrier);
	lens_resource_add(resource, carrier);
	if (lens_carrier_get(carrier, "host.name") == NULL && *node != '\0')
		lens_attributes_string(resource, "host.name", node);
	lens_text_addf(&instance, "%s%s%s", cluster, *cluster != '\0' ? "/" : "", node);
	text = lens_text_take(&instance);
	if (text == NULL)
		return -1;
	lens_attributes_string(resource, "service.name", site->service_name);
	lens_attributes_string(resource, "service.version", site->version);
	lens_attributes_string(resource, "service.instance.id", text);
	free(text);
	return 0;
}

int lens_resource_fill(struct lens_attributes *resource, const struct lens_job_site *site,
		       const char *carrier, const char *cluster, const char *node)
{
	struct lens_carrier *parsed = lens_carrier_create();
	int rc = -1;

	if (parsed != NULL && lens_carrier_parse(parsed, carrier, NULL) == 0)
		rc = carrier_fill(resource, site, parsed, cluster, node);
	lens_carrier_destroy(parsed);
	return rc;
}

static int ids_add(struct lens_carrier *carrier, const struct lens_note *note,
		   const struct lens_job_answer *answer)
{
	bool array = answer != NULL && answer->array_task != LENS_ANSWER_NONE;
	char job[16], array_job[16], array_task[16], restart[16], uuid[LENS_UUID_TEXT];
	struct lens_uuid_source source = { .job_id = job, .restart_count = restart };

	snprintf(job, sizeof(job), "%" PRIu32, note->leader);
	snprintf(restart, sizeof(restart), "%" PRIu32, note->attempt);
	snprintf(array_job, sizeof(array_job), "%" PRIu32,
		 array ? answer->array_job : note->leader);
	snprintf(array_task, sizeof(array_task), "%" PRIu32, array ? answer->array_task : 0);
	source.cluster = *note->cluster != '\0' ? note->cluster : NULL;
	if (array) {
		source.array_job_id = array_job;
		source.array_task_id = array_task;
	}
	if ((array &&
	     lens_carrier_setf(carrier, "slurm.job.id", "%s_%s", array_job, array_task) == -1) ||
	    (!array && (lens_carrier_set(carrier, "slurm.job.id", job) == -1 ||
			lens_carrier_set(carrier, "slurm.array.count", "1") == -1)) ||
	    lens_carrier_set(carrier, "slurm.job.id.raw", job) == -1 ||
	    lens_carrier_set(carrier, "slurm.array.job_id", array_job) == -1 ||
	    lens_carrier_set(carrier, "slurm.array.task_id", array_task) == -1 ||
	    lens_carrier_set(carrier, "slurm.restart_count", restart) == -1 ||
	    lens_carrier_set(carrier, "nemo.run.id", job) == -1 ||
	    lens_job_uuid_derive(uuid, &source) == -1 ||
	    lens_carrier_set(carrier, "nv.dl.job.uuid", uuid) == -1 ||
	    lens_run_uuid_derive(uuid, &source) == -1)
		return -1;
	return lens_carrier_set(carrier, "nv.dl.run.uuid", uuid);
}

static int answer_add(struct lens_carrier *carrier, const struct lens_job_answer *answer)
{
	if (lens_carrier_publish(carrier, "slurm.job.name", answer->name) == -1 ||
	    lens_carrier_publish(carrier, "slurm.partition", answer->partition) == -1 ||
	    lens_carrier_publish(carrier, "slurm.job.user", answer->user) == -1 ||
	    lens_carrier_publish(carrier, "slurm.job.account", answer->account) == -1 ||
	    lens_carrier_publish(carrier, "slurm.job.qos", answer->qos) == -1 ||
	    lens_carrier_publish(carrier, "slurm.job.reservation", answer->reservation) == -1)
		return -1;
	if (answer->nodes != 0 &&
	    lens_carrier_set_number(carrier, "slurm.nnodes", answer->nodes) == -1)
		return -1;
	if (answer->tasks == 0)
		return 0;
	return lens_carrier_set_number(carrier, "slurm.ntasks", answer->tasks);
}

int lens_resource_fill_attempt(struct lens_attributes *attributes, const struct lens_job_site *site,
			       const struct lens_job_attempt *attempt, const char *resource)
{
	const struct lens_note *note = &attempt->note;
	const struct lens_job_answer *answer = lens_job_attempt_started(attempt);
	struct lens_carrier *carrier = NULL;
	int rc = -1;

	if (resource != NULL)
		return lens_resource_fill(attributes, site, resource, note->cluster, note->node);
	/* After a requeue slurmctld's words on who and what hold still. */
	if (answer == NULL && attempt->end.found)
		answer = &attempt->end;
	carrier = lens_carrier_create();
	if (carrier == NULL || ids_add(carrier, note, answer) == -1)
		goto out;
	if (*note->sluid != '\0' && lens_carrier_publish(carrier, "slurm.sluid", note->sluid) == -1)
		goto out;
	if (*note->cluster != '\0' &&
	    lens_carrier_publish(carrier, "slurm.cluster.name", note->cluster) == -1)
		goto out;
	if (answer != NULL && answer_add(carrier, answer) == -1)
		goto out;
	rc = carrier_fill(attributes, site, carrier, note->cluster, note->node);
out:
	lens_carrier_destroy(carrier);
	return rc;
}
