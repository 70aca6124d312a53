/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/record.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct lens_records {
	struct lens_carrier **items;
	size_t count, capacity;
	size_t skipped;
	size_t size; /* bytes */
};

void lens_records_destroy(struct lens_records *records)
{
	int saved = errno;

	if (records == NULL)
		return;
	for (size_t i = 0; i < records->count; i++)
		lens_carrier_destroy(records->items[i]);
	free(records->items);
	free(records);
	errno = saved;
}

static int add_item(struct lens_records *records, struct lens_carrier *record)
{
	struct lens_carrier **items;
	size_t capacity;

	if (records->count == records->capacity) {
		capacity = records->capacity > 0 ? 2 * records->capacity : 16;
		items = reallocarray(records->items, capacity, sizeof(*items));
		if (items == NULL)
			return -1;
		records->items = items;
		records->capacity = capacity;
	}
	records->items[records->count++] = record;
	return 0;
}

/*
 * Whether every entry of LINE became a key of RECORD, each once: two lines run into one
 * (the writer of the first died in it) have an entry with two `=` or a key twice.
 */
static bool is_whole(const char *line, const struct lens_carrier *record)
{
	size_t commas = 0, equals = 0;

	for (; *line != '\0'; line++) {
		commas += *line == ',';
		equals += *line == '=';
	}
	return equals == commas + 1 && lens_carrier_count(record) == equals;
}

static bool is_record(const char *line, const struct lens_carrier *record)
{
	const char *version = lens_carrier_get(record, "v");

	return version != NULL && strcmp(version, "1") == 0 && *lens_record_event(record) != '\0' &&
	       lens_record_time(record) > 0 && is_whole(line, record);
}

/* One line of LENGTH bytes, ended by a NUL where its newline was. */
static int read_line(struct lens_records *records, const char *line, size_t length)
{
	struct lens_carrier *record;

	/* A writer saw another one in the middle of a line, and ended it: nothing was lost. */
	if (length == 1 && *line == ',')
		return 0;
	if (length >= LENS_RECORD_MAX || strlen(line) != length) {
		records->skipped++;
		return 0;
	}
	record = lens_carrier_create();
	if (record == NULL || lens_carrier_parse(record, line, NULL) != 0)
		goto failed;
	if (!is_record(line, record)) {
		records->skipped++;
		lens_carrier_destroy(record);
		return 0;
	}
	if (add_item(records, record) == 0)
		return 0;
failed:
	lens_carrier_destroy(record);
	errno = ENOMEM;
	return -1;
}

static int read_lines(struct lens_records *records, char *data, size_t length)
{
	char *end = data + length, *line = data, *newline;

	while ((newline = memchr(line, '\n', (size_t)(end - line))) != NULL) {
		*newline = '\0';
		if (read_line(records, line, (size_t)(newline - line)) != 0)
			return -1;
		line = newline + 1;
	}
	if (line < end)
		records->skipped++;
	return 0;
}

/* All bytes of FD; the caller clears OUT. */
static int read_all(int fd, struct lens_text *out)
{
	char chunk[16 * 1024];
	ssize_t count;

	do {
		count = pread(fd, chunk, sizeof(chunk), (off_t)out->length);
		if (count > 0)
			lens_text_add(out, chunk, (size_t)count);
		if (out->failed) {
			errno = ENOMEM;
			return -1;
		}
	} while (count > 0 || (count < 0 && errno == EINTR));
	return count < 0 ? -1 : 0;
}

struct lens_records *lens_records_read(int fd)
{
	struct lens_records *records = calloc(1, sizeof(*records));
	struct lens_text all = LENS_TEXT_INIT;

	if (records == NULL)
		return NULL;
	if (read_all(fd, &all) != 0 ||
	    (all.length > 0 && read_lines(records, all.data, all.length) != 0)) {
		lens_records_destroy(records);
		records = NULL;
	} else {
		records->size = all.length;
	}
	lens_text_clear(&all);
	return records;
}

size_t lens_records_size(const struct lens_records *records)
{
	return records->size;
}

size_t lens_records_count(const struct lens_records *records)
{
	return records->count;
}

const struct lens_carrier *lens_records_at(const struct lens_records *records, size_t index)
{
	return records->items[index];
}

size_t lens_records_skipped(const struct lens_records *records)
{
	return records->skipped;
}

const struct lens_carrier *lens_records_last(const struct lens_records *records, const char *event)
{
	for (size_t i = records->count; i > 0; i--)
		if (strcmp(lens_record_event(records->items[i - 1]), event) == 0)
			return records->items[i - 1];
	return NULL;
}
