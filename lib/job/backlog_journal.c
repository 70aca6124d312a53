/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/backlog_parts.h"

#include "lib/core/journal.h"
#include "lib/core/record.h"
#include "lib/job/spans.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A writer that has its lock writes its first record at once; milliseconds. */
#define BEGIN_MS 1000

/* Notes that the journal NAME is still needed. Without memory a note may be settled before
 * its journal, which costs a wider window, no span. */
static void live_add(struct lens_backlog *backlog, const struct lens_state_name *name,
		     const struct lens_job_step *step)
{
	struct backlog_live *live =
		reallocarray(backlog->live, backlog->live_count + 1, sizeof(*live));

	if (live == NULL)
		return;
	backlog->live = live;
	live[backlog->live_count++] = (struct backlog_live){
		.name = *name,
		.known = step != NULL,
		.attempt = step != NULL ? step->attempt : 0,
	};
}

static int step_fill(struct lens_batch *batch, const struct lens_job_site *site,
		     const void *subject, size_t first, size_t limit)
{
	return lens_step_spans_add(batch, site, subject, first, limit);
}

/*
 * The last section's step: 1 with OUT (cleared by the caller), 0 when there is none, -1
 * when memory ran out.
 */
static int last_step(const struct lens_records *records, struct lens_job_step *out)
{
	struct lens_job_step step;
	size_t position = 0;
	int found = 0, rc;

	while ((rc = lens_job_step_read(&step, records, &position)) == 1) {
		if (found)
			lens_job_step_clear(out);
		*out = step;
		found = 1;
	}
	if (rc == -1 && found)
		lens_job_step_clear(out);
	return rc == -1 ? -1 : found;
}

/* Sends and notes all sections. True when nothing of them is needed any more. */
static bool sections_settle(struct lens_backlog *backlog, const struct lens_state_name *name,
			    const struct lens_records *records)
{
	struct lens_job_step step;
	size_t position = 0;
	bool settled = true;

	while (settled && lens_job_step_read(&step, records, &position) == 1) {
		settled = backlog_send(backlog, step_fill, &step, step.job) &&
			  backlog_window_append(backlog, name, &step) == 0;
		lens_job_step_clear(&step);
	}
	return settled;
}

static void records_visit(struct lens_backlog *backlog, const struct lens_state_name *name, int fd,
			  const struct lens_records *records)
{
	bool writer = lens_journal_has_writer(fd);
	struct lens_job_step last;
	char text[LENS_STATE_NAME];
	int found = last_step(records, &last);

	lens_state_name_format(text, name);
	if (found == 0 && backlog_young(backlog, fd) && writer)
		backlog_due(backlog, backlog_now(backlog) + BEGIN_MS);
	if (found == -1 || (found == 0 && (writer || backlog_young(backlog, fd)))) {
		live_add(backlog, name, NULL);
	} else if (found == 0) {
		backlog_log(backlog, "journal %s holds nothing that can be read: removed", text);
		backlog_unlink(backlog, name);
	} else if (writer && !last.closed) {
		live_add(backlog, name, &last);
	} else if (sections_settle(backlog, name, records)) {
		if (lens_records_skipped(records) > 0)
			backlog_log(backlog, "journal %s: %zu lines were cut or foreign", text,
				    lens_records_skipped(records));
		backlog_unlink(backlog, name);
	} else {
		live_add(backlog, name, &last);
	}
	if (found == 1)
		lens_job_step_clear(&last);
}

void backlog_journal_visit(struct lens_backlog *backlog, const struct lens_state_name *name)
{
	int fd = backlog_open(backlog, name, O_RDONLY);
	struct lens_records *records;

	if (fd == -1)
		return;
	records = lens_records_read(fd);
	if (records != NULL)
		records_visit(backlog, name, fd, records);
	else
		live_add(backlog, name, NULL);
	lens_records_destroy(records);
	close(fd);
}

char *backlog_journal_resource(struct lens_backlog *backlog, const struct lens_state_name *name)
{
	int fd = backlog_open(backlog, name, O_RDONLY);
	struct lens_records *records = fd == -1 ? NULL : lens_records_read(fd);
	struct lens_job_step step;
	char *resource = NULL;

	if (records != NULL && last_step(records, &step) == 1) {
		if (step.resource != NULL && strlen(step.resource) <= BACKLOG_RESOURCE_MAX)
			resource = strdup(step.resource);
		lens_job_step_clear(&step);
	}
	lens_records_destroy(records);
	if (fd != -1)
		close(fd);
	return resource;
}
