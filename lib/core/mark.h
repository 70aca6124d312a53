/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_MARK_H
#define LENS_CORE_MARK_H

#include "lib/core/carrier.h"
#include "lib/core/env.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What lens set in an environment, so that lens in an inner step or job takes out its
 * own values and leaves the user's. SLURM_LENS_MARK is one line in the carrier's
 * encoding (the name begins with SLURM because Slurm keeps those through --export=NONE):
 * `v=1`, job, attempt, span, `head`, `array`, for each variable that lens set `s.<NAME>` and for each
 * key of OTEL_RESOURCE_ATTRIBUTES `k.<key>` the fingerprint of the value, and `u.<NAME>`
 * or `o.<key>` the user's own value that lens replaced, and `end` last of all. A value is
 * lens's only while its fingerprint is in the mark: edited, it is the user's.
 */
#define LENS_MARK_NAME "SLURM_LENS_MARK"

/* From srun to its step alone (lens_ranks_asked); taken out wherever the mark is. */
#define LENS_ASKED_NAME "SLURM_LENS_ASKED"

struct lens_mark;

struct lens_mark *lens_mark_create(uint32_t job, uint32_t attempt); /* NULL: no memory */
void lens_mark_destroy(struct lens_mark *mark);

/* NULL when TEXT is no mark of version 1 (absent, cut, foreign) or memory ran out. */
struct lens_mark *lens_mark_parse(const char *text);

/* The line; the caller frees. NULL when memory ran out. */
char *lens_mark_format(const struct lens_mark *mark);

uint32_t lens_mark_job(const struct lens_mark *mark);
uint32_t lens_mark_attempt(const struct lens_mark *mark);

/* Facts that only an outer level knows: "head" (node name), "span" (hex), "array" (`no`, or
 * `<job>_<task>`), "outer" (the TRACEPARENT whose trace the job's spans go into). Borrowed; NULL
 * when absent. Setters: 0 or -1 (memory). */
const char *lens_mark_fact(const struct lens_mark *mark, const char *name);
int lens_mark_set_fact(struct lens_mark *mark, const char *name, const char *value);

/* Of a mark that was read: how many entries it has, and the variable that the one at INDEX (< count)
 * says lens set or took out; NULL when it says something else. Borrowed. */
size_t lens_mark_entry_count(const struct lens_mark *mark);
const char *lens_mark_entry_variable(const struct lens_mark *mark, size_t index);

/* Records that lens set variable NAME (or carrier KEY) to VALUE; a NULL VALUE of a variable
 * is one that lens took out. 0 or -1 (memory). */
int lens_mark_add_variable(struct lens_mark *mark, const char *name, const char *value);
int lens_mark_add_key(struct lens_mark *mark, const char *key, const char *value);

/* Records the user's own VALUE of NAME (or of carrier KEY) that lens replaced. 0 or -1 (memory). */
int lens_mark_keep_variable(struct lens_mark *mark, const char *name, const char *value);
int lens_mark_keep_key(struct lens_mark *mark, const char *key, const char *value);

/*
 * ENV as it would be had lens never been there: lens's own values out, the user's
 * replaced values restored, the mark itself out. Where slurm.job.id.raw is still there (the
 * mark is missing, unreadable, of another carrier) and names another job than JOB, the
 * carrier loses its identity keys. JOB 0 is "not known": then only the mark decides.
 * *MARK (may be NULL) receives the parsed mark or NULL; the caller destroys both.
 * NULL when memory ran out.
 */
struct lens_env *lens_mark_clean(char *const *env, uint32_t job, struct lens_mark **mark);

#endif
