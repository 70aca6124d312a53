/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_SCRIPTED_SERVER_H
#define LENS_TESTS_SCRIPTED_SERVER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A TCP server on the loopback, in a process of its own, that reads one HTTP request for
 * each of its answers and gives raw bytes back, right or wrong. It speaks no HTTP itself.
 */
struct scripted_answer {
	const char *bytes;
	size_t length;
	unsigned int drip_us; /* between one byte and the next */
	bool flood;           /* then zeros until the client has had enough */
	bool hold;            /* then nothing, the connection open */
	bool reset;           /* then a TCP reset */
	bool keep;            /* the next answer goes over the same connection */
};

struct scripted_server {
	pid_t pid;
	int port;
	int accepts;
	size_t request_length; /* of the last request; what its buffer does not hold is counted */
	char request[8192];
	size_t flooded; /* bytes of zeros that the client took */
};

/* A listening socket on a free port, or -1. */
static inline int scripted_listen(int *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) < 0 || listen(fd, 8) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &length) < 0)
		return -1;
	*port = ntohs(address.sin_port);
	return fd;
}

/* Reads headers and as much body as they announce; false when the client went away. */
static inline bool scripted_read(int fd, struct scripted_server *server)
{
	const size_t room = sizeof(server->request) - 1;
	size_t wanted = room;
	char rest[8192];

	server->request_length = 0;
	while (server->request_length < wanted) {
		bool fits = server->request_length < room;
		char *to = fits ? server->request + server->request_length : rest;
		ssize_t got = read(fd, to, fits ? room - server->request_length : sizeof(rest));
		const char *body, *header;

		if (got <= 0)
			return false;
		server->request_length += (size_t)got;
		if (!fits)
			continue;
		server->request[server->request_length] = '\0';
		body = strstr(server->request, "\r\n\r\n");
		header = strcasestr(server->request, "\r\nContent-Length:");
		if (body && header)
			wanted = (size_t)(body + 4 - server->request) +
				 strtoul(header + 17, NULL, 10);
	}
	return true;
}

static inline bool scripted_write(int fd, const struct scripted_answer *answer)
{
	size_t chunk = answer->drip_us > 0 ? 1 : answer->length;

	for (size_t done = 0; done < answer->length; done += chunk) {
		if (write(fd, answer->bytes + done, chunk) < 0)
			return false;
		if (answer->drip_us > 0)
			usleep(answer->drip_us);
	}
	return true;
}

static inline void scripted_give(int fd, const struct scripted_answer *answer,
				 struct scripted_server *server)
{
	static const char zeros[65536];
	const struct linger reset = { .l_onoff = 1, .l_linger = 0 };

	if (!scripted_write(fd, answer))
		return;
	while (answer->flood && server->flooded < ((size_t)256 << 20)) {
		ssize_t given = write(fd, zeros, sizeof(zeros));

		if (given < 0)
			return;
		server->flooded += (size_t)given;
	}
	if (answer->hold)
		pause();
	if (answer->reset)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
}

/* Plays SCRIPT at the connections of LISTENER, in the process of SERVER. */
typedef void scripted_play_fn(int listener, struct scripted_server *server, const void *script);

struct scripted_answers {
	const struct scripted_answer *answers;
	size_t count;
};

static inline void scripted_play_answers(int listener, struct scripted_server *server,
					 const void *script)
{
	const struct scripted_answers *all = script;
	int fd = -1;

	for (size_t i = 0; i < all->count; i++) {
		if (fd < 0) {
			fd = accept(listener, NULL, NULL);
			server->accepts++;
		}
		if (scripted_read(fd, server))
			scripted_give(fd, &all->answers[i], server);
		if (all->answers[i].keep)
			continue;
		close(fd);
		fd = -1;
	}
}

/* Aborts the test program when the machine gives no server. */
static inline struct scripted_server *scripted_server_play(scripted_play_fn *play,
							   const void *script)
{
	struct scripted_server *server = mmap(NULL, sizeof(*server), PROT_READ | PROT_WRITE,
					      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int listener;
	pid_t pid;

	if (server == MAP_FAILED)
		abort();
	listener = scripted_listen(&server->port);
	pid = listener < 0 ? -1 : fork();
	if (pid < 0)
		abort();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGPIPE, SIG_IGN);
		play(listener, server, script);
		_exit(0);
	}
	close(listener);
	server->pid = pid;
	return server;
}

static inline struct scripted_server *scripted_server_start(const struct scripted_answer *answers,
							    size_t count)
{
	const struct scripted_answers all = { answers, count };

	return scripted_server_play(scripted_play_answers, &all);
}

/* Ends SERVER; the length of its last request, of which as much as fits is copied to
 * REQUEST, a NUL after it. */
static inline size_t scripted_server_stop(struct scripted_server *server, char *request,
					  size_t size)
{
	size_t length;

	kill(server->pid, SIGKILL);
	waitpid(server->pid, NULL, 0);
	length = server->request_length;
	size = size < sizeof(server->request) ? size : sizeof(server->request);
	memcpy(request, server->request, size);
	request[size - 1] = '\0';
	munmap(server, sizeof(*server));
	return length;
}

/* A port that nobody listens on. */
static inline int scripted_port_closed(void)
{
	int port = 0;
	int fd = scripted_listen(&port);

	close(fd);
	return port;
}

#endif
