/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/backlog_parts.h"

#include "lib/core/journal.h"
#include "lib/core/record.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A writer that has its lock writes its first record at once; milliseconds. */
#define BEGIN_MS 1000

/*
 * The last section's step: 1 with OUT (cleared by the caller), 0 when there is none, -1
 * when memory ran out.
 */
static int last_step(const struct lens_records *records, struct lens_job_step *out)
{
	struct lens_job_step step;
	size_t position = 0;
	int found = 0, rc;

	*out = (struct lens_job_step){ 0 };
	while ((rc = lens_job_step_read(&step, records, &position)) == 1) {
		lens_job_step_clear(out);
		*out = step;
		found = 1;
	}
	if (rc == -1)
		lens_job_step_clear(out);
	return rc == -1 ? -1 : found;
}

/* Puts all sections into requests. True when each was taken. */
static bool sections_send(struct lens_backlog *backlog, const struct lens_state_name *name,
			  const struct lens_records *records)
{
	struct backlog_key key = { .what = BACKLOG_STEP, .name = *name };
	struct lens_job_step step;
	size_t position = 0;
	bool sent = true;

	for (; lens_job_step_read(&step, records, &position) == 1; key.section++) {
		sent = backlog_send(backlog, backlog_step_fill, &step, &key) && sent;
		lens_job_step_clear(&step);
	}
	return sent;
}

/* Sends and notes all sections. True when nothing of them is needed any more. */
static bool sections_settle(struct lens_backlog *backlog, const struct lens_state_name *name,
			    const struct lens_records *records)
{
	struct lens_job_step step;
	size_t position = 0;
	bool settled = sections_send(backlog, name, records);

	while (settled && lens_job_step_read(&step, records, &position) == 1) {
		backlog_window_append(backlog, name, &step);
		lens_job_step_clear(&step);
	}
	return settled;
}

/* Whether STEP knows its attempt as well as it ever will: without a note the batch script's
 * own process is the first to. */
static bool attempt_settled(const struct lens_job_step *step, bool writer)
{
	return step->step != LENS_STEP_BATCH || step->known || step->closed || !writer;
}

static void records_visit(struct lens_backlog *backlog, const struct lens_state_name *name, int fd,
			  const struct lens_records *records)
{
	bool writer = lens_journal_has_writer(fd);
	struct lens_job_step last;
	char text[LENS_STATE_NAME];
	int found = last_step(records, &last);

	lens_state_name_format(text, name);
	if (found == 1 && attempt_settled(&last, writer))
		backlog_adopt(backlog, name, &last);
	if (found == 0 && backlog_young(backlog, fd) && writer)
		backlog_due(backlog, backlog_now(backlog) + BEGIN_MS);
	if (found == -1 || (found == 0 && (writer || backlog_young(backlog, fd)))) {
		backlog_live_add(backlog, name, NULL);
	} else if (found == 0) {
		backlog_log(backlog, "journal %s holds nothing that can be read: removed", text);
		backlog_unlink(backlog, name);
	} else if (writer && !last.closed) {
		backlog_live_add(backlog, name, &last);
	} else if (sections_settle(backlog, name, records)) {
		if (lens_records_skipped(records) > 0)
			backlog_log(backlog, "journal %s: %zu lines were cut or foreign", text,
				    lens_records_skipped(records));
		backlog_unlink(backlog, name);
	} else {
		backlog_live_finished(backlog, name, last.attempt,
				      (off_t)lens_records_size(records));
	}
	if (found == 1)
		lens_job_step_clear(&last);
}

/*
 * A journal that its writer left open is closed here and now: what a task that was
 * forked before still writes to it would change spans that may have been sent.
 */
static bool lost_append(struct lens_backlog *backlog, const struct lens_state_name *name, int fd,
			const struct lens_records *records)
{
	struct lens_carrier *record = NULL;
	struct lens_job_step last;
	bool lost = false;

	if (last_step(records, &last) != 1)
		return false;
	lost = !last.closed && !last.lost && !lens_journal_has_writer(fd);
	lens_job_step_clear(&last);
	if (lost)
		record = lens_record_create("lost");
	lost = record != NULL && backlog_record_append(backlog, name, fd, records, record) == 0;
	lens_carrier_destroy(record);
	return lost;
}

/* Passes over a journal that was finished in the run before, when nothing can be sent of it: with
 * the receiver away every event would read the whole backlog. */
static bool is_passed(struct lens_backlog *backlog, const struct lens_state_name *name)
{
	const struct backlog_live *before;

	if (backlog->may_send || backlog->at == backlog->names.count)
		return false;
	before = backlog_live_before(backlog, name);
	if (before == NULL)
		return false;
	backlog_live_finished(backlog, name, before->attempt, before->finished);
	backlog_look_again(backlog);
	return true;
}

void backlog_journal_visit(struct lens_backlog *backlog, const struct lens_state_name *name)
{
	struct lens_records *records;
	int fd;

	if (is_passed(backlog, name))
		return;
	fd = backlog_open(backlog, name, O_RDONLY);
	if (fd == -1)
		return;
	records = lens_records_read(fd);
	if (records != NULL && lost_append(backlog, name, fd, records)) {
		lens_records_destroy(records);
		records = lens_records_read(fd);
	}
	if (records != NULL)
		records_visit(backlog, name, fd, records);
	else
		backlog_live_add(backlog, name, NULL);
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
