/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/sender.h"

#include "cmd/command.h"
#include "lib/core/frame.h"
#include "lib/core/privilege.h"
#include "lib/otlp/exporter.h"
#include "lib/otlp/relay.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

static const char help_text[] =
	"Usage: slurm-lens sender --user NAME\n"
	"\n"
	"A part of `slurm-lens agent`, which starts it: it talks to the receiver, as the user NAME.\n"
	"It is of no use by itself.\n";

static int reply(enum lens_relay_kind kind, const char *body, size_t length)
{
	struct lens_frame_writer writer = { 0 };
	int rc = lens_frame_add(&writer, (uint32_t)kind, body, length);

	if (rc == 0)
		rc = lens_frame_flush(&writer, SENDER_FD) == 1 ? 0 : -1;
	lens_frame_writer_clear(&writer);
	return rc;
}

static int fault(const struct lens_error *err)
{
	reply(LENS_RELAY_FAULT, err->text, strlen(err->text));
	return LENS_EXIT_ENVIRONMENT;
}

/* Whether nobody is there any more to take an answer. */
static bool keeper_gone(void *context)
{
	struct pollfd end = { .fd = SENDER_FD, .events = POLLRDHUP };

	(void)context;
	return poll(&end, 1, 0) == 1 && (end.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

static struct lens_exporter *exporter_create(const struct lens_frame_reader *reader,
					     struct lens_error *err)
{
	struct lens_exporter_settings settings;

	if (reader->kind != LENS_RELAY_SETTINGS) {
		lens_error_set(err, "a request came before the settings");
		return NULL;
	}
	if (lens_relay_settings_read(&settings, reader->body.data, reader->body.length, err) != 0)
		return NULL;
	settings.cancelled = keeper_gone;
	return lens_exporter_create(&settings, err);
}

static int request_serve(struct lens_exporter *exporter, const struct lens_frame_reader *reader)
{
	struct lens_text text = LENS_TEXT_INIT;
	struct lens_export_result result;
	uint32_t number;
	int rc = -1;

	if (reader->kind != LENS_RELAY_REQUEST || reader->length < LENS_RELAY_REQUEST_HEAD)
		return -1;
	memcpy(&number, reader->body.data, sizeof(number));
	lens_exporter_post(exporter, (const uint8_t *)reader->body.data + LENS_RELAY_REQUEST_HEAD,
			   reader->length - LENS_RELAY_REQUEST_HEAD, &result);
	if (lens_relay_result_write(&text, number, &result) == 0)
		rc = reply(LENS_RELAY_RESULT, text.data, text.length);
	lens_text_clear(&text);
	return rc;
}

static int serve(struct lens_frame_reader *reader)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_exporter *exporter = NULL;

	if (lens_frame_read(reader, SENDER_FD, &err) != 1)
		return LENS_EXIT_ENVIRONMENT;
	exporter = exporter_create(reader, &err);
	if (exporter == NULL)
		return fault(&err);
	if (reply(LENS_RELAY_READY, NULL, 0) == 0) {
		while (lens_frame_read(reader, SENDER_FD, &err) == 1 &&
		       request_serve(exporter, reader) == 0)
			;
	}
	lens_exporter_destroy(exporter);
	return LENS_EXIT_OK;
}

/* The keeper's mask came with the exec. */
static void signals_reset(void)
{
	sigset_t none;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

int lens_sender_main(int argc, char **argv)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_frame_reader reader;
	struct stat status;
	int result;

	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		fputs(help_text, stdout);
		return LENS_EXIT_OK;
	}
	if (argc != 3 || strcmp(argv[1], "--user") != 0 || fstat(SENDER_FD, &status) != 0 ||
	    !S_ISSOCK(status.st_mode)) {
		fputs("slurm-lens sender: only `slurm-lens agent` starts it\n", stderr);
		return LENS_EXIT_ENVIRONMENT;
	}
	prctl(PR_SET_NAME, "slurm-lens"); /* it was executed by another name */
	signals_reset();
	if (lens_privilege_drop(argv[2], &err) != 0)
		return fault(&err);
	lens_frame_reader_init(&reader, LENS_RELAY_TO_SENDER_MAX);
	result = serve(&reader);
	lens_frame_reader_clear(&reader);
	return result;
}
