/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/agent_sender_start.h"

#include "cmd/sender.h"
#include "lib/core/fd.h"
#include "lib/core/secret.h"
#include "lib/core/spawn.h"
#include "lib/otlp/relay.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEADERS, AUTHORITIES, CLIENT_CERTIFICATE, CLIENT_KEY };

enum lens_exporter_kind agent_exporter_kind(enum lens_protocol protocol)
{
	static const enum lens_exporter_kind kinds[] = {
		[LENS_PROTOCOL_GRPC] = LENS_EXPORTER_GRPC,
		[LENS_PROTOCOL_HTTP_PROTOBUF] = LENS_EXPORTER_HTTP_PROTOBUF,
		[LENS_PROTOCOL_HTTP_JSON] = LENS_EXPORTER_HTTP_JSON,
		[LENS_PROTOCOL_FILE] = LENS_EXPORTER_FILE,
	};

	return kinds[protocol];
}

void agent_secret_files(struct agent_secret_file out[AGENT_SECRET_FILES],
			const struct lens_config *config)
{
	out[HEADERS] = (struct agent_secret_file){ "HeadersFile", config->headers_file, true };
	out[AUTHORITIES] =
		(struct agent_secret_file){ "CertificateFile", config->certificate_file, false };
	out[CLIENT_CERTIFICATE] =
		(struct agent_secret_file){ "ClientCertificateFile",
					    config->client_certificate_file, false };
	out[CLIENT_KEY] =
		(struct agent_secret_file){ "ClientKeyFile", config->client_key_file, true };
}

static int secrets_read(struct lens_secret secrets[AGENT_SECRET_FILES],
			const struct lens_config *config, struct lens_error *err)
{
	struct agent_secret_file files[AGENT_SECRET_FILES];
	struct lens_error reason = LENS_ERROR_INIT;

	agent_secret_files(files, config);
	for (size_t i = 0; i < AGENT_SECRET_FILES; i++) {
		if (lens_secret_read(&secrets[i], files[i].path, files[i].private_file, &reason) !=
		    0)
			return lens_error_set(err, "%s: %s", files[i].key, reason.text);
	}
	return 0;
}

static struct lens_blob blob(const struct lens_secret *secret)
{
	return (struct lens_blob){ secret->bytes, secret->length };
}

int agent_sender_settings(struct lens_text *out, const struct lens_config *config,
			  enum lens_exporter_kind kind, const char *user_agent,
			  struct lens_error *err)
{
	struct lens_secret secrets[AGENT_SECRET_FILES] = { 0 };
	int result = secrets_read(secrets, config, err);
	struct lens_exporter_settings settings = {
		.kind = kind,
		.endpoint = config->endpoint,
		.timeout_ms = config->timeout_ms,
		.user_agent = user_agent,
		.compression = config->gzip ? LENS_COMPRESSION_GZIP : LENS_COMPRESSION_NONE,
		.proxy = config->proxy,
		.headers = blob(&secrets[HEADERS]),
		.ca = blob(&secrets[AUTHORITIES]),
		.client_cert = blob(&secrets[CLIENT_CERTIFICATE]),
		.client_key = blob(&secrets[CLIENT_KEY]),
	};

	if (result == 0 && lens_relay_settings_write(out, &settings) != 0)
		result = lens_error_set(err, "out of memory");
	for (size_t i = 0; i < AGENT_SECRET_FILES; i++)
		lens_secret_clear(&secrets[i]);
	return result;
}

__attribute__((noreturn)) static void child_run(const char *user, int end)
{
	char name[] = "slurm-lens", command[] = "sender", option[] = "--user";
	char *argv[] = { name, command, option, (char *)user, NULL };
	char *env[] = { NULL };

	if (setsid() == -1 || dup2(end, SENDER_FD) == -1 || lens_child_stdio() == -1)
		_exit(127);
	close_range(SENDER_FD + 1, ~0U, 0);
	/* The program as it is in memory: its file may be another one by now. */
	execve("/proc/self/exe", argv, env);
	_exit(127);
}

/* The keeper's end, then the sender's. */
static int ends_open(int ends[2])
{
	int raised;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == -1)
		return -1;
	/* dup2 to its own number would leave it close-on-exec. */
	raised = fcntl(ends[1], F_DUPFD_CLOEXEC, SENDER_FD + 1);
	close(ends[1]);
	ends[1] = raised;
	if (raised != -1 && fcntl(ends[0], F_SETFL, O_NONBLOCK) != -1)
		return 0;
	lens_fd_close(ends[0]);
	lens_fd_close(ends[1]);
	return -1;
}

pid_t agent_sender_spawn(const char *user, int *fd, struct lens_error *err)
{
	int ends[2];
	pid_t pid;

	if (ends_open(ends) == -1)
		return lens_error_set(err, "the sender cannot be started: no socket: %m");
	pid = fork();
	if (pid == 0)
		child_run(user, ends[1]);
	if (pid == -1)
		lens_error_set(err, "the sender cannot be started: no process: %m");
	close(ends[1]);
	if (pid == -1)
		close(ends[0]);
	else
		*fd = ends[0];
	return pid;
}
