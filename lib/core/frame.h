/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_FRAME_H
#define LENS_CORE_FRAME_H

#include "lib/core/error.h"
#include "lib/core/text.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Messages over a stream socket between two processes of this program on one machine: a
 * kind and a length, each 32 bits in the machine's order, then so many bytes. Neither end
 * believes the other: a length beyond the reader's limit ends the talk, and memory is taken
 * as bytes arrive, never by what is announced.
 */
struct lens_frame_reader {
	size_t limit; /* bytes of a body */
	uint8_t head[8];
	size_t head_length;
	uint32_t kind;
	uint32_t length;
	struct lens_text body;
};

/* A plain value; LIMIT is the largest body that is taken. Cleared by the caller. */
void lens_frame_reader_init(struct lens_frame_reader *reader, size_t limit);
/* Wipes what was read: it may be a secret. */
void lens_frame_reader_clear(struct lens_frame_reader *reader);

/*
 * Reads from FD, a descriptor that may be non-blocking. 1: a whole frame, kind and body
 * (length bytes, data may be NULL for none) hold until the next call; 0: more is to come;
 * -1 with ERR: the other end has closed, or says what cannot be; nothing may be read after it.
 */
int lens_frame_read(struct lens_frame_reader *reader, int fd, struct lens_error *err);

/* Bytes on their way out. */
struct lens_frame_writer {
	struct lens_text bytes;
	size_t sent;
};

/* Adds one frame. -1: no memory, or too long; nothing was added then. */
int lens_frame_add(struct lens_frame_writer *writer, uint32_t kind, const void *body,
		   size_t length);

/* Writes to the socket FD what it takes. 1: all is out; 0: more is to be written; -1 with errno. No
 * SIGPIPE. */
int lens_frame_flush(struct lens_frame_writer *writer, int fd);

/* Wipes and frees what is left. */
void lens_frame_writer_clear(struct lens_frame_writer *writer);

#endif
