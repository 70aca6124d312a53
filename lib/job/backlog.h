/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_BACKLOG_H
#define LENS_JOB_BACKLOG_H

#include "lib/core/error.h"
#include "lib/job/answer.h"
#include "lib/job/resource_fill.h"
#include "lib/otlp/exporter.h"
#include "lib/otlp/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What lies in the state directory and what each file still needs:
 *
 * - a journal whose step is over or whose writer is gone: its spans are sent, what it covered
 *   is appended to the attempt's note, it is unlinked;
 * - the note of a running attempt on the job's first node: slurmctld is asked once, the
 *   start spans are sent;
 * - the note of an ended attempt: on the first node, once no journal of it is left,
 *   slurmctld is asked once more, the job's spans are sent; it is unlinked.
 *
 * All there is to know is in the files: after a crash the next process goes on, and what was
 * not acknowledged is sent again, the same.
 */
struct lens_backlog;
struct lens_memory; /* backlog_memory.h */

/* What a request holds at most, but for the last attempt or step put into it, which is never
 * cut for its bytes. */
#define LENS_BATCH_SPANS 512
#define LENS_BATCH_BYTES (1024 * 1024) /* by lens_batch_bytes */

/* slurmctld may be silent this long about the end of an attempt; then its spans are made of
 * what the node knows. */
#define LENS_SILENCE_MS (10 * 60 * 1000)

enum lens_reply {
	LENS_REPLY_PENDING, /* not yet */
	LENS_REPLY_ANSWER,
	LENS_REPLY_NONE, /* to be asked again */
};

/* What the backlog needs of its surroundings. CONTEXT is handed to each. */
struct lens_backlog_hooks {
	void *context;
	/* Hands BATCH on. True: it is under way, and lens_backlog_answer is called once with
	 * what came of it; false: RESULT is that already. One at a time. */
	bool (*send)(void *context, const struct lens_batch *batch,
		     struct lens_export_result *result);
	/* Begins a question to slurmctld; NULL with ERR. */
	void *(*ask)(void *context, uint32_t job, struct lens_error *err);
	/* Looks after QUESTION without waiting. ANSWER fills OUT (the backlog clears it); NONE
	 * sets ERR. */
	enum lens_reply (*reply)(void *context, void *question, struct lens_job_answer *out,
				 struct lens_error *err);
	void (*forget)(void *context, void *question); /* ends QUESTION, answered or not */
	int64_t (*now_ms)(void *context);              /* monotonic */
	bool (*stopping)(void *context);               /* leave the rest for later */
	void (*log)(void *context, const char *text);
};

struct lens_backlog_result {
	bool pending;           /* a request is under way */
	bool unsent;            /* spans are ready that were not sent */
	bool refused;           /* the receiver took nothing and is to be tried later */
	int64_t retry_after_ms; /* refused: what it asked for, -1 nothing */
	char message[256];      /* refused or dropped: why */
	size_t asking;          /* questions under way */
	size_t unanswered;      /* attempts that wait for another try at slurmctld */
	int64_t due_ms; /* when (by now_ms) to look again though nothing happens; -1 never */
	uint64_t sent, dropped; /* spans of this run; dropped: refused for good */
	uint64_t capped;        /* spans of this run that lens_backlog_limit dropped */
};

/* DIRECTORY (lens_statedir_open) and SITE's strings must stay. NULL: no memory. */
struct lens_backlog *lens_backlog_create(int directory, const struct lens_job_site *site,
					 const struct lens_backlog_hooks *hooks);
void lens_backlog_destroy(struct lens_backlog *backlog);

/* Has BACKLOG use MEMORY, which must stay, instead of one of its own: what it learned outlives
 * BACKLOG. */
void lens_backlog_remember(struct lens_backlog *backlog, struct lens_memory *memory);

/* Whether the file NAME is as this backlog left it when it wrote to it: that somebody closed it
 * tells nothing new. */
bool lens_backlog_wrote(const struct lens_backlog *backlog, const char *name);

/*
 * Bounds what the state files take of the disk, in bytes (0: nothing does): beyond it finished
 * journals and notes go, the oldest first, unsent; those of what still runs stay. What is dropped
 * is logged and counted.
 */
void lens_backlog_limit(struct lens_backlog *backlog, uint64_t max_spool);

/*
 * Goes through the directory once and does all that can be done without waiting; after the
 * receiver's first refusal nothing more is sent in this run, and nothing at all without
 * MAY_SEND. What several steps and attempts have ready goes in one request. 0, or -1 with
 * ERR when the directory cannot be read.
 */
int lens_backlog_run(struct lens_backlog *backlog, bool may_send,
		     struct lens_backlog_result *result, struct lens_error *err);

/* What came of the request under way: settles what it held and, with MAY_SEND, goes on where
 * there was no room for more. RESULT tells of this alone; its due_ms asks for a run where one
 * is needed. */
void lens_backlog_answer(struct lens_backlog *backlog, const struct lens_export_result *answer,
			 bool may_send, struct lens_backlog_result *result);

#endif
