/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_BACKLOG_PARTS_H
#define LENS_JOB_BACKLOG_PARTS_H

#include "lib/core/carrier.h"
#include "lib/core/statedir.h"
#include "lib/job/attempt.h"
#include "lib/job/backlog.h"
#include "lib/job/backlog_memory.h"
#include "lib/job/step.h"

/* The parts of the backlog among themselves; for backlog*.c alone. */

/* A file that says nothing yet may be one that is being begun; seconds. */
#define BACKLOG_YOUNG_S 60

/* What failed on this node (a full disk) is tried again after so long; milliseconds. */
#define BACKLOG_FAULT_MS 60000

struct backlog_question;
struct backlog_outbox;

struct backlog_names {
	struct lens_state_name *items;
	size_t count;
};

/* A journal that is still needed after its visit. */
struct backlog_live {
	struct lens_state_name name;
	bool known; /* attempt holds */
	bool gone;  /* unlinked meanwhile */
	uint32_t attempt;
	off_t finished; /* its size, when only its spans are to be sent; 0: it is not finished */
};

/* A file as an append of this process left it. */
struct backlog_write {
	char name[LENS_STATE_NAME];
	off_t size;
};
#define BACKLOG_WRITES 64 /* the oldest is forgotten, which costs a run */

struct lens_backlog {
	int directory;
	struct lens_job_site site;
	struct lens_backlog_hooks hooks;
	struct backlog_question *questions;
	struct backlog_outbox *outbox;
	struct lens_memory *memory, *own_memory;
	uint64_t max_spool; /* bytes; 0: no limit */
	bool over_spool;    /* the last look left more than that, or none was taken */
	bool unwritable;    /* the directory takes no changes: said once */
	bool full;          /* no record could be written: likewise */
	/* Of the last run: */
	struct backlog_names names;
	size_t at; /* the one that is visited; names.count: one out of turn */
	struct backlog_live *live, *before; /* as the names, by job; before: of the run before it */
	size_t live_count, before_count;
	struct backlog_write writes[BACKLOG_WRITES];
	size_t next_write;
	/* Of one call: */
	struct lens_backlog_result *result;
	bool may_send;
	bool faulty; /* something failed that may go well the next time: not all is sent */
};

void backlog_log(struct lens_backlog *backlog, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int64_t backlog_now(struct lens_backlog *backlog);
void backlog_due(struct lens_backlog *backlog, int64_t at_ms); /* the earliest counts */

/* backlog.c: looks after the file NAME, if it is still there. */
void backlog_visit(struct lens_backlog *backlog, const struct lens_state_name *name);

/* backlog_list.c: the state files of the directory, journals first, then current notes, then
 * ended ones, each by job; the caller frees items. */
int backlog_list(int directory, struct backlog_names *out, struct lens_error *err);
int backlog_name_order(const struct lens_state_name *a, const struct lens_state_name *b);
/* Opens NAME below the directory with FLAGS; a regular file, else -1 with errno. */
int backlog_open(struct lens_backlog *backlog, const struct lens_state_name *name, int flags);
/* Unlinks NAME; what fails is logged. */
void backlog_unlink(struct lens_backlog *backlog, const struct lens_state_name *name);
/* Whether the file at FD was written within BACKLOG_YOUNG_S; a run is then due. */
bool backlog_young(struct lens_backlog *backlog, int fd);

/* backlog_live.c: notes that the journal NAME, of STEP (NULL: it does not say yet), is still
 * needed. */
void backlog_live_add(struct lens_backlog *backlog, const struct lens_state_name *name,
		      const struct lens_job_step *step);
/* Adds the journal NAME, which is finished, of SIZE bytes and of ATTEMPT. */
void backlog_live_finished(struct lens_backlog *backlog, const struct lens_state_name *name,
			   uint32_t attempt, off_t size);
void backlog_live_remove(struct lens_backlog *backlog, const struct lens_state_name *name);
/* Makes the list that of the run before, and an empty one. */
void backlog_live_turn(struct lens_backlog *backlog);
/* The same journal in the run before, if it is there and still has its size; or NULL. */
const struct backlog_live *backlog_live_before(const struct lens_backlog *backlog,
					       const struct lens_state_name *name);
/* A journal of NOTE's ATTEMPT that is still needed, or NULL; the batch script's with BATCH.
 * One that does not say yet which attempt it belongs to counts as any's; for the batch
 * script's it is too early then. */
const struct backlog_live *backlog_live_of(const struct lens_backlog *backlog,
					   const struct lens_state_name *note, uint32_t attempt,
					   bool batch);

/* What is sent as a whole and then settled. */
struct backlog_key {
	enum { BACKLOG_STEP, BACKLOG_START, BACKLOG_JOB } what;
	struct lens_state_name name; /* START: of the current note, whatever it is called now */
	uint32_t attempt;
	size_t section; /* STEP: which of the journal's */
};

/* backlog_send.c: puts all spans that FILL makes of SUBJECT into requests, as there is room.
 * True when each was acknowledged or refused for good, again and again until
 * backlog_sent_forget; false: later. */
typedef int backlog_fill_fn(struct lens_batch *batch, const struct lens_job_site *site,
			    const void *subject, size_t first, size_t limit);
bool backlog_send(struct lens_backlog *backlog, backlog_fill_fn *fill, const void *subject,
		  const struct backlog_key *key);
/* The spans of a step, of an attempt's start and of its end. */
backlog_fill_fn backlog_step_fill, backlog_start_fill, backlog_job_fill;
/* The file that is visited has more than could be added. */
void backlog_look_again(struct lens_backlog *backlog);
/* Sends what waits for more. */
void backlog_flush(struct lens_backlog *backlog);

/* backlog_outbox.c: the request that is filled or under way, and what was acknowledged of
 * subjects that are not settled yet. */
struct backlog_outbox *backlog_outbox_create(void);
void backlog_outbox_destroy(struct backlog_outbox *outbox);
bool backlog_outbox_pending(const struct backlog_outbox *outbox);
/* The first of the names, by index, that found no room; SIZE_MAX: none. Reading it takes it. */
size_t backlog_outbox_resume(struct backlog_outbox *outbox);
void backlog_outbox_resume_at(struct backlog_outbox *outbox, size_t index);
/* Whether it has spans of the file NAME. */
bool backlog_outbox_has(const struct backlog_outbox *outbox, const struct lens_state_name *name);
/* Takes ANSWER for the request and visits what it completed. */
void backlog_outbox_answer(struct lens_backlog *backlog, const struct lens_export_result *answer);
void backlog_sent_forget(struct lens_backlog *backlog, const struct backlog_key *key);
/* Whether all of KEY was acknowledged, or refused for good. */
bool backlog_sent_whole(struct lens_backlog *backlog, const struct backlog_key *key);
/* The file NAME is gone: nothing of it will be asked for again. */
void backlog_sent_gone(struct lens_backlog *backlog, const struct lens_state_name *name);
/* Forgets what was not asked for since the last sweep. */
void backlog_sent_sweep(struct lens_backlog *backlog);

/* backlog_ask.c */
enum backlog_reply {
	BACKLOG_WAIT,
	BACKLOG_ANSWER,
	BACKLOG_SILENCE, /* given up, at the end of an attempt only */
};
enum backlog_reply backlog_ask(struct lens_backlog *backlog, const struct lens_state_name *note,
			       uint32_t attempt, bool end, struct lens_job_answer *out);
/* An answer that does not settle it: the next one is asked for after DELAY_MS. */
void backlog_ask_again(struct lens_backlog *backlog, const struct lens_state_name *note,
		       uint32_t attempt, int64_t delay_ms);
/* An answer that could not be noted: it is asked for again after BACKLOG_FAULT_MS. */
void backlog_ask_fault(struct lens_backlog *backlog, const struct lens_state_name *note,
		       uint32_t attempt, bool end);
/* Drops the questions that nobody looked after since the last sweep. */
void backlog_ask_sweep(struct lens_backlog *backlog);
void backlog_ask_destroy(struct lens_backlog *backlog);

/* backlog_journal.c */
void backlog_journal_visit(struct lens_backlog *backlog, const struct lens_state_name *name);
/* The resource attributes that a journal NAME holds; the caller frees; NULL: none. */
char *backlog_journal_resource(struct lens_backlog *backlog, const struct lens_state_name *name);

/* backlog_note.c */
/* Whether this node is the first of the ATTEMPT, of RECORDS, that the note NAME tells of: by the
 * epilog's node list, else because the prolog knew or the batch script runs here. */
bool backlog_is_first(const struct lens_backlog *backlog, const struct lens_state_name *name,
		      const struct lens_job_attempt *attempt, const struct lens_records *records);
void backlog_note_visit(struct lens_backlog *backlog, const struct lens_state_name *name);
void backlog_ended_visit(struct lens_backlog *backlog, const struct lens_state_name *name);

/* backlog_adopt.c: makes the note that the attempt of STEP, of the journal NAME, lacks: no prolog
 * wrote one. Hands on the end that the journal was told. */
void backlog_adopt(struct lens_backlog *backlog, const struct lens_state_name *name,
		   const struct lens_job_step *step);

/* backlog_spool.c: drops what is finished, the oldest first, until the directory is
 * within max_spool. Once the names were visited. */
void backlog_spool_limit(struct lens_backlog *backlog);
/* Whether files can be made and removed; when not, says so once and asks for a later run. */
bool backlog_spool_writable(struct lens_backlog *backlog);

/*
 * backlog_window.c: appends what STEP covered to the note of its attempt, if there is one. On a
 * full disk that is lost and slurm.job is not widened: better than sending the journal for ever,
 * and its removal makes room. 0, or -1: what failed may go well later (no memory, no descriptor).
 */
int backlog_window_append(struct lens_backlog *backlog, const struct lens_state_name *journal,
			  const struct lens_job_step *step);

/*
 * Appends RECORD to the file NAME, open at FD, whose RECORDS were read, and waits for the disk. 0, or
 * -1 with errno, logged. Closing it is an event, which lens_backlog_wrote tells from others'.
 */
int backlog_record_append(struct lens_backlog *backlog, const struct lens_state_name *name, int fd,
			  const struct lens_records *records, const struct lens_carrier *record);

/* Whether what failed with the errno CODE may go well the next time, unlike a full disk or a file that
 * is none. */
bool backlog_fault_passes(int code);
/* Where it may, what is left is looked at again after BACKLOG_FAULT_MS. */
void backlog_fault(struct lens_backlog *backlog, int code);

/* A longer carrier is not copied into the note: a record has its limit. */
#define BACKLOG_RESOURCE_MAX (64 * 1024)

#endif
