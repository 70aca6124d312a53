/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/backlog_outbox.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct backlog_outbox *backlog_outbox_create(void)
{
	struct backlog_outbox *outbox = calloc(1, sizeof(*outbox));

	if (outbox == NULL)
		return NULL;
	outbox->limit = LENS_BATCH_SPANS;
	outbox->resume = SIZE_MAX;
	return outbox;
}

void backlog_outbox_destroy(struct backlog_outbox *outbox)
{
	if (outbox == NULL)
		return;
	lens_batch_destroy(outbox->batch);
	free(outbox->sent);
	free(outbox);
}

bool backlog_outbox_pending(const struct backlog_outbox *outbox)
{
	return outbox->pending;
}

size_t backlog_outbox_resume(struct backlog_outbox *outbox)
{
	size_t resume = outbox->resume;

	outbox->resume = SIZE_MAX;
	return resume;
}

void backlog_outbox_resume_at(struct backlog_outbox *outbox, size_t index)
{
	if (index < outbox->resume)
		outbox->resume = index;
}

static bool name_equal(const struct lens_state_name *a, const struct lens_state_name *b)
{
	return a->kind == b->kind && a->job == b->job && a->node == b->node &&
	       a->attempt == b->attempt && a->step == b->step && a->pid == b->pid;
}

bool backlog_key_equal(const struct backlog_key *a, const struct backlog_key *b)
{
	return a->what == b->what && a->attempt == b->attempt && a->section == b->section &&
	       name_equal(&a->name, &b->name);
}

const struct backlog_part *backlog_outbox_part(const struct backlog_outbox *outbox,
					       const struct backlog_key *key)
{
	for (size_t i = 0; i < outbox->part_count; i++) {
		if (backlog_key_equal(&outbox->parts[i].key, key))
			return &outbox->parts[i];
	}
	return NULL;
}

struct backlog_sent *backlog_sent_find(struct backlog_outbox *outbox, const struct backlog_key *key)
{
	for (size_t i = 0; i < outbox->sent_count; i++) {
		if (!backlog_key_equal(&outbox->sent[i].key, key))
			continue;
		outbox->sent[i].wanted = true;
		return &outbox->sent[i];
	}
	return NULL;
}

/* Keeps in mind that PART is acknowledged. 0, or -1 when memory ran out. */
static int sent_add(struct backlog_outbox *outbox, const struct backlog_part *part)
{
	struct backlog_sent *sent = backlog_sent_find(outbox, &part->key);

	if (sent == NULL) {
		if (outbox->sent_count == outbox->sent_room) {
			size_t room = outbox->sent_room == 0 ? 16 : outbox->sent_room * 2;

			sent = reallocarray(outbox->sent, room, sizeof(*sent));
			if (sent == NULL)
				return -1;
			outbox->sent = sent;
			outbox->sent_room = room;
		}
		sent = &outbox->sent[outbox->sent_count++];
		*sent = (struct backlog_sent){ .key = part->key, .wanted = true };
	}
	sent->count = part->first + part->count;
	sent->whole = part->last;
	return 0;
}

static void sent_remove(struct backlog_outbox *outbox, size_t index)
{
	outbox->sent[index] = outbox->sent[--outbox->sent_count];
}

bool backlog_sent_whole(struct lens_backlog *backlog, const struct backlog_key *key)
{
	const struct backlog_sent *sent = backlog_sent_find(backlog->outbox, key);

	return sent != NULL && sent->whole;
}

void backlog_sent_forget(struct lens_backlog *backlog, const struct backlog_key *key)
{
	struct backlog_outbox *outbox = backlog->outbox;
	struct backlog_sent *sent = backlog_sent_find(outbox, key);

	if (sent != NULL)
		sent_remove(outbox, (size_t)(sent - outbox->sent));
}

/* Whether KEY is about the file NAME. */
static bool key_of(const struct backlog_key *key, const struct lens_state_name *name)
{
	if (key->what != BACKLOG_START || name->kind != LENS_STATE_ENDED)
		return name_equal(&key->name, name);
	return key->name.job == name->job && key->name.node == name->node &&
	       key->attempt == name->attempt;
}

bool backlog_outbox_has(const struct backlog_outbox *outbox, const struct lens_state_name *name)
{
	for (size_t i = 0; i < outbox->part_count; i++) {
		if (key_of(&outbox->parts[i].key, name))
			return true;
	}
	return false;
}

void backlog_sent_gone(struct lens_backlog *backlog, const struct lens_state_name *name)
{
	struct backlog_outbox *outbox = backlog->outbox;

	for (size_t i = outbox->sent_count; i > 0; i--) {
		if (key_of(&outbox->sent[i - 1].key, name))
			sent_remove(outbox, i - 1);
	}
}

void backlog_sent_sweep(struct lens_backlog *backlog)
{
	struct backlog_outbox *outbox = backlog->outbox;

	for (size_t i = outbox->sent_count; i > 0; i--) {
		if (!outbox->sent[i - 1].wanted)
			sent_remove(outbox, i - 1);
		else
			outbox->sent[i - 1].wanted = false;
	}
}

static void dropped(struct lens_backlog *backlog, uint64_t spans,
		    const struct lens_export_result *answer)
{
	const struct backlog_outbox *outbox = backlog->outbox;
	uint32_t job = outbox->parts[0].key.name.job;
	const char *more = "";

	for (size_t i = 1; i < outbox->part_count; i++) {
		if (outbox->parts[i].key.name.job != job)
			more = " and others";
	}
	backlog->result->dropped += spans;
	memcpy(backlog->result->message, answer->message, sizeof(answer->message));
	backlog_log(backlog, "%" PRIu64 " spans of job %" PRIu32 "%s were refused and are lost: %s",
		    spans, job, more, answer->message);
}

static void acknowledged(struct lens_backlog *backlog, const struct lens_export_result *answer)
{
	struct backlog_outbox *outbox = backlog->outbox;
	bool done = answer->verdict == LENS_VERDICT_DONE;
	uint64_t rejected = done ? answer->rejected : outbox->spans;

	if (rejected > outbox->spans)
		rejected = outbox->spans;
	for (size_t i = 0; i < outbox->part_count; i++) {
		if (sent_add(outbox, &outbox->parts[i]) == 0)
			continue;
		snprintf(backlog->result->message, sizeof(backlog->result->message),
			 "out of memory: what was sent just now is sent once more");
		backlog_fault(backlog, ENOMEM);
	}
	backlog->result->sent += outbox->spans - rejected;
	if (rejected > 0)
		dropped(backlog, rejected, answer);
	else if (answer->message[0] != '\0')
		backlog_log(backlog, "the receiver says: %s", answer->message);
	/* Back to where it was, step by step, when one request was too large. */
	outbox->limit = outbox->limit * 2 < LENS_BATCH_SPANS ? outbox->limit * 2 : LENS_BATCH_SPANS;
}

/*
 * Visits what is whole by now. One that is visited at this moment (a request went out when it
 * was full) sees for itself.
 */
static void settle(struct lens_backlog *backlog)
{
	struct backlog_outbox *outbox = backlog->outbox;
	const struct lens_state_name *current =
		backlog->at < backlog->names.count ? &backlog->names.items[backlog->at] : NULL;
	size_t count = outbox->part_count;

	outbox->part_count = 0;
	outbox->settling = true;
	for (size_t i = 0; i < count; i++) {
		const struct backlog_part *part = &outbox->parts[i];
		struct lens_state_name name = part->key.name;

		if (!part->last)
			continue;
		if (current == NULL || !name_equal(current, &name))
			backlog_visit(backlog, &name);
		if (part->key.what != BACKLOG_START)
			continue;
		name.kind = LENS_STATE_ENDED;
		name.attempt = part->key.attempt;
		if (current == NULL || !name_equal(current, &name))
			backlog_visit(backlog, &name);
	}
	outbox->settling = false;
}

static void refused(struct lens_backlog *backlog, const struct lens_export_result *answer)
{
	struct lens_backlog_result *result = backlog->result;

	result->refused = true;
	result->unsent = true;
	result->retry_after_ms = answer->retry_after_ms;
	memcpy(result->message, answer->message, sizeof(result->message));
}

void backlog_outbox_answer(struct lens_backlog *backlog, const struct lens_export_result *answer)
{
	struct backlog_outbox *outbox = backlog->outbox;

	outbox->pending = false;
	if (answer->verdict == LENS_VERDICT_RETRY) {
		refused(backlog, answer);
		outbox->part_count = 0;
	} else if (answer->verdict == LENS_VERDICT_SPLIT && outbox->spans > 1) {
		outbox->limit = outbox->spans / 2;
		outbox->part_count = 0;
		outbox->resume = 0;
	} else {
		acknowledged(backlog, answer);
		settle(backlog);
	}
	outbox->spans = 0;
}
