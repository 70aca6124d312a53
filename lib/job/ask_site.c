/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/ask_site.h"

#include "lib/core/record.h"
#include "lib/job/ask_child.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#ifdef PROLOG_FLAG_RUN_IN_JOB
#define RUN_IN_JOB PROLOG_FLAG_RUN_IN_JOB
#else
#define RUN_IN_JOB 0 /* this Slurm has no such flag */
#endif

/* SLURM_CONF_SERVER and the like name machines to talk to. */
static void environment_reset(void)
{
	const char *conf = getenv("SLURM_CONF");
	char *copy = conf != NULL ? strdup(conf) : NULL;

	clearenv();
	if (copy != NULL)
		setenv("SLURM_CONF", copy, 1);
	free(copy);
}

static int text_add(struct lens_carrier *record, const char *key, const char *value)
{
	return lens_carrier_set(record, key, value != NULL ? value : "");
}

static int conf_write(struct lens_carrier *record, const slurm_conf_t *conf)
{
	unsigned int flags = conf->prolog_flags;

	return text_add(record, "version", conf->version) ||
			       text_add(record, "cluster", conf->cluster_name) ||
			       text_add(record, "plugstack", conf->plugstack) ||
			       text_add(record, "plugin_dir", conf->plugindir) ||
			       text_add(record, "alloc", flags & PROLOG_FLAG_ALLOC ? "1" : "0") ||
			       text_add(record, "contain",
					flags & PROLOG_FLAG_CONTAIN ? "1" : "0") ||
			       text_add(record, "run_in_job", flags & RUN_IN_JOB ? "1" : "0") ||
			       lens_carrier_set_number(record, "now", conf->last_update)
		       ? -1
		       : 0;
}

static int site_ask(const void *question, struct lens_carrier *record, struct lens_error *err)
{
	slurm_conf_t *conf = NULL;

	(void)question;
	if (geteuid() == 0)
		environment_reset();
	slurm_init(NULL);
	errno = 0;
	if (slurm_load_ctl_conf(0, &conf) != SLURM_SUCCESS)
		return lens_error_set(err, "slurmctld: %s", slurm_strerror(errno));
	/* CONF ends with this process: what frees it has another name on 26.05. */
	return conf_write(record, conf) == 0 ? 0 : lens_error_set(err, "out of memory");
}

static char *text_read(const struct lens_carrier *record, const char *key)
{
	const char *value = record != NULL ? lens_carrier_get(record, key) : NULL;

	return strdup(value != NULL ? value : "");
}

static int site_read(struct lens_site *out, const struct lens_carrier *record,
		     struct lens_error *err)
{
	out->version = text_read(record, "version");
	out->cluster = text_read(record, "cluster");
	out->plugstack = text_read(record, "plugstack");
	out->plugin_dir = text_read(record, "plugin_dir");
	if (out->version == NULL || out->cluster == NULL || out->plugstack == NULL ||
	    out->plugin_dir == NULL)
		return lens_error_set(err, "out of memory");
	if (record == NULL)
		return 0;
	out->alloc = lens_record_flag(record, "alloc");
	out->contain = lens_record_flag(record, "contain");
	out->run_in_job = lens_record_flag(record, "run_in_job");
	out->now = (int64_t)lens_record_number(record, "now", 0);
	return 0;
}

int lens_site_ask(struct lens_site *out, struct lens_error *err)
{
	struct lens_carrier *record = NULL;
	struct lens_ask_child *child;
	int rc = -1;

	*out = (struct lens_site){ .asked = (int64_t)time(NULL) };
	child = lens_ask_child_start(site_ask, NULL, err);
	if (child != NULL) {
		while ((rc = lens_ask_child_finish(child, &record, err)) == 1) {
			struct pollfd fd = { .fd = lens_ask_child_fd(child), .events = POLLIN };

			poll(&fd, 1, (int)lens_ask_child_remaining_ms(child));
		}
	}
	out->answered = (int64_t)time(NULL);
	/* Without an answer the strings are empty, and ERR says why. */
	if (site_read(out, record, rc == 0 ? err : NULL) != 0)
		rc = -1;
	lens_carrier_destroy(record);
	lens_ask_child_destroy(child);
	return rc;
}

void lens_site_clear(struct lens_site *site)
{
	free(site->version);
	free(site->cluster);
	free(site->plugstack);
	free(site->plugin_dir);
	*site = (struct lens_site){ 0 };
}
