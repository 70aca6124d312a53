/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/ask.h"

#include "lib/job/ask_slurm.h"

#include <errno.h>
#include <stdlib.h>

struct lens_ask {
	struct lens_ask_child *child;
};

static int job_ask(const void *question, struct lens_carrier *record, struct lens_error *err)
{
	const uint32_t *job = question;
	struct lens_job_answer answer;

	if (lens_ask_slurmctld(*job, &answer, err) != 0)
		return -1;
	if (lens_job_answer_write(&answer, record) != 0)
		return lens_error_set(err, "out of memory");
	return 0;
}

struct lens_ask *lens_ask_start(uint32_t job, struct lens_error *err)
{
	struct lens_ask *ask = calloc(1, sizeof(*ask));

	if (ask == NULL) {
		lens_error_set(err, "out of memory");
		return NULL;
	}
	ask->child = lens_ask_child_start(job_ask, &job, err);
	if (ask->child != NULL)
		return ask;
	free(ask);
	return NULL;
}

int lens_ask_fd(const struct lens_ask *ask)
{
	return lens_ask_child_fd(ask->child);
}

int64_t lens_ask_remaining_ms(const struct lens_ask *ask)
{
	return lens_ask_child_remaining_ms(ask->child);
}

int lens_ask_finish(struct lens_ask *ask, struct lens_job_answer *out, struct lens_error *err)
{
	struct lens_carrier *record = NULL;
	int rc = lens_ask_child_finish(ask->child, &record, err);

	if (rc == 0 && lens_job_answer_read(out, record) == -1)
		rc = lens_error_set(err, "out of memory");
	lens_carrier_destroy(record);
	return rc;
}

void lens_ask_destroy(struct lens_ask *ask)
{
	int saved = errno;

	if (ask == NULL)
		return;
	lens_ask_child_destroy(ask->child);
	free(ask);
	errno = saved;
}
