/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/backlog_parts.h"

#include "lib/core/journal.h"
#include "lib/core/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A writer that has its lock writes its first record at once; milliseconds. */
#define BEGIN_MS 1000

/* The sections of a journal: mostly one. */
struct sections {
	struct lens_job_step *steps;
	size_t count;
};

static void sections_clear(struct sections *sections)
{
	for (size_t i = 0; i < sections->count; i++)
		lens_job_step_clear(&sections->steps[i]);
	free(sections->steps);
	*sections = (struct sections){ 0 };
}

/* All sections of RECORDS, which must stay. 0, or -1 when memory ran out; the caller clears. */
static int sections_read(struct sections *out, const struct lens_records *records)
{
	struct lens_job_step step;
	size_t position = 0;
	int rc;

	*out = (struct sections){ 0 };
	while ((rc = lens_job_step_read(&step, records, &position)) == 1) {
		struct lens_job_step *steps =
			reallocarray(out->steps, out->count + 1, sizeof(*steps));

		if (steps == NULL) {
			lens_job_step_clear(&step);
			rc = -1;
			break;
		}
		out->steps = steps;
		out->steps[out->count++] = step;
	}
	if (rc == -1) {
		sections_clear(out);
		errno = ENOMEM;
	}
	return rc;
}

/* The step of the last section; NULL when there is none. */
static const struct lens_job_step *sections_last(const struct sections *sections)
{
	return sections->count > 0 ? &sections->steps[sections->count - 1] : NULL;
}

/* Puts all sections into requests. True when each was taken. */
static bool sections_send(struct lens_backlog *backlog, const struct lens_state_name *name,
			  const struct sections *sections)
{
	struct backlog_key key = { .what = BACKLOG_STEP, .name = *name };
	bool sent = true;

	for (; key.section < sections->count; key.section++)
		sent = backlog_send(backlog, backlog_step_fill, &sections->steps[key.section],
				    &key) &&
		       sent;
	return sent;
}

/* Sends and notes all sections. True when nothing of them is needed any more: the job's own spans are
 * made of what is noted, so a journal that could not be noted stays, though it was sent. */
static bool sections_settle(struct lens_backlog *backlog, const struct lens_state_name *name,
			    const struct sections *sections)
{
	if (!sections_send(backlog, name, sections))
		return false;
	for (size_t i = 0; i < sections->count; i++) {
		if (backlog_window_append(backlog, name, &sections->steps[i]) == -1) {
			backlog_fault(backlog, ENOMEM);
			return false;
		}
	}
	return true;
}

/* Whether STEP knows its attempt as well as it ever will: without a note the batch script's
 * own process is the first to. */
static bool attempt_settled(const struct lens_job_step *step, bool writer)
{
	return step->step != LENS_STEP_BATCH || step->known || step->closed || !writer;
}

/* A journal without a section: its writer's first record may yet come. */
static void empty_visit(struct lens_backlog *backlog, const struct lens_state_name *name, int fd,
			bool writer)
{
	bool young = backlog_young(backlog, fd);
	char text[LENS_STATE_NAME];

	if (young && writer)
		backlog_due(backlog, backlog_now(backlog) + BEGIN_MS);
	if (young || writer) {
		backlog_live_add(backlog, name, NULL);
		return;
	}
	lens_state_name_format(text, name);
	backlog_log(backlog, "journal %s holds nothing that can be read: removed", text);
	backlog_unlink(backlog, name);
}

static void sections_visit(struct lens_backlog *backlog, const struct lens_state_name *name, int fd,
			   const struct lens_records *records, const struct sections *sections)
{
	const struct lens_job_step *last = sections_last(sections);
	bool writer = lens_journal_has_writer(fd);
	char text[LENS_STATE_NAME];

	if (last == NULL) {
		empty_visit(backlog, name, fd, writer);
		return;
	}
	if (attempt_settled(last, writer))
		backlog_adopt(backlog, name, last);
	if (writer && !last->closed) {
		backlog_live_add(backlog, name, last);
	} else if (sections_settle(backlog, name, sections)) {
		lens_state_name_format(text, name);
		if (lens_records_skipped(records) > 0)
			backlog_log(backlog, "journal %s: %zu lines were cut or foreign", text,
				    lens_records_skipped(records));
		backlog_unlink(backlog, name);
	} else {
		backlog_live_finished(backlog, name, last->attempt,
				      (off_t)lens_records_size(records));
	}
}

/*
 * A journal that its writer left open is closed here and now: what a task that was
 * forked before still writes to it would change spans that may have been sent.
 */
static bool lost_append(struct lens_backlog *backlog, const struct lens_state_name *name, int fd,
			const struct lens_records *records, const struct sections *sections)
{
	const struct lens_job_step *last = sections_last(sections);
	struct lens_carrier *record;
	bool lost;

	if (last == NULL || last->closed || last->lost || lens_journal_has_writer(fd))
		return false;
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

/* Reads the journal at FD; -1 with errno when it cannot be now. The caller clears SECTIONS, then RECORDS. */
static int journal_read(int fd, struct lens_records **records, struct sections *sections)
{
	*sections = (struct sections){ 0 };
	*records = lens_records_read(fd);
	return *records != NULL ? sections_read(sections, *records) : -1;
}

void backlog_journal_visit(struct lens_backlog *backlog, const struct lens_state_name *name)
{
	struct lens_records *records;
	struct sections sections;
	int fd, rc;

	if (is_passed(backlog, name))
		return;
	fd = backlog_open(backlog, name, O_RDONLY);
	if (fd == -1)
		return;
	rc = journal_read(fd, &records, &sections);
	if (rc == 0 && lost_append(backlog, name, fd, records, &sections)) {
		sections_clear(&sections);
		lens_records_destroy(records);
		rc = journal_read(fd, &records, &sections);
	}
	if (rc == 0) {
		sections_visit(backlog, name, fd, records, &sections);
	} else {
		backlog_fault(backlog, errno);
		backlog_live_add(backlog, name, NULL);
	}
	sections_clear(&sections);
	lens_records_destroy(records);
	close(fd);
}

char *backlog_journal_resource(struct lens_backlog *backlog, const struct lens_state_name *name)
{
	int fd = backlog_open(backlog, name, O_RDONLY);
	struct lens_records *records;
	struct sections sections;
	char *resource = NULL;

	if (fd == -1)
		return NULL;
	if (journal_read(fd, &records, &sections) == 0) {
		const struct lens_job_step *last = sections_last(&sections);

		if (last != NULL && last->resource != NULL &&
		    strlen(last->resource) <= BACKLOG_RESOURCE_MAX)
			resource = strdup(last->resource);
	}
	sections_clear(&sections);
	lens_records_destroy(records);
	close(fd);
	return resource;
}
