/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/backlog_parts.h"

#include "lib/core/record.h"
#include "lib/core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The bytes that RECORD takes behind a file's last line; 0: no memory. */
static size_t record_length(const struct lens_carrier *record, bool torn)
{
	struct lens_text line = LENS_TEXT_INIT;
	size_t length;

	lens_carrier_format(record, &line, NULL);
	length = line.failed ? 0 : line.length + 1 + (torn ? 2 : 0);
	lens_text_clear(&line);
	return length;
}

/* Remembers the file NAME at FD when it is SIZE bytes long: there is nothing in it but what was read
 * and what was appended here. */
static void write_remember(struct lens_backlog *backlog, const struct lens_state_name *name, int fd,
			   size_t size)
{
	struct backlog_write write = { .size = (off_t)size };
	size_t index = 0;
	struct stat status;

	if (fstat(fd, &status) == -1 || status.st_size != write.size)
		return;
	lens_state_name_format(write.name, name);
	while (index < BACKLOG_WRITES && strcmp(backlog->writes[index].name, write.name) != 0)
		index++;
	if (index == BACKLOG_WRITES) {
		index = backlog->next_write;
		backlog->next_write = (index + 1) % BACKLOG_WRITES;
	}
	backlog->writes[index] = write;
}

bool lens_backlog_wrote(const struct lens_backlog *backlog, const char *name)
{
	struct stat status;

	for (size_t i = 0; i < BACKLOG_WRITES; i++) {
		const struct backlog_write *write = &backlog->writes[i];

		if (strcmp(write->name, name) == 0)
			return fstatat(backlog->directory, name, &status, AT_SYMLINK_NOFOLLOW) ==
				       0 &&
			       status.st_size == write->size;
	}
	return false;
}

/* A record makes an old note new: whether it lay there before the agent is settled first. */
static void inherited_remember(struct lens_backlog *backlog, const struct lens_state_name *name,
			       int fd)
{
	struct stat status;

	if (name->kind == LENS_STATE_NOTE && fstat(fd, &status) == 0)
		lens_memory_inherited(backlog->memory, name, &status.st_mtim);
}

int backlog_record_append(struct lens_backlog *backlog, const struct lens_state_name *name, int fd,
			  const struct lens_records *records, const struct lens_carrier *record)
{
	size_t size = lens_records_size(records);
	int torn = lens_record_torn(fd);
	size_t length = record_length(record, torn != 0);
	int rc = -1, writer, saved;
	char path[32];

	inherited_remember(backlog, name, fd);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	writer = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (writer != -1 && lens_record_append(writer, record, &torn) == 0 &&
	    fdatasync(writer) == 0)
		rc = 0;
	saved = errno;
	if (rc == -1 && !backlog->full)
		backlog_log(backlog, "a record cannot be written: %s", strerror(saved));
	backlog->full = rc == -1;
	if (writer != -1) {
		write_remember(backlog, name, fd, rc == 0 ? size + length : size);
		close(writer);
	}
	errno = saved;
	return rc;
}

/*
 * The note of the attempt of STEP, which the epilog may be renaming at this moment: under
 * its ended name, its current one, and once more its ended one. NAME, OUT (cleared by the
 * caller) and *RECORDS (destroyed by the caller) are filled in. The descriptor; -1: there is none;
 * -2: it cannot be told now.
 */
static int note_open(struct lens_backlog *backlog, const struct lens_state_name *journal,
		     const struct lens_job_step *step, struct lens_state_name *name,
		     struct lens_records **records, struct lens_job_attempt *out)
{
	static const enum lens_state_kind kinds[] = { LENS_STATE_ENDED, LENS_STATE_NOTE,
						      LENS_STATE_ENDED };
	int none = -1;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int fd;

		*name = (struct lens_state_name){ .kind = kinds[i],
						  .job = journal->job,
						  .node = journal->node,
						  .attempt = step->attempt };
		fd = backlog_open(backlog, name, O_RDONLY);
		if (fd == -1) {
			if (backlog_fault_passes(errno))
				none = -2;
			continue;
		}
		*records = lens_records_read(fd);
		if (*records == NULL || lens_job_attempt_read(out, *records) == -1) {
			none = errno == EBADMSG ? none : -2;
		} else {
			if (out->note.attempt == step->attempt)
				return fd;
			lens_job_attempt_clear(out);
		}
		lens_records_destroy(*records);
		close(fd);
	}
	return none;
}

static struct lens_carrier *window_create(const struct lens_job_step *step, bool with_resource)
{
	struct lens_carrier *record = lens_record_create("window");

	if (record != NULL && lens_carrier_set_number(record, "from", step->start_ns) == 0 &&
	    lens_carrier_set_number(record, "to", step->end_ns) == 0 &&
	    lens_carrier_set_number(record, "step", step->step) == 0 &&
	    lens_carrier_set(record, "resource", with_resource ? step->resource : NULL) == 0)
		return record;
	lens_carrier_destroy(record);
	return NULL;
}

int backlog_window_append(struct lens_backlog *backlog, const struct lens_state_name *journal,
			  const struct lens_job_step *step)
{
	struct lens_job_attempt attempt = { 0 };
	struct lens_records *records = NULL;
	struct lens_state_name name;
	struct lens_carrier *record;
	int fd = note_open(backlog, journal, step, &name, &records, &attempt), rc = -1;
	bool fits = step->resource != NULL && strlen(step->resource) <= BACKLOG_RESOURCE_MAX;

	if (fd < 0) /* nobody waits for it where no note was written for this job */
		return fd == -1 ? 0 : -1;
	record = window_create(step, fits && attempt.resource == NULL);
	if (record != NULL && (backlog_record_append(backlog, &name, fd, records, record) == 0 ||
			       !backlog_fault_passes(errno)))
		rc = 0;
	lens_carrier_destroy(record);
	lens_job_attempt_clear(&attempt);
	lens_records_destroy(records);
	close(fd);
	return rc;
}
