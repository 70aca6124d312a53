/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/lines.h"

#include "lib/otlp/read.h"

#include <zlib.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK ((size_t)256 << 10)

struct lens_lines {
	gzFile file;
	char *buffer; /* one byte more than CAPACITY: the NUL of a line without a newline */
	size_t capacity;
	size_t begin, end; /* of what is not handed out yet */
	uint64_t offset;
	bool at_end;
	bool cut; /* packed, and its end is missing: to be told as a line */
};

struct lens_lines *lens_lines_open(int fd)
{
	struct lens_lines *lines = calloc(1, sizeof(*lines));

	if (lines != NULL) {
		lines->capacity = 2 * CHUNK;
		lines->buffer = malloc(lines->capacity + 1);
		lines->file = lines->buffer != NULL ? gzdopen(fd, "rb") : NULL;
	}
	if (lines == NULL || lines->file == NULL) {
		close(fd);
		if (lines != NULL)
			free(lines->buffer);
		free(lines);
		return NULL;
	}
	gzbuffer(lines->file, CHUNK);
	return lines;
}

void lens_lines_close(struct lens_lines *lines)
{
	int saved = errno;

	if (lines == NULL)
		return;
	gzclose(lines->file);
	free(lines->buffer);
	free(lines);
	errno = saved;
}

uint64_t lens_lines_offset(const struct lens_lines *lines)
{
	return lines->offset;
}

uint64_t lens_lines_consumed(const struct lens_lines *lines)
{
	z_off_t consumed = gzoffset(lines->file);

	return consumed > 0 ? (uint64_t)consumed : 0;
}

bool lens_lines_packed(const struct lens_lines *lines)
{
	return gzdirect(lines->file) == 0;
}

/* Moves what is left to the front, and makes room for a chunk behind it. */
static int room_make(struct lens_lines *lines, struct lens_error *err)
{
	char *buffer;

	memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
	lines->end -= lines->begin;
	lines->begin = 0;
	if (lines->capacity - lines->end >= CHUNK)
		return 0;
	buffer = realloc(lines->buffer, 2 * lines->capacity + 1);
	if (buffer == NULL)
		return lens_error_set(err, "out of memory");
	lines->buffer = buffer;
	lines->capacity *= 2;
	return 0;
}

static int chunk_read(struct lens_lines *lines, struct lens_error *err)
{
	const char *words;
	int code, got;

	if (room_make(lines, err) == -1)
		return -1;
	got = gzread(lines->file, lines->buffer + lines->end, (unsigned int)CHUNK);
	if (got < 0) {
		words = gzerror(lines->file, &code);
		return lens_error_set(err, "%s", code == Z_ERRNO ? strerror(errno) : words);
	}
	if (got == 0) {
		gzerror(lines->file, &code);
		lines->cut = code == Z_BUF_ERROR;
	}
	lines->end += (size_t)got;
	lines->at_end = got == 0;
	return 0;
}

static void line_take(struct lens_lines *lines, struct lens_line *line, size_t length, bool whole)
{
	line->bytes = lines->buffer + lines->begin;
	line->length = length;
	line->whole = whole;
	lines->buffer[lines->begin + length] = '\0';
	lines->begin += length + (whole ? 1 : 0);
	lines->offset += length + (whole ? 1 : 0);
}

int lens_lines_next(struct lens_lines *lines, struct lens_line *line, struct lens_error *err)
{
	size_t searched = 0; /* of what is there, without a newline */
	bool too_long = false;

	*line = (struct lens_line){ 0 };
	for (;;) {
		size_t length = lines->end - lines->begin;
		const char *from = lines->buffer + lines->begin;
		const char *newline =
			length > searched ? memchr(from + searched, '\n', length - searched) : NULL;

		if (newline != NULL || (lines->at_end && (length > 0 || too_long || lines->cut))) {
			lines->cut = lines->cut && newline != NULL;
			line_take(lines, line, newline != NULL ? (size_t)(newline - from) : length,
				  newline != NULL);
			line->too_long = too_long || line->length > LENS_READ_LINE_MAX;
			line->length = line->too_long ? 0 : line->length;
			return 1;
		}
		if (lines->at_end)
			return 0;
		searched = length;
		if (length > LENS_READ_LINE_MAX) {
			too_long = true;
			lines->begin = lines->end;
			lines->offset += length;
			searched = 0;
		}
		if (chunk_read(lines, err) == -1)
			return -1;
	}
}
