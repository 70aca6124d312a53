/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_BACKLOG_PARTS_H
#define LENS_JOB_BACKLOG_PARTS_H

#include "lib/core/carrier.h"
#include "lib/core/statedir.h"
#include "lib/job/attempt.h"
#include "lib/job/backlog.h"
#include "lib/job/step.h"

/* The parts of the backlog among themselves; for backlog*.c alone. */

/* A file that says nothing yet may be one that is being begun; seconds. */
#define BACKLOG_YOUNG_S 60

struct backlog_question;

struct backlog_names {
	struct lens_state_name *items;
	size_t count;
};

/* A journal that is still needed after its visit. */
struct backlog_live {
	struct lens_state_name name;
	bool known; /* attempt holds */
	uint32_t attempt;
};

struct lens_backlog {
	int directory;
	struct lens_job_site site;
	struct lens_backlog_hooks hooks;
	struct backlog_question *questions;
	/* Of one run: */
	struct lens_backlog_result *result;
	bool may_send;
	struct backlog_live *live;
	size_t live_count;
};

void backlog_log(struct lens_backlog *backlog, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int64_t backlog_now(struct lens_backlog *backlog);
void backlog_due(struct lens_backlog *backlog, int64_t at_ms); /* the earliest counts */

/* backlog_list.c: the state files of the directory, by name; the caller frees items. */
int backlog_list(int directory, struct backlog_names *out, struct lens_error *err);
/* Opens NAME below the directory with FLAGS; a regular file, else -1 with errno. */
int backlog_open(struct lens_backlog *backlog, const struct lens_state_name *name, int flags);
/* Unlinks NAME; what fails is logged. */
void backlog_unlink(struct lens_backlog *backlog, const struct lens_state_name *name);
/* Whether the file at FD was written within BACKLOG_YOUNG_S; a run is then due. */
bool backlog_young(struct lens_backlog *backlog, int fd);

/* backlog_send.c: all spans that FILL makes of SUBJECT, in pages. True when each was
 * acknowledged or refused for good; false: later. */
typedef int backlog_fill_fn(struct lens_batch *batch, const struct lens_job_site *site,
			    const void *subject, size_t first, size_t limit);
bool backlog_send(struct lens_backlog *backlog, backlog_fill_fn *fill, const void *subject,
		  uint32_t job);

/* backlog_ask.c */
enum backlog_reply {
	BACKLOG_WAIT,
	BACKLOG_ANSWER,
	BACKLOG_SILENCE, /* given up, at the end of an attempt only */
};
enum backlog_reply backlog_ask(struct lens_backlog *backlog, const struct lens_state_name *note,
			       uint32_t attempt, bool end, struct lens_job_answer *out);
/* Drops the questions that nobody looked after since the last sweep. */
void backlog_ask_sweep(struct lens_backlog *backlog);
void backlog_ask_destroy(struct lens_backlog *backlog);

/* backlog_journal.c */
void backlog_journal_visit(struct lens_backlog *backlog, const struct lens_state_name *name);
/* The resource attributes that a journal NAME holds; the caller frees; NULL: none. */
char *backlog_journal_resource(struct lens_backlog *backlog, const struct lens_state_name *name);

/* backlog_note.c */
void backlog_note_visit(struct lens_backlog *backlog, const struct lens_state_name *name);
void backlog_ended_visit(struct lens_backlog *backlog, const struct lens_state_name *name);

/* backlog_window.c: appends what STEP covered to the note of its attempt; 0 also when
 * there is none; -1 (logged) when it could not be written. */
int backlog_window_append(struct lens_backlog *backlog, const struct lens_state_name *journal,
			  const struct lens_job_step *step);

/* Appends RECORD to the note open (for reading: closing a file that was open for writing
 * would wake the agent again) at FD and waits for the disk. 0, or -1, logged. */
int backlog_record_append(struct lens_backlog *backlog, int fd, const struct lens_carrier *record);

/* A longer carrier is not copied into the note: a record has its limit. */
#define BACKLOG_RESOURCE_MAX (64 * 1024)

#endif
