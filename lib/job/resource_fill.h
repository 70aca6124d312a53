/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_RESOURCE_FILL_H
#define LENS_JOB_RESOURCE_FILL_H

#include "lib/core/carrier.h"
#include "lib/job/attempt.h"
#include "lib/otlp/span.h"

/* What the site's settings bring to every span; strings are never NULL. */
struct lens_job_site {
	const char *realm;
	const char *service_name;
	const char *version;
};

/* Adds what CARRIER has, the rows that are integers as integers. */
void lens_resource_add(struct lens_attributes *resource, const struct lens_carrier *carrier);

/*
 * Fills RESOURCE from the carrier text CARRIER (NULL: none) of NODE in CLUSTER, integers
 * typed (the published Lens page on resource detection names them): the four of
 * Slurm's identity are left out when they are no integer, others stay as text. lens's
 * spans have lens's own service.name, service.version and service.instance.id
 * (CLUSTER/NODE); host.name is NODE unless the carrier knows better. 0, or -1 (memory).
 */
int lens_resource_fill(struct lens_attributes *resource, const struct lens_job_site *site,
		       const char *carrier, const char *cluster, const char *node);

/* As lens_resource_fill with RESOURCE, a journal's carrier; NULL: none is known, then from the
 * note and what slurmctld said. */
int lens_resource_fill_attempt(struct lens_attributes *attributes, const struct lens_job_site *site,
			       const struct lens_job_attempt *attempt, const char *resource);

#endif
