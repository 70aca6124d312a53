/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/backlog_parts.h"

#include "lib/core/journal.h"
#include "lib/core/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_ONLY_MS 10000 /* until a directory that takes no changes is looked at again */

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
		if (backlog->unwritable) {
			backlog_log(backlog, "StateDir can be written again");
			lens_memory_begin(backlog->memory); /* an end may not have been noted */
		}
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

/* What each of the names takes of the disk; 0, or -1: no memory. */
static int spool_read(struct lens_backlog *backlog, struct spool *out)
{
	const struct backlog_names *names = &backlog->names;

	out->files = calloc(names->count + 1, sizeof(*out->files));
	for (size_t i = 0; out->files != NULL && i < names->count; i++) {
		struct spool_file *file = &out->files[out->count];
		char text[LENS_STATE_NAME];
		struct stat status;

		lens_state_name_format(text, &names->items[i]);
		if (fstatat(backlog->directory, text, &status, AT_SYMLINK_NOFOLLOW) == -1 ||
		    !S_ISREG(status.st_mode))
			continue;
		*file = (struct spool_file){ .name = names->items[i],
					     .written = status.st_mtim,
					     .bytes = lens_state_file_size(&status) };
		out->bytes += file->bytes;
		out->count++;
	}
	return out->files == NULL ? -1 : 0;
}

static size_t spans_count(const struct lens_backlog *backlog, backlog_fill_fn *fill,
			  const void *subject)
{
	size_t total = 0;
	int count;

	do {
		struct lens_batch *batch = lens_batch_create("slurm-lens", backlog->site.version);

		count = batch == NULL
				? -1
				: fill(batch, &backlog->site, subject, total, LENS_BATCH_SPANS);
		lens_batch_destroy(batch);
		total += count > 0 ? (size_t)count : 0;
	} while (count == LENS_BATCH_SPANS);
	return total;
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
		*spans += spans_count(backlog, backlog_step_fill, &step);
		lens_job_step_clear(&step);
	}
	return closed;
}

static bool note_finished(const struct lens_backlog *backlog, const struct lens_state_name *name,
			  const struct lens_records *records, size_t *spans)
{
	struct lens_job_attempt attempt;

	if (lens_job_attempt_read(&attempt, records) == -1)
		return true;
	if (backlog_is_first(backlog, name, &attempt, records))
		*spans = spans_count(backlog, backlog_job_fill, &attempt);
	lens_job_attempt_clear(&attempt);
	return true;
}

/* Whether the job of the file NAME still runs on this node: its current note is there. */
static bool is_running(const struct lens_backlog *backlog, const struct lens_state_name *name)
{
	const struct lens_state_name note = { .kind = LENS_STATE_NOTE,
					      .job = name->job,
					      .node = name->node };
	char text[LENS_STATE_NAME];

	lens_state_name_format(text, &note);
	return faccessat(backlog->directory, text, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Removes the file NAME when it is finished; *SPANS grows by what it would have given. */
static bool drop(struct lens_backlog *backlog, const struct lens_state_name *name, size_t *spans)
{
	struct lens_records *records;
	bool finished = false;
	size_t lost = 0;
	int fd;

	if (name->kind != LENS_STATE_ENDED && is_running(backlog, name))
		return false;
	if (backlog_outbox_has(backlog->outbox, name)) /* it may arrive */
		return false;
	fd = backlog_open(backlog, name, O_RDONLY);
	if (fd == -1)
		return false;
	records = lens_records_read(fd);
	if (records != NULL)
		finished = name->kind == LENS_STATE_JOURNAL
				   ? journal_finished(backlog, fd, records, &lost)
				   : note_finished(backlog, name, records, &lost);
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
	backlog->over_spool = spool.bytes > backlog->max_spool;
	free(spool.files);
	backlog->result->capped += spans;
	if (dropped == 0)
		return;
	backlog_due(backlog, backlog_now(backlog)); /* a note may have waited for a journal */
	backlog_log(backlog,
		    "MaxSpool=%" PRIu64 ": the oldest %zu finished files with %zu spans "
		    "were dropped unsent; is the receiver away?",
		    backlog->max_spool, dropped, spans);
}
