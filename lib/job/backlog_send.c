/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/backlog_outbox.h"

#include "lib/job/spans.h"

#include <inttypes.h>

void backlog_flush(struct lens_backlog *backlog)
{
	struct backlog_outbox *outbox = backlog->outbox;
	struct lens_export_result answer = { .retry_after_ms = -1 };
	struct lens_batch *batch = outbox->batch;

	if (batch == NULL)
		return;
	outbox->batch = NULL;
	if (outbox->spans == 0) { /* a step of which this node has nothing to tell */
		lens_batch_destroy(batch);
		return;
	}
	outbox->pending = backlog->hooks.send(backlog->hooks.context, batch, &answer);
	lens_batch_destroy(batch);
	if (!outbox->pending)
		backlog_outbox_answer(backlog, &answer);
}

int backlog_step_fill(struct lens_batch *batch, const struct lens_job_site *site,
		      const void *subject, size_t first, size_t limit)
{
	return lens_step_spans_add(batch, site, subject, first, limit);
}

int backlog_start_fill(struct lens_batch *batch, const struct lens_job_site *site,
		       const void *subject, size_t first, size_t limit)
{
	return lens_start_spans_add(batch, site, subject, first, limit);
}

int backlog_job_fill(struct lens_batch *batch, const struct lens_job_site *site,
		     const void *subject, size_t first, size_t limit)
{
	return lens_job_spans_add(batch, site, subject, first, limit);
}

void backlog_look_again(struct lens_backlog *backlog)
{
	backlog->result->unsent = true;
	if (backlog->at < backlog->names.count)
		backlog_outbox_resume_at(backlog->outbox, backlog->at);
}

static bool room(const struct lens_backlog *backlog)
{
	const struct backlog_outbox *outbox = backlog->outbox;

	return backlog->may_send && !backlog->result->refused && !outbox->pending &&
	       !outbox->settling;
}

static void no_memory(struct lens_backlog *backlog)
{
	struct backlog_outbox *outbox = backlog->outbox;

	backlog_log(backlog, "out of memory: spans of job %" PRIu32 " wait",
		    outbox->part_count > 0 ? outbox->parts[0].key.name.job : 0);
	lens_batch_destroy(outbox->batch);
	outbox->batch = NULL;
	outbox->part_count = 0;
	outbox->spans = 0;
	backlog->may_send = false;
	backlog->result->unsent = true;
}

/*
 * Adds what there is room for; a request that is full goes out. False when there is nothing
 * to add any more.
 */
static bool add(struct lens_backlog *backlog, backlog_fill_fn *fill, const void *subject,
		const struct backlog_key *key, size_t first)
{
	struct backlog_outbox *outbox = backlog->outbox;
	struct backlog_part *part = &outbox->parts[outbox->part_count];
	size_t limit = outbox->limit - outbox->spans;
	int count = -1;

	if (outbox->batch == NULL)
		outbox->batch = lens_batch_create("slurm-lens", backlog->site.version);
	if (outbox->batch != NULL)
		count = fill(outbox->batch, &backlog->site, subject, first, limit);
	if (count == -1) {
		no_memory(backlog);
		return true;
	}
	if (count == 0)
		return false;
	*part = (struct backlog_part){
		.key = *key, .first = first, .count = (size_t)count, .last = (size_t)count < limit
	};
	outbox->part_count++;
	outbox->spans += (size_t)count;
	if (outbox->spans >= outbox->limit || lens_batch_bytes(outbox->batch) >= LENS_BATCH_BYTES)
		backlog_flush(backlog);
	return true;
}

bool backlog_send(struct lens_backlog *backlog, backlog_fill_fn *fill, const void *subject,
		  const struct backlog_key *key)
{
	struct backlog_outbox *outbox = backlog->outbox;

	for (;;) {
		const struct backlog_sent *sent = backlog_sent_find(outbox, key);
		const struct backlog_part *part = backlog_outbox_part(outbox, key);

		if (sent != NULL && sent->whole)
			return true;
		if (part != NULL && part->last)
			return false;
		if (part != NULL || !room(backlog)) {
			backlog_look_again(backlog);
			return false;
		}
		if (!add(backlog, fill, subject, key, sent != NULL ? sent->count : 0))
			return true;
	}
}
