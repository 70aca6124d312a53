/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_SHOW_PICTURE_H
#define LENS_CMD_SHOW_PICTURE_H

#include "lib/otlp/kept.h"

#include <stdbool.h>

/* What a span is, for its place, label and colour. */
enum show_kind {
	SHOW_OTHER, /* not of lens: what a task traced itself */
	SHOW_ATTEMPT,
	SHOW_WAIT, /* phases and the gap between attempts */
	SHOW_INSTANT,
	SHOW_JOB,
	SHOW_EDGE, /* set-up and tear-down */
	SHOW_BATCH,
	SHOW_STEP,
	SHOW_STEP_NODE,
	SHOW_TASK,
};

/* A span in the tree: children in the order of time. */
struct show_span {
	const struct lens_kept_span *kept;
	struct show_span *parent, *first, *last, *next;
	size_t below; /* spans beneath it */
	size_t depth; /* 0: a root */
	int64_t attempt;
	enum show_kind kind;
	bool orphan;    /* its own parent is not there */
	bool truncated; /* its writer died: the end is the last time known */
};

/* An attempt, as a rule one trace. */
struct show_section {
	struct lens_trace_id trace;
	int64_t attempt; /* -1: not said */
	uint64_t start_ns, end_ns;
	size_t spans, errors;
	struct show_span *first, *last; /* roots, by ->next */
	const struct show_span *whole;  /* slurm.job_attempt; NULL: not there (yet) */
	uint64_t run_ns; /* when it began to run, UINT64_MAX: not (yet); of no job as start_ns */
};

struct show_picture {
	struct show_section *sections; /* the earlier first */
	size_t section_count;
	struct show_span *spans; /* by start; all of the sections */
	size_t span_count;
	bool over; /* the last attempt has ended, and no other follows */
};

/*
 * Puts the spans of KEPT in their places; SPLIT makes a section of each attempt in a trace. A
 * span whose parent is not there stands below the innermost of lens's spans that it belongs to.
 * NULL: no memory. KEPT stays its owner's and must outlive it.
 */
struct show_picture *show_picture_create(const struct lens_kept *kept, bool split);
void show_picture_destroy(struct show_picture *picture);

/* The next span in the order of reading: children before what follows. NULL: it was the last. */
struct show_span *show_span_next(const struct show_span *span);

/* Whether it failed as a whole; a failed task need not make it fail. */
bool show_section_failed(const struct show_section *section);

/* An attribute's text of the span itself, then of its resource. NULL: none. */
const char *show_span_text(const struct show_span *span, const char *key);

/* show_place.c: what a span's name makes of it, and the one of COUNT HOMES (slurm.job and
 * slurm.job_attempt) that ORPHAN belongs to; NULL: none. A step is no home: it would have been
 * the parent. */
enum show_kind show_kind_of(const struct lens_kept_span *kept);
struct show_span *show_place_find(const struct show_span *orphan, struct show_span *const *homes,
				  size_t count);

#endif
