/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_SHOW_COLLECT_H
#define LENS_CMD_SHOW_COLLECT_H

#include "cmd/show_index.h"
#include "cmd/show_scan.h"
#include "lib/otlp/kept.h"

/*
 * The spans of one job, or of one trace: all of its traces, also those that name no job because
 * another program wrote them, without those of other jobs in the same trace.
 */
struct show_collect;

struct show_collect *
show_collect_create(const struct show_wish *wish); /* borrowed; NULL: no memory */
void show_collect_destroy(struct show_collect *collect);

/*
 * From now on what belongs to the COUNT entries of INDEX from FIRST on; what is kept stays.
 * 0; -1: no memory.
 */
int show_collect_aim(struct show_collect *collect, const struct show_index *index, size_t first,
		     size_t count);
/* How many entries it is aimed at. */
size_t show_collect_entries(const struct show_collect *collect);

/* The texts by which lines with its spans are found. */
void show_collect_needles(const struct show_collect *collect, struct show_needles *out);

/* A lens_read_fn; CONTEXT is the collect. 0; 1 when memory ran out. */
int show_collect_add(void *context, const struct lens_read_span *span);

/* What was collected; owned by COLLECT. */
const struct lens_kept *show_collect_kept(const struct show_collect *collect);

#endif
