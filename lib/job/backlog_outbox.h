/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_BACKLOG_OUTBOX_H
#define LENS_JOB_BACKLOG_OUTBOX_H

#include "lib/job/backlog_parts.h"

/* For backlog_outbox.c and backlog_send.c alone. */

/* Spans FIRST to FIRST + COUNT - 1 of a subject, in the request. */
struct backlog_part {
	struct backlog_key key;
	size_t first, count;
	bool last; /* there are no more of it */
};

/* What was acknowledged, or refused for good, of a subject. */
struct backlog_sent {
	struct backlog_key key;
	size_t count;
	bool whole;
	bool wanted; /* since the last sweep */
};

struct backlog_outbox {
	struct lens_batch *batch; /* being filled; NULL: none */
	bool pending;             /* handed on, not answered */
	bool settling;            /* visits are to settle, not to add */
	struct backlog_part parts[LENS_BATCH_SPANS];
	size_t part_count;
	size_t spans; /* of the parts */
	size_t limit; /* spans of a request: fewer after one that was too large */
	size_t resume;
	struct backlog_sent *sent;
	size_t sent_count, sent_room;
};

bool backlog_key_equal(const struct backlog_key *a, const struct backlog_key *b);
/* NULL: nothing of it was acknowledged yet. */
struct backlog_sent *backlog_sent_find(struct backlog_outbox *outbox,
				       const struct backlog_key *key);
/* NULL: the request has nothing of it. */
const struct backlog_part *backlog_outbox_part(const struct backlog_outbox *outbox,
					       const struct backlog_key *key);

#endif
