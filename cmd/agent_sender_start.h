/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_AGENT_SENDER_START_H
#define LENS_CMD_AGENT_SENDER_START_H

#include "lib/core/config.h"
#include "lib/core/error.h"
#include "lib/core/text.h"
#include "lib/otlp/exporter.h"

#include <stdbool.h>
#include <sys/types.h>

/* What sends by PROTOCOL. */
enum lens_exporter_kind agent_exporter_kind(enum lens_protocol protocol);

/* The files of secrets that settings name. */
#define AGENT_SECRET_FILES 4
struct agent_secret_file {
	const char *key, *path; /* PATH is CONFIG's; "" none */
	bool private_file;      /* nobody but root may read it */
};
void agent_secret_files(struct agent_secret_file out[AGENT_SECRET_FILES],
			const struct lens_config *config);

/* For agent_sender.c. Adds CONFIG, with what the files that it names hold, as the body of a
 * LENS_RELAY_SETTINGS. 0, or -1 with ERR naming the key. The caller wipes OUT. */
int agent_sender_settings(struct lens_text *out, const struct lens_config *config,
			  enum lens_exporter_kind kind, const char *user_agent,
			  struct lens_error *err);

/*
 * Starts the program anew as the sender of USER, with an empty environment, /dev/null as 0 to
 * 2, a socket as SENDER_FD and no other descriptor. Its pid, the keeper's end of the
 * socket (non-blocking, close-on-exec) in *FD; -1 with ERR.
 */
pid_t agent_sender_spawn(const char *user, int *fd, struct lens_error *err);

#endif
