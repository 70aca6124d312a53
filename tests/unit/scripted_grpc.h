/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_SCRIPTED_GRPC_H
#define LENS_TESTS_SCRIPTED_GRPC_H

#include "tests/unit/scripted_server.h"

#include <poll.h>
#include <stdint.h>

/*
 * As scripted_server.h, a server that speaks just enough HTTP/2 (RFC 9113) to take one
 * request and give back what its script says. It reads no header: what the client says
 * there is looked at by a server of others, in tests/cluster.
 */
struct scripted_call {
	const char *headers[6]; /* "name: value", NULL-ended; none at all: no header block */
	const char *body;
	size_t body_length;
	const char *trailers[6]; /* "name: value", NULL-ended; none at all: see `open` */
	const char *raw;         /* instead of all HTTP/2: these bytes, then the end */
	bool flood;              /* a body without end, before the trailers */
	bool hold;               /* then nothing, the connection open */
	bool end;                /* then an end of the connection, else the client ends it */
	bool cut;                /* then a TCP reset */
	bool keep;               /* the next call goes over the same connection */
	bool reset;              /* the stream is reset (RST_STREAM) with `code` */
	bool goaway; /* before the answer: GOAWAY with `code` that disowns the request */
	uint32_t code;
};

enum { H2_DATA = 0, H2_HEADERS = 1, H2_RST = 3, H2_SETTINGS = 4, H2_GOAWAY = 7, H2_WINDOW = 8 };
enum { H2_END_STREAM = 1, H2_ACK = 1, H2_END_HEADERS = 4 };

struct h2_frame {
	uint32_t length;
	uint8_t type, flags;
	uint32_t stream;
	char bytes[65536];
};

static inline bool h2_read_all(int fd, char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t got = read(fd, bytes, length);

		if (got <= 0)
			return false;
		bytes += got;
		length -= (size_t)got;
	}
	return true;
}

static inline uint32_t h2_number(const uint8_t *bytes, int count)
{
	uint32_t number = 0;

	while (count-- > 0)
		number = number << 8 | *bytes++;
	return number;
}

static inline void h2_number_put(char *bytes, uint32_t number, int count)
{
	while (count-- > 0)
		*bytes++ = (char)(number >> (8 * count));
}

static inline bool h2_read(int fd, struct h2_frame *frame)
{
	uint8_t head[9];

	if (!h2_read_all(fd, (char *)head, sizeof(head)))
		return false;
	frame->length = h2_number(head, 3);
	frame->type = head[3];
	frame->flags = head[4];
	frame->stream = h2_number(head + 5, 4) & 0x7fffffff;
	return frame->length <= sizeof(frame->bytes) &&
	       h2_read_all(fd, frame->bytes, frame->length);
}

static inline bool h2_write(int fd, uint8_t type, uint8_t flags, uint32_t stream, const void *bytes,
			    size_t length)
{
	char frame[9 + 16384];

	h2_number_put(frame, (uint32_t)length, 3);
	frame[3] = (char)type;
	frame[4] = (char)flags;
	h2_number_put(frame + 5, stream, 4);
	if (length > 0)
		memcpy(frame + 9, bytes, length);
	return write(fd, frame, 9 + length) == (ssize_t)(9 + length);
}

/* A string of HPACK (RFC 7541, 5.2) without Huffman coding, its length in 7 bits and more. */
static inline size_t h2_string_put(char *out, const char *string, size_t length)
{
	size_t used = 0, rest = length;

	if (length < 127) {
		out[used++] = (char)length;
	} else {
		out[used++] = 127;
		for (rest -= 127; rest >= 128; rest /= 128)
			out[used++] = (char)(rest % 128 + 128);
		out[used++] = (char)rest;
	}
	memcpy(out + used, string, length);
	return used + length;
}

static inline void h2_headers_write(int fd, uint32_t stream, const char *const *headers, bool end)
{
	char block[8192];
	size_t length = 0;

	for (; *headers; headers++) {
		const char *colon = strchr(*headers + 1, ':'); /* `:status` begins with one */

		block[length++] = 0; /* a literal that no table remembers */
		length += h2_string_put(block + length, *headers, (size_t)(colon - *headers));
		length += h2_string_put(block + length, colon + 2, strlen(colon + 2));
	}
	h2_write(fd, H2_HEADERS, (uint8_t)(H2_END_HEADERS | (end ? H2_END_STREAM : 0)), stream,
		 block, length);
}

static inline void h2_request_keep(struct scripted_server *server, const struct h2_frame *frame)
{
	size_t room = sizeof(server->request) - 1 -
		      (server->request_length < sizeof(server->request) - 1
			       ? server->request_length
			       : sizeof(server->request) - 1);
	size_t length = frame->length < room ? frame->length : room;

	if (length > 0)
		memcpy(server->request + server->request_length, frame->bytes, length);
	server->request_length += frame->length;
}

/* Whether FD is the first of the two to have something; a client that connects anew has
 * left its old connection, which it may keep open. */
static inline bool h2_still_here(int fd, int listener)
{
	struct pollfd both[] = { { .fd = fd, .events = POLLIN },
				 { .fd = listener, .events = POLLIN } };

	return poll(both, 2, -1) > 0 && both[0].revents != 0;
}

/* Reads up to the end of a request; its stream, 0 when the client went away. */
static inline uint32_t h2_request_read(int fd, int listener, struct scripted_server *server)
{
	static struct h2_frame frame;
	char more[4];

	server->request_length = 0;
	while (h2_still_here(fd, listener) && h2_read(fd, &frame)) {
		if (frame.type == H2_SETTINGS && !(frame.flags & H2_ACK))
			h2_write(fd, H2_SETTINGS, H2_ACK, 0, NULL, 0);
		if (frame.type == H2_DATA && frame.length > 0) {
			h2_request_keep(server, &frame);
			h2_number_put(more, frame.length, 4);
			h2_write(fd, H2_WINDOW, 0, 0, more, 4);
			h2_write(fd, H2_WINDOW, 0, frame.stream, more, 4);
		}
		if ((frame.type == H2_DATA || frame.type == H2_HEADERS) &&
		    (frame.flags & H2_END_STREAM))
			return frame.stream;
	}
	return 0;
}

static inline void h2_flood(int fd, uint32_t stream, struct scripted_server *server)
{
	static const char zeros[16384];

	while (server->flooded < ((size_t)8 << 20) &&
	       h2_write(fd, H2_DATA, 0, stream, zeros, sizeof(zeros)))
		server->flooded += sizeof(zeros);
}

static inline void h2_call_answer(int fd, uint32_t stream, const struct scripted_call *call,
				  struct scripted_server *server)
{
	const struct linger reset = { .l_onoff = 1, .l_linger = 0 };
	char words[8] = { 0 };

	if (call->goaway) {
		h2_number_put(words + 4, call->code, 4); /* the last stream taken: none */
		h2_write(fd, H2_GOAWAY, 0, 0, words, 8);
		return;
	}
	if (call->headers[0])
		h2_headers_write(fd, stream, call->headers, false);
	if (call->body_length > 0)
		h2_write(fd, H2_DATA, 0, stream, call->body, call->body_length);
	if (call->flood)
		h2_flood(fd, stream, server);
	if (call->reset) {
		h2_number_put(words, call->code, 4);
		h2_write(fd, H2_RST, 0, stream, words, 4);
	}
	if (call->trailers[0])
		h2_headers_write(fd, stream, call->trailers, true);
	if (call->hold)
		pause();
	if (call->cut)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
}

struct scripted_calls {
	const struct scripted_call *calls;
	size_t count;
};

/* Takes what the client still says: a close before that would be a reset, which may
 * overtake the answer. */
static inline void h2_close(int fd, int listener, const struct scripted_call *call)
{
	static struct h2_frame frame;

	if (call->end || call->raw)
		shutdown(fd, SHUT_WR);
	while (!call->cut && h2_still_here(fd, listener) && h2_read(fd, &frame))
		;
	close(fd);
}

/* Opens the connection FD as a server does, or as CALL wants it; false: nothing follows. */
static inline bool h2_greet(int fd, const struct scripted_call *call)
{
	char preface[24];

	if (!h2_read_all(fd, preface, sizeof(preface)))
		return false;
	if (call->raw)
		return write(fd, call->raw, strlen(call->raw)) < 0;
	return h2_write(fd, H2_SETTINGS, 0, 0, NULL, 0);
}

static inline void scripted_play_calls(int listener, struct scripted_server *server,
				       const void *script)
{
	const struct scripted_calls *all = script;
	const struct scripted_call *call = all->calls;
	int fd = -1;

	while (call < all->calls + all->count) {
		uint32_t stream = 0;

		if (fd < 0) {
			fd = accept(listener, NULL, NULL);
			server->accepts++;
			if (!h2_greet(fd, call)) {
				h2_close(fd, listener, call++);
				fd = -1;
				continue;
			}
		}
		stream = h2_request_read(fd, listener, server);
		if (stream != 0)
			h2_call_answer(fd, stream, call, server);
		/* A call that did not come on a kept connection comes on a new one. */
		if (stream == 0 || !call->keep) {
			h2_close(fd, listener, call);
			fd = -1;
		}
		if (stream != 0)
			call++;
	}
	if (fd >= 0)
		h2_close(fd, -1, all->calls);
}

static inline struct scripted_server *scripted_grpc_start(const struct scripted_call *calls,
							  size_t count)
{
	const struct scripted_calls all = { calls, count };

	return scripted_server_play(scripted_play_calls, &all);
}

#endif
