/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_SCRIPTED_TLS_H
#define LENS_TESTS_SCRIPTED_TLS_H

#include "tests/unit/scripted_grpc.h"

#include <stdio.h>

/*
 * A scripted server behind TLS: `openssl s_server` takes one connection and hands what
 * is inside to the player of a script by its standard input and output.
 */
struct scripted_tls {
	pid_t terminator;
	struct scripted_server *server;
	int port;
};

/* How s_server is to be; all files are of tests/make-certificates, in one directory. */
struct scripted_tls_options {
	const char *directory;
	const char *certificate; /* "server" for server.pem and server.key */
	const char *alpn;        /* "h2", or NULL for none */
	bool client_required;    /* a client's certificate, of `ca` */
};

static inline void scripted_tls_exec(const struct scripted_tls_options *options, int port, int fd)
{
	char accept[32], certificate[64], key[64];
	const char *arguments[24] = { "openssl", "s_server", "-quiet", "-naccept",  "1",
				      "-accept", accept,     "-cert",  certificate, "-key",
				      key,       "-CAfile",  "ca.pem" };
	int count = 13;

	snprintf(accept, sizeof(accept), "127.0.0.1:%d", port);
	snprintf(certificate, sizeof(certificate), "%s.pem", options->certificate);
	snprintf(key, sizeof(key), "%s.key", options->certificate);
	if (options->alpn) {
		arguments[count++] = "-alpn";
		arguments[count++] = options->alpn;
	}
	if (options->client_required) {
		arguments[count++] = "-Verify";
		arguments[count++] = "1";
		arguments[count++] = "-verify_return_error";
	}
	if (chdir(options->directory) < 0 || dup2(fd, STDIN_FILENO) < 0 ||
	    dup2(fd, STDOUT_FILENO) < 0 || !freopen("s_server.log", "a", stderr))
		_exit(98);
	execvp(arguments[0], (char *const *)(uintptr_t)arguments);
	_exit(99);
}

/* One connection, which is there from the start: the listener of a player. */
struct scripted_inside {
	int fd;
	const struct scripted_answer *answer;
	const struct scripted_call *call;
};

static inline void scripted_play_inside(int listener, struct scripted_server *server,
					const void *script)
{
	const struct scripted_inside *inside = script;
	uint32_t stream;

	close(listener);
	if (inside->answer) {
		if (scripted_read(inside->fd, server))
			scripted_give(inside->fd, inside->answer, server);
	} else if (h2_greet(inside->fd, inside->call)) {
		stream = h2_request_read(inside->fd, -1, server);
		if (stream != 0)
			h2_call_answer(inside->fd, stream, inside->call, server);
	}
	pause();
}

/* Answers with ANSWER, or speaks HTTP/2 and answers with CALL. */
static inline struct scripted_tls scripted_tls_start(const struct scripted_tls_options *options,
						     const struct scripted_answer *answer,
						     const struct scripted_call *call)
{
	struct scripted_tls tls = { .port = scripted_port_closed() };
	struct scripted_inside inside = { .answer = answer, .call = call };
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		abort();
	tls.terminator = fork();
	if (tls.terminator < 0)
		abort();
	if (tls.terminator == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		scripted_tls_exec(options, tls.port, ends[0]);
	}
	close(ends[0]);
	inside.fd = ends[1];
	tls.server = scripted_server_play(scripted_play_inside, &inside);
	close(ends[1]);
	return tls;
}

/* The length of the request that came through, 0 for none. */
static inline size_t scripted_tls_stop(struct scripted_tls *tls)
{
	char request[8];

	kill(tls->terminator, SIGKILL);
	waitpid(tls->terminator, NULL, 0);
	return scripted_server_stop(tls->server, request, sizeof(request));
}

#endif
