/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink PORTFILE [LOG]: an OTLP receiver on 127.0.0.1 that takes http/protobuf and does as
 * little as it can: it reads requests to their end and answers 200. PORTFILE gets its port.
 * With LOG each span is a line there: when it came, its end (ns), trace, span, name. On
 * SIGTERM it prints a line of JSON: requests, bytes, and when the first and last came.
 * sink --black-hole PORTFILE: listens, and answers nobody, not even a connection.
 */
#include <config.h>

#include "lib/otlp/trace.pb-c.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 16
#define BODY_MAX        (64u * 1024 * 1024)

struct connection {
	int fd;
	size_t length;
	uint8_t *bytes; /* BODY_MAX of it */
};

static volatile sig_atomic_t ended;
static FILE *span_log;
static uint64_t requests, bytes, first_ns, last_ns;

static void on_term(int signal_number)
{
	(void)signal_number;
	ended = 1;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "sink: %s: %s\n", what, strerror(errno));
	exit(2);
}

static int listening(const char *port_file, int backlog)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	FILE *file;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) < 0 || listen(fd, backlog) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		die("listen");
	file = fopen(port_file, "w");
	if (!file || fprintf(file, "%d\n", ntohs(address.sin_port)) < 0 || fclose(file) != 0)
		die(port_file);
	return fd;
}

/* Its queue is full of connections of its own: the kernel drops what comes after. */
static void black_hole(const char *port_file)
{
	struct sockaddr_in address;
	socklen_t size = sizeof(address);
	int fd = listening(port_file, 0);

	if (getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		die("getsockname");
	for (int i = 0; i < 4; i++) {
		int own = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		if (own < 0 ||
		    (connect(own, (struct sockaddr *)&address, size) < 0 && errno != EINPROGRESS))
			die("connect");
	}
	while (!ended)
		pause();
}

static void hex(const ProtobufCBinaryData *id, char *out)
{
	for (size_t i = 0; i < id->len && i < 16; i++)
		snprintf(out + 2 * i, 3, "%02x", id->data[i]);
}

static void note_spans(const uint8_t *body, size_t length, uint64_t when)
{
	Lens__Otlp__ExportRequest *request = lens__otlp__export_request__unpack(NULL, length, body);

	if (!request) {
		fprintf(stderr, "sink: a request that is no OTLP\n");
		exit(1);
	}
	for (size_t r = 0; r < request->n_resource_spans; r++) {
		const Lens__Otlp__ResourceSpans *resource = request->resource_spans[r];

		for (size_t s = 0; s < resource->n_scope_spans; s++) {
			for (size_t i = 0; i < resource->scope_spans[s]->n_spans; i++) {
				const Lens__Otlp__Span *span = resource->scope_spans[s]->spans[i];
				char trace[33] = "", id[33] = "";

				hex(&span->trace_id, trace);
				hex(&span->span_id, id);
				fprintf(span_log, "%" PRIu64 " %" PRIu64 " %s %s %s\n", when,
					(uint64_t)span->end_time_unix_nano, trace, id, span->name);
			}
		}
	}
	lens__otlp__export_request__free_unpacked(request, NULL);
}

static long content_length(const char *head)
{
	for (const char *line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n"))
		if (strncasecmp(line + 2, "Content-Length:", 15) == 0)
			return strtol(line + 17, NULL, 10);
	return 0;
}

/* Takes whole requests off the front of what has come; -1: the connection is of no use. */
static int take(struct connection *c)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\n"
				     "Content-Length: 0\r\n\r\n";

	for (;;) {
		uint8_t *end = memmem(c->bytes, c->length, "\r\n\r\n", 4);
		size_t head, whole;
		long body;

		if (!end)
			return c->length < BODY_MAX ? 0 : -1;
		head = (size_t)(end - c->bytes) + 4;
		*end = '\0';
		body = content_length((char *)c->bytes);
		*end = '\r';
		if (body < 0 || head + (size_t)body >= BODY_MAX)
			return -1;
		whole = head + (size_t)body;
		if (c->length < whole)
			return 0;
		last_ns = now_ns();
		if (requests++ == 0)
			first_ns = last_ns;
		bytes += (uint64_t)body;
		if (span_log)
			note_spans(c->bytes + head, (size_t)body, last_ns);
		if (send(c->fd, answer, sizeof(answer) - 1, MSG_NOSIGNAL) !=
		    (ssize_t)sizeof(answer) - 1)
			return -1;
		memmove(c->bytes, c->bytes + whole, c->length - whole);
		c->length -= whole;
	}
}

static void serve(int listener)
{
	struct connection connections[CONNECTIONS_MAX];
	struct pollfd fds[CONNECTIONS_MAX + 1];
	nfds_t count = 0;

	while (!ended) {
		fds[count] = (struct pollfd){ .fd = listener,
					      .events = count < CONNECTIONS_MAX ? POLLIN : 0 };
		for (nfds_t i = 0; i < count; i++)
			fds[i] = (struct pollfd){ .fd = connections[i].fd, .events = POLLIN };
		if (poll(fds, count + 1, -1) < 0)
			continue;
		if (fds[count].revents & POLLIN) {
			struct connection *c = &connections[count];

			c->fd = accept(listener, NULL, NULL);
			c->length = 0;
			c->bytes = malloc(BODY_MAX);
			if (c->fd < 0 || !c->bytes)
				die("accept");
			count++;
			continue;
		}
		for (nfds_t i = 0; i < count; i++) {
			struct connection *c = &connections[i];
			ssize_t got;

			if (!fds[i].revents)
				continue;
			got = read(c->fd, c->bytes + c->length, BODY_MAX - c->length);
			if (got > 0) {
				c->length += (size_t)got;
				if (take(c) == 0)
					continue;
			}
			close(c->fd);
			free(c->bytes);
			*c = connections[--count];
			break; /* fds no longer fits */
		}
	}
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_term };

	sigaction(SIGTERM, &action, NULL);
	if (argc == 3 && strcmp(argv[1], "--black-hole") == 0) {
		black_hole(argv[2]);
		return 0;
	}
	if (argc != 2 && argc != 3) {
		fputs("Usage: sink [--black-hole] PORTFILE [LOG]\n", stderr);
		return 2;
	}
	if (argc == 3 && !(span_log = fopen(argv[2], "w")))
		die(argv[2]);
	serve(listening(argv[1], 16));
	if (span_log && fclose(span_log) != 0)
		die(argv[2]);
	printf("{\"requests\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"seconds\": %.3f}\n", requests,
	       bytes, (double)(last_ns - first_ns) / 1e9);
	return 0;
}
