/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_SHOW_ROWS_H
#define LENS_CMD_SHOW_ROWS_H

#include "cmd/show_picture.h"

#include <stddef.h>

#define SHOW_SIBLINGS 16 /* of one name below one parent; of more the failed and the longest */
#define SHOW_CHILDREN 64 /* below one parent, whatever their names */

/* How much of a tree is to be seen. */
struct show_limits {
	bool all;     /* masses too */
	size_t depth; /* levels; 0: all */
};

/* A line of the picture: a span, or, SPAN being NULL, those of one parent that are left out. */
struct show_row {
	const struct show_span *span;
	const struct show_span *parent; /* NULL: a root */
	size_t depth;
	bool last; /* of its siblings that are seen */
	/* What is left out: */
	size_t count, below, errors; /* spans, those beneath them, failed ones of the former */
	uint64_t start_ns, end_ns;
	const char *name; /* of all of them; NULL: of several names */
	/* On a span's row: beneath it, beyond the depth that was asked for. */
	size_t hidden;
};

struct show_rows {
	struct show_row *rows;
	size_t count;
};

/* The rows of SECTION in the order of reading. 0; -1: no memory. The caller clears either way. */
int show_rows_make(struct show_rows *rows, const struct show_section *section,
		   const struct show_limits *limits);
void show_rows_clear(struct show_rows *rows);

#endif
