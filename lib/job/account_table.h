/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_JOB_ACCOUNT_TABLE_H
#define LENS_JOB_ACCOUNT_TABLE_H

#include "lib/core/error.h"
#include "lib/core/text.h"

#include <stddef.h>
#include <stdio.h>

#define LENS_TABLE_COLUMNS 256               /* sacct has about 120 */
#define LENS_TABLE_ROW     ((size_t)1 << 20) /* bytes; a SubmitLine alone may take 128 KiB */

/*
 * A table as sacct prints it: a header line of names, then rows, a delimiter between the columns
 * (--parsable2), or behind each (--parsable). A row with too few columns goes on in the next
 * line: a job's name may hold newlines.
 */
struct lens_account_table {
	FILE *in;
	const char *source; /* its name in messages */
	size_t row_line;    /* where the row begins, from 1 */
	size_t width;       /* columns in the header */
	char *values
		[LENS_TABLE_COLUMNS]; /* of the header, then of the row: borrowed until the next */
	/* The table's own. */
	size_t line;
	char *delimiter;
	struct lens_text row;
};

/*
 * Reads the header of IN; SOURCE must stay. DELIMITER NULL: what stands behind the first name.
 * 0, or -1 with ERR. The caller clears either way.
 */
int lens_account_table_open(struct lens_account_table *table, FILE *in, const char *source,
			    const char *delimiter, struct lens_error *err);
void lens_account_table_clear(struct lens_account_table *table);

/* Reads the next row. 1; 0 at the end; -1 with ERR naming source and line. */
int lens_account_table_next(struct lens_account_table *table, struct lens_error *err);

#endif
