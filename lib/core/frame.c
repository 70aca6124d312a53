/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/frame.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHUNK (64 * 1024)

static void text_wipe(struct lens_text *text)
{
	if (text->data != NULL)
		explicit_bzero(text->data, text->capacity);
	lens_text_clear(text);
}

void lens_frame_reader_init(struct lens_frame_reader *reader, size_t limit)
{
	*reader = (struct lens_frame_reader){ .limit = limit };
}

void lens_frame_reader_clear(struct lens_frame_reader *reader)
{
	text_wipe(&reader->body);
}

/* As read(2), again after a signal. */
static ssize_t read_some(int fd, void *bytes, size_t length)
{
	ssize_t got;

	do
		got = read(fd, bytes, length);
	while (got == -1 && errno == EINTR);
	return got;
}

/* 1: LENGTH > 0 bytes of GOT; 0: none for now; -1 with ERR. */
static int read_outcome(ssize_t got, struct lens_error *err)
{
	if (got > 0)
		return 1;
	if (got == 0)
		return lens_error_set(err, "the other end has closed");
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		return 0;
	return lens_error_set(err, "%m");
}

static int read_head(struct lens_frame_reader *reader, int fd, struct lens_error *err)
{
	while (reader->head_length < sizeof(reader->head)) {
		ssize_t got = read_some(fd, reader->head + reader->head_length,
					sizeof(reader->head) - reader->head_length);
		int rc = read_outcome(got, err);

		if (rc != 1)
			return rc;
		reader->head_length += (size_t)got;
	}
	memcpy(&reader->kind, reader->head, sizeof(reader->kind));
	memcpy(&reader->length, reader->head + sizeof(reader->kind), sizeof(reader->length));
	if (reader->length > reader->limit)
		return lens_error_set(err, "a message of %lu bytes is more than is taken",
				      (unsigned long)reader->length);
	return 1;
}

static int read_body(struct lens_frame_reader *reader, int fd, struct lens_error *err)
{
	char chunk[CHUNK];
	int rc = 1;

	while (rc == 1 && reader->body.length < reader->length) {
		size_t left = reader->length - reader->body.length;
		ssize_t got = read_some(fd, chunk, left < sizeof(chunk) ? left : sizeof(chunk));

		rc = read_outcome(got, err);
		if (rc == 1)
			lens_text_add(&reader->body, chunk, (size_t)got);
		if (reader->body.failed)
			rc = lens_error_set(err, "out of memory");
	}
	explicit_bzero(chunk, sizeof(chunk));
	return rc;
}

int lens_frame_read(struct lens_frame_reader *reader, int fd, struct lens_error *err)
{
	int rc;

	/* The frame of the call before is over. */
	if (reader->head_length == sizeof(reader->head) && reader->body.length == reader->length) {
		text_wipe(&reader->body);
		reader->head_length = 0;
	}
	if (reader->head_length < sizeof(reader->head)) {
		rc = read_head(reader, fd, err);
		if (rc != 1)
			return rc;
	}
	return read_body(reader, fd, err);
}

int lens_frame_add(struct lens_frame_writer *writer, uint32_t kind, const void *body, size_t length)
{
	uint32_t head[2] = { kind, (uint32_t)length };
	size_t before = writer->bytes.length;

	if (length > UINT32_MAX)
		return -1;
	lens_text_add(&writer->bytes, (const char *)head, sizeof(head));
	if (length > 0)
		lens_text_add(&writer->bytes, body, length);
	if (!writer->bytes.failed)
		return 0;
	writer->bytes.failed = false;
	writer->bytes.length = before;
	return -1;
}

int lens_frame_flush(struct lens_frame_writer *writer, int fd)
{
	while (writer->sent < writer->bytes.length) {
		ssize_t sent = send(fd, writer->bytes.data + writer->sent,
				    writer->bytes.length - writer->sent, MSG_NOSIGNAL);

		if (sent == -1 && errno == EINTR)
			continue;
		if (sent == -1)
			return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
		writer->sent += (size_t)sent;
	}
	lens_frame_writer_clear(writer);
	return 1;
}

void lens_frame_writer_clear(struct lens_frame_writer *writer)
{
	text_wipe(&writer->bytes);
	writer->sent = 0;
}
