/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/backlog_parts.h"

#include <inttypes.h>
#include <string.h>

static void refused(struct lens_backlog *backlog, const struct lens_export_result *answer)
{
	struct lens_backlog_result *result = backlog->result;

	result->unsent = true;
	result->retry_after_ms = answer->retry_after_ms;
	memcpy(result->message, answer->message, sizeof(result->message));
}

static void dropped(struct lens_backlog *backlog, size_t spans, uint32_t job,
		    const struct lens_export_result *answer)
{
	backlog->result->dropped += spans;
	backlog_log(backlog, "%zu spans of job %" PRIu32 " were refused and are lost: %s", spans,
		    job, answer->message);
}

/* How many spans are settled by ANSWER to COUNT of them; 0: a smaller page is needed. */
static size_t settled(struct lens_backlog *backlog, size_t count, uint32_t job,
		      const struct lens_export_result *answer)
{
	uint64_t rejected = answer->rejected < count ? answer->rejected : count;

	if (answer->verdict == LENS_VERDICT_SPLIT && count > 1)
		return 0;
	if (answer->verdict != LENS_VERDICT_DONE) {
		dropped(backlog, count, job, answer);
		return count;
	}
	backlog->result->sent += count - rejected;
	if (rejected > 0)
		dropped(backlog, rejected, job, answer);
	else if (answer->message[0] != '\0')
		backlog_log(backlog, "the receiver says: %s", answer->message);
	return count;
}

/* Sends BATCH of COUNT spans (-1: memory ran out) unless the receiver refused before. */
static void page_send(struct lens_backlog *backlog, const struct lens_batch *batch, int count,
		      uint32_t job, struct lens_export_result *answer)
{
	struct lens_backlog_result *result = backlog->result;

	if (count == 0)
		return;
	answer->verdict = LENS_VERDICT_RETRY;
	if (count == -1)
		backlog_log(backlog, "out of memory: the spans of job %" PRIu32 " wait", job);
	else if (!backlog->may_send || result->unsent)
		result->unsent = true;
	else
		backlog->hooks.send(backlog->hooks.context, batch, answer);
	if (answer->verdict == LENS_VERDICT_RETRY && !result->unsent)
		refused(backlog, answer);
}

bool backlog_send(struct lens_backlog *backlog, backlog_fill_fn *fill, const void *subject,
		  uint32_t job)
{
	size_t first = 0, limit = LENS_BATCH_SPANS;

	for (;;) {
		struct lens_export_result answer = { .retry_after_ms = -1 };
		struct lens_batch *batch;
		int count = -1;

		batch = lens_batch_create("slurm-lens", backlog->site.version);
		if (batch != NULL)
			count = fill(batch, &backlog->site, subject, first, limit);
		page_send(backlog, batch, count, job, &answer);
		lens_batch_destroy(batch);
		if (count == 0)
			return true;
		if (answer.verdict == LENS_VERDICT_RETRY)
			return false;
		if (settled(backlog, (size_t)count, job, &answer) == 0)
			limit = (size_t)count / 2;
		else
			first += (size_t)count;
		if (answer.verdict != LENS_VERDICT_SPLIT && (size_t)count < limit)
			return true;
	}
}
