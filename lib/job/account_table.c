/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/account_table.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t delimiters_count(const char *text, const char *delimiter)
{
	size_t count = 0;

	for (text = strstr(text, delimiter); text != NULL;
	     text = strstr(text + strlen(delimiter), delimiter))
		count++;
	return count;
}

/* Adds the next line, without its newline, to the row. 1; 0 at the end; -1 with ERR. */
static int line_read(struct lens_account_table *table, struct lens_error *err)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	int rc = 1;

	errno = 0;
	length = getline(&line, &room, table->in);
	if (length < 0) {
		rc = feof(table->in)
			     ? 0
			     : lens_error_set(err, "%s: %s", table->source, strerror(errno));
		goto out;
	}
	table->line++;
	if (length > 0 && line[length - 1] == '\n')
		length--;
	if (table->row.length + (size_t)length > LENS_TABLE_ROW ||
	    memchr(line, '\0', (size_t)length) != NULL) {
		rc = lens_error_set(err, "%s:%zu: this is no output of sacct", table->source,
				    table->line);
		goto out;
	}
	lens_text_add(&table->row, line, (size_t)length);
	if (table->row.failed)
		rc = lens_error_set(err, "out of memory");
out:
	free(line);
	return rc;
}

/* Splits the row in place; how many columns there are. */
static size_t row_split(struct lens_account_table *table)
{
	char *rest = table->row.data;
	size_t count = 0;

	while (rest != NULL && count < LENS_TABLE_COLUMNS) {
		char *end = strstr(rest, table->delimiter);

		table->values[count++] = rest;
		rest = end;
		if (end != NULL) {
			*end = '\0';
			rest += strlen(table->delimiter);
		}
	}
	return count;
}

/* What stands behind the first name of the header. The caller frees; "" when there is none. */
static char *delimiter_find(const char *header)
{
	size_t name = 0, length = 0;

	while (isalnum((unsigned char)header[name]))
		name++;
	while (name > 0 && header[name + length] != '\0' &&
	       !isalnum((unsigned char)header[name + length]))
		length++;
	return strndup(header + name, length);
}

int lens_account_table_open(struct lens_account_table *table, FILE *in, const char *source,
			    const char *delimiter, struct lens_error *err)
{
	int rc;

	memset(table, 0, sizeof(*table));
	table->in = in;
	table->source = source;
	rc = line_read(table, err);
	if (rc == -1)
		return -1;
	if (rc == 0 || table->row.length == 0)
		return lens_error_set(err, "%s: it does not begin with the header line of sacct",
				      source);
	table->delimiter = delimiter != NULL ? strdup(delimiter) : delimiter_find(table->row.data);
	if (table->delimiter == NULL)
		return lens_error_set(err, "out of memory");
	if (*table->delimiter == '\0')
		return lens_error_set(err, "%s:1: not the header line of `sacct --parsable2`",
				      source);
	table->width = row_split(table);
	/* --parsable ends each line with a delimiter. */
	if (table->width > 1 && *table->values[table->width - 1] == '\0')
		table->width--;
	return 0;
}

void lens_account_table_clear(struct lens_account_table *table)
{
	lens_text_clear(&table->row);
	free(table->delimiter);
	table->delimiter = NULL;
}

/* The lines of the next row, empty ones left out. */
static int row_read(struct lens_account_table *table, struct lens_error *err)
{
	int rc;

	lens_text_clear(&table->row);
	do {
		rc = line_read(table, err);
	} while (rc == 1 && table->row.length == 0);
	table->row_line = table->line;
	while (rc == 1 && delimiters_count(table->row.data, table->delimiter) + 1 < table->width) {
		lens_text_add(&table->row, "\n", 1);
		rc = line_read(table, err);
		if (rc == 0)
			rc = lens_error_set(err, "%s:%zu: the row is cut; save the output again",
					    table->source, table->row_line);
	}
	return rc;
}

int lens_account_table_next(struct lens_account_table *table, struct lens_error *err)
{
	int rc = row_read(table, err);
	size_t width;

	if (rc != 1)
		return rc;
	width = row_split(table);
	/* One more is --parsable's. */
	if (width > table->width + 1 ||
	    (width == table->width + 1 && *table->values[table->width] != '\0'))
		return lens_error_set(
			err,
			"%s:%zu: more columns than the header has (a job's name "
			"holds the delimiter): save the output with another --delimiter",
			table->source, table->row_line);
	return 1;
}
