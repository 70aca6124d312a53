/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_SHOW_INDEX_H
#define LENS_CMD_SHOW_INDEX_H

#include "lib/otlp/read.h"

/* What the user asked for. Strings are "" when not given. */
struct show_wish {
	const char *job; /* `36`, `36_3`; matches slurm.job.id, its raw form and the array's id */
	const char *cluster;
	bool has_trace;
	struct lens_trace_id trace;
	int64_t attempt; /* -1: all */
};

/* What is known of a job in a trace: an attempt as a rule. */
struct show_entry {
	struct lens_trace_id trace;
	char job[64]; /* slurm.job.id; "": spans of no job */
	char raw[24]; /* slurm.job.id.raw */
	char cluster[64];
	char name[64];
	char user[64];
	char service[64];
	char state[24];   /* slurm.state of the latest attempt that is over */
	int64_t attempts; /* the highest attempt and one; 0: none is said */
	int64_t least;    /* the lowest, when one is said */
	uint64_t start_ns, end_ns;
	uint64_t spans, errors;
	bool over;   /* an attempt that no other follows has ended */
	bool hidden; /* spans of no job in a trace that is a job's */
};

/*
 * The jobs of a file, while it is read: memory for the jobs, not for the spans. Entries of
 * one job stand together, in the order of their start; traces without a job come last.
 */
struct show_index;

struct show_index *show_index_create(const struct show_wish *wish); /* borrowed; NULL: no memory */
void show_index_destroy(struct show_index *index);

/* A lens_read_fn; CONTEXT is the index. 0; 1 when memory ran out. */
int show_index_add(void *context, const struct lens_read_span *span);

/* Sorts; to be called when something was added, before what follows. */
void show_index_finish(struct show_index *index);
size_t show_index_count(const struct show_index *index);
const struct show_entry *show_index_at(const struct show_index *index, size_t number);

/* Whether ids were written in capitals: who searches for their text must know. */
bool show_index_capitals(const struct show_index *index);

/* How many entries from NUMBER on are of the same job: at least 1. A trace without a job
 * stands alone. */
size_t show_index_group(const struct show_index *index, size_t number);

/* Groups with a job, and without one. */
struct show_index_sums {
	size_t jobs, traces;
};
struct show_index_sums show_index_sums(const struct show_index *index);

/* slurm.attempt, else the resource's slurm.restart_count; -1: not said. */
int64_t show_attempt_of(const struct lens_read_span *span);

#endif
