/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_FAULT_RECEIVER_H
#define LENS_TESTS_FAULT_RECEIVER_H

#include "tests/unit/scratch.h"

#include <arpa/inet.h>
#include <json-c/json.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>

/*
 * A receiver of OTLP/HTTP with JSON on the loopback, in a process of its own, that fails in the
 * ways and the order it is told, then takes everything. It knows which spans it took and which it
 * refused for good.
 */
enum fault {
	TAKES,        /* and says so */
	TAKES_CUT,    /* the answer's body breaks off: the status line said enough */
	TAKES_PARTLY, /* but FAULT_REJECTED spans */
	IS_BUSY,      /* 503 with Retry-After */
	SAYS_HTML,    /* 502, of a proxy that is no receiver */
	SAYS_GARBAGE, /* no HTTP */
	RESETS,
	HALF_A_HEAD, /* then closes */
	HANGS,       /* until the client gives up */
	TOO_LARGE,   /* 413 */
	REFUSES,     /* 400: for good */
	MOVED,       /* 307: not followed, for good */
};

#define FAULT_REJECTED  3
#define FAULT_SPANS_MAX 65536
/* A request with a span of a task of this rank is too large. */
#define FAULT_POISON 919191

struct fault_receiver {
	pid_t pid;
	int port, listener;
	const enum fault *faults;
	size_t fault_count;
	/* Written by its process: */
	size_t requests, poisoned;
	size_t sizes[64]; /* spans of the first requests */
	size_t taken_count, refused_count;
	char taken[FAULT_SPANS_MAX][17], refused[FAULT_SPANS_MAX][17];
};

struct fault_request {
	char (*ids)[17];
	size_t count;
	bool poisoned;
};

static inline void fault_spans_read(struct json_object *spans, struct fault_request *out)
{
	char poison[16];

	snprintf(poison, sizeof(poison), "\"%d\"", FAULT_POISON);
	for (size_t i = 0; i < json_object_array_length(spans); i++) {
		struct json_object *span = json_object_array_get_idx(spans, i);
		const char *id = json_object_get_string(json_object_object_get(span, "spanId"));

		out->ids = reallocarray(out->ids, out->count + 1, sizeof(*out->ids));
		if (out->ids == NULL || id == NULL || strlen(id) != 16)
			_exit(90);
		memcpy(out->ids[out->count++], id, 17);
		if (strstr(json_object_to_json_string(span), poison) != NULL)
			out->poisoned = true;
	}
}

/* Adds the spans of the export request TEXT to OUT; false: it is none. */
static inline bool fault_request_read(const char *text, struct fault_request *out)
{
	struct json_object *root = json_tokener_parse(text), *groups = NULL, *scopes;

	if (root == NULL || !json_object_object_get_ex(root, "resourceSpans", &groups)) {
		json_object_put(root);
		return false;
	}
	for (size_t i = 0; i < json_object_array_length(groups); i++) {
		scopes = json_object_object_get(json_object_array_get_idx(groups, i), "scopeSpans");
		for (size_t k = 0; k < json_object_array_length(scopes); k++)
			fault_spans_read(json_object_object_get(
						 json_object_array_get_idx(scopes, k), "spans"),
					 out);
	}
	json_object_put(root);
	return true;
}

/* The body of the next request at FD; the caller frees; NULL: the client went away. */
static inline char *fault_body_read(int fd)
{
	const size_t room = 8 * 1024 * 1024; /* far beyond a request */
	size_t length = 0, wanted = SIZE_MAX, head = 0;
	char *text = malloc(room), *body, *header;
	ssize_t got;

	while (length < wanted) {
		if (text == NULL || length + 1 == room)
			_exit(95);
		got = read(fd, text + length, room - length - 1);
		if (got <= 0)
			break;
		length += (size_t)got;
		text[length] = '\0';
		if (wanted != SIZE_MAX || (body = strstr(text, "\r\n\r\n")) == NULL)
			continue;
		header = strcasestr(text, "\r\nContent-Length:");
		if (header == NULL || header > body)
			_exit(91);
		head = (size_t)(body + 4 - text);
		wanted = head + strtoul(header + 17, NULL, 10);
	}
	if (length < wanted) {
		free(text);
		return NULL;
	}
	memmove(text, text + head, length - head + 1);
	return text;
}

#define FAULT_ANSWER(status, more, body) "HTTP/1.1 " status "\r\n" more "\r\n" body
#define FAULT_NOTHING                    "Content-Length: 0\r\n"
#define FAULT_JSON(length)               "Content-Type: application/json\r\nContent-Length: " length "\r\n"

static const char *const fault_answers[] = {
	[TAKES] = FAULT_ANSWER("200 OK", FAULT_JSON("2"), "{}"),
	[TAKES_CUT] = FAULT_ANSWER("200 OK", FAULT_JSON("100"), "{\"partial"),
	[TAKES_PARTLY] = FAULT_ANSWER("200 OK", FAULT_JSON("40"),
				      "{\"partialSuccess\":{\"rejectedSpans\":\"3\"}}"),
	[IS_BUSY] = FAULT_ANSWER("503 Service Unavailable", "Retry-After: 1\r\n" FAULT_NOTHING, ""),
	[SAYS_HTML] =
		FAULT_ANSWER("502 Bad Gateway", "Content-Type: text/html\r\nContent-Length: 13\r\n",
			     "<html></html>"),
	[SAYS_GARBAGE] = "SSH-2.0-garbage\r\n",
	[RESETS] = "",
	[HALF_A_HEAD] = "HTTP/1.1 200",
	[HANGS] = "",
	[TOO_LARGE] = FAULT_ANSWER("413 Content Too Large", FAULT_NOTHING, ""),
	[REFUSES] = FAULT_ANSWER("400 Bad Request", FAULT_NOTHING, ""),
	[MOVED] = FAULT_ANSWER("307 Temporary Redirect",
			       "Location: http://127.0.0.1:1/\r\n" FAULT_NOTHING, ""),
};

static inline void fault_ids_add(char (*to)[17], size_t *count, const struct fault_request *request)
{
	if (*count + request->count > FAULT_SPANS_MAX)
		_exit(92);
	memcpy(to + *count, request->ids, request->count * sizeof(*to));
	*count += request->count;
}

static inline enum fault fault_next(struct fault_receiver *receiver,
				    const struct fault_request *request)
{
	size_t number = receiver->requests++;

	if (number < sizeof(receiver->sizes) / sizeof(receiver->sizes[0]))
		receiver->sizes[number] = request->count;
	if (number < receiver->fault_count)
		return receiver->faults[number];
	receiver->poisoned += request->poisoned;
	return request->poisoned ? TOO_LARGE : TAKES;
}

/* Answers one request at FD; false: the connection is over. */
static inline bool fault_serve(struct fault_receiver *receiver, int fd)
{
	const struct linger reset = { .l_onoff = 1, .l_linger = 0 };
	struct fault_request request = { 0 };
	char *body = fault_body_read(fd), end;
	enum fault fault;

	if (body == NULL)
		return false;
	if (!fault_request_read(body, &request))
		_exit(93);
	free(body);
	fault = fault_next(receiver, &request);
	/* Before the answer: the test looks once the agent has it. */
	if (fault <= TAKES_PARTLY)
		fault_ids_add(receiver->taken, &receiver->taken_count, &request);
	else if (fault >= REFUSES || (fault == TOO_LARGE && request.count == 1))
		fault_ids_add(receiver->refused, &receiver->refused_count, &request);
	free(request.ids);
	if (write(fd, fault_answers[fault], strlen(fault_answers[fault])) == -1)
		return false;
	if (fault == HANGS && read(fd, &end, 1) > 0)
		_exit(94);
	if (fault == RESETS)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	return fault == TAKES || fault == TAKES_PARTLY;
}

/* Has a port of its own, at which nobody listens yet. */
static inline struct fault_receiver *fault_receiver_create(const enum fault *faults, size_t count)
{
	struct fault_receiver *receiver = mmap(NULL, sizeof(*receiver), PROT_READ | PROT_WRITE,
					       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);

	assert_ptr_not_equal(receiver, MAP_FAILED);
	receiver->faults = faults;
	receiver->fault_count = count;
	receiver->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(receiver->listener, (struct sockaddr *)&address, length), 0);
	assert_int_equal(getsockname(receiver->listener, (struct sockaddr *)&address, &length), 0);
	receiver->port = ntohs(address.sin_port);
	return receiver;
}

static inline void fault_receiver_start(struct fault_receiver *receiver)
{
	assert_int_equal(listen(receiver->listener, 8), 0);
	receiver->pid = scratch_fork();
	assert_int_not_equal(receiver->pid, -1);
	if (receiver->pid != 0)
		return;
	signal(SIGPIPE, SIG_IGN);
	for (;;) {
		int fd = accept(receiver->listener, NULL, NULL);

		while (fault_serve(receiver, fd))
			;
		close(fd);
	}
}

/* It must not have ended by itself. */
static inline void fault_receiver_destroy(struct fault_receiver *receiver)
{
	close(receiver->listener);
	if (receiver->pid > 0) {
		kill(receiver->pid, SIGKILL);
		assert_int_equal(scratch_wait(receiver->pid), 1000 + SIGKILL);
	}
	munmap(receiver, sizeof(*receiver));
}

#endif
