/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/backlog_parts.h"

#include "lib/core/journal.h"
#include "lib/core/record.h"
#include "lib/job/spans.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_ONLY_MS 10000 /* until a directory that takes no changes is looked at again */
#define BLOCK        512   /* st_blocks counts these, whatever the file system has */

struct spool_file {
	struct lens_state_name name;
	struct timespec written;
	uint64_t bytes;
};

struct spool {
	struct spool_file *files;
	size_t count;
	uint64_t bytes;
};

bool backlog_spool_writable(struct lens_backlog *backlog)
{
	if (faccessat(backlog->directory, ".", W_OK, AT_EACCESS) == 0) {
		if (backlog->unwritable)
			backlog_log(backlog, "StateDir can be written again");
		backlog->unwritable = false;
		return true;
	}
	/* What is sent and cannot be removed would be sent for ever. */
	if (!backlog->unwritable)
		backlog_log(backlog, "StateDir cannot be written: %s; spans wait until it can",
			    strerror(errno));
	backlog->unwritable = true;
	backlog->result->unsent = true;
	backlog_due(backlog, backlog_now(backlog) + READ_ONLY_MS);
	return false;
}

static int older(const void *left, const void *right)
{
	const struct timespec *a = &((const struct spool_file *)left)->written;
	const struct timespec *b = &((const struct spool_file *)right)->written;

	if (a->tv_sec != b->tv_sec)
		return a->tv_sec < b->tv_sec ? -1 : 1;
	return a->tv_nsec < b->tv_nsec ? -1 : a->tv_nsec > b->tv_nsec;
}

/* What each state file takes of the disk; 0, or -1 when it cannot be told now. */
static int spool_read(struct lens_backlog *backlog, struct spool *out)
{
	struct backlog_names names = { 0 };

	if (backlog_list(backlog->directory, &names, NULL) == -1)
		return -1;
	out->files = calloc(names.count + 1, sizeof(*out->files));
	for (size_t i = 0; out->files != NULL && i < names.count; i++) {
		struct spool_file *file = &out->files[out->count];
		char text[LENS_STATE_NAME];
		struct stat status;

		lens_state_name_format(text, &names.items[i]);
		if (fstatat(backlog->directory, text, &status, AT_SYMLINK_NOFOLLOW) == -1 ||
		    !S_ISREG(status.st_mode))
			continue;
		*file = (struct spool_file){ .name = names.items[i],
					     .written = status.st_mtim,
					     .bytes = (uint64_t)status.st_blocks * BLOCK };
		out->bytes += file->bytes;
		out->count++;
	}
	free(names.items);
	return out->files == NULL ? -1 : 0;
}

static size_t spans_count(const struct lens_backlog *backlog, backlog_fill_fn *fill,
			  const void *subject)
{
	size_t total = 0;
	int count;

	do {
		struct lens_batch *batch = lens_batch_create("slurm-lens", backlog->site.version);

		count = batch == NULL ? -1
				      : fill(batch, &backlog->site, subject, total,
					     LENS_BATCH_SPANS);
		lens_batch_destroy(batch);
		total += count > 0 ? (size_t)count : 0;
	} while (count == LENS_BATCH_SPANS);
	return total;
}

static int step_fill(struct lens_batch *batch, const struct lens_job_site *site,
		     const void *subject, size_t first, size_t limit)
{
	return lens_step_spans_add(batch, site, subject, first, limit);
}

static int job_fill(struct lens_batch *batch, const struct lens_job_site *site, const void *subject,
		    size_t first, size_t limit)
{
	return lens_job_spans_add(batch, site, subject, first, limit);
}

/* Whether the journal of RECORDS at FD is finished; then *SPANS is what it would give. */
static bool journal_finished(const struct lens_backlog *backlog, int fd,
			     const struct lens_records *records, size_t *spans)
{
	bool closed = !lens_journal_has_writer(fd);
	struct lens_job_step step;
	size_t position = 0;

	while (lens_job_step_read(&step, records, &position) == 1) {
		closed = closed || step.closed;
		*spans += spans_count(backlog, step_fill, &step);
		lens_job_step_clear(&step);
	}
	return closed;
}

static bool note_finished(const struct lens_backlog *backlog, const struct lens_records *records,
			  size_t *spans)
{
	struct lens_job_attempt attempt;

	if (lens_job_attempt_read(&attempt, records) == -1)
		return true;
	if (attempt.epilog_first || attempt.note.first)
		*spans = spans_count(backlog, job_fill, &attempt);
	lens_job_attempt_clear(&attempt);
	return true;
}

/* Removes the file NAME when it is finished; *SPANS grows by what it would have given. */
static bool drop(struct lens_backlog *backlog, const struct lens_state_name *name, size_t *spans)
{
	struct lens_records *records;
	bool finished = false;
	size_t lost = 0;
	int fd;

	if (name->kind == LENS_STATE_NOTE) /* its attempt is on the node */
		return false;
	fd = backlog_open(backlog, name, O_RDONLY);
	if (fd == -1)
		return false;
	records = lens_records_read(fd);
	if (records != NULL)
		finished = name->kind == LENS_STATE_JOURNAL
				   ? journal_finished(backlog, fd, records, &lost)
				   : note_finished(backlog, records, &lost);
	lens_records_destroy(records);
	close(fd);
	if (!finished)
		return false;
	backlog_unlink(backlog, name);
	*spans += lost;
	return true;
}

void backlog_spool_limit(struct lens_backlog *backlog)
{
	struct spool spool = { 0 };
	size_t dropped = 0, spans = 0;

	if (backlog->max_spool == 0 || spool_read(backlog, &spool) == -1)
		return;
	if (spool.bytes > backlog->max_spool) {
		qsort(spool.files, spool.count, sizeof(*spool.files), older);
		for (size_t i = 0; i < spool.count && spool.bytes > backlog->max_spool; i++) {
			if (!drop(backlog, &spool.files[i].name, &spans))
				continue;
			spool.bytes -= spool.files[i].bytes;
			dropped++;
		}
	}
	free(spool.files);
	backlog->result->capped += spans;
	if (dropped > 0)
		backlog_log(backlog,
			    "MaxSpool=%" PRIu64 ": the oldest %zu finished files with %zu spans "
			    "were dropped unsent; is the receiver away?",
			    backlog->max_spool, dropped, spans);
}
