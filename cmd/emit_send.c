/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cmd/emit.h"

#include "cmd/command.h"
#include "lib/core/clock.h"
#include "lib/core/secret.h"
#include "lib/job/resource_fill.h"
#include "lib/otlp/deliver.h"
#include "lib/otlp/endpoint.h"

#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* A request stays well below the 4 MiB that a receiver of gRPC takes by default. */
#define SPANS_PER_REQUEST 2000

struct sending {
	const struct emit_settings *settings;
	const struct lens_intervals *list;
	const struct lens_span_id *ids;
	struct lens_patience patience;
	struct lens_secret certificate, client_certificate, client_key;
	struct lens_exporter *exporter;
	size_t taken;
	uint64_t rejected;
};

/* The caller destroys; NULL after a line on standard error. */
static struct lens_batch *batch_make(const struct sending *sending, size_t first, size_t count)
{
	const struct emit_settings *settings = sending->settings;
	const struct lens_interval_place place = {
		.trace = settings->trace,
		.parent = settings->has_parent ? &settings->parent : NULL,
		.flags = settings->flags,
	};
	struct lens_batch *batch = lens_batch_create("slurm-lens", PACKAGE_VERSION);
	struct lens_group *group = lens_batch_add_group(batch);

	lens_resource_add(lens_group_resource(group), settings->resource);
	lens_intervals_build(group, sending->list, &place, sending->ids, first, count);
	if (!lens_batch_failed(batch))
		return batch;
	lens_batch_destroy(batch);
	emit_say("out of memory");
	return NULL;
}

/* COUNT spans from FIRST on as bytes; NULL after a line on standard error. */
static uint8_t *encode(const struct sending *sending, enum lens_exporter_kind kind, size_t first,
		       size_t count, size_t *length)
{
	struct lens_batch *batch = batch_make(sending, first, count);
	uint8_t *bytes = NULL;

	if (batch == NULL)
		return NULL;
	bytes = lens_exporter_encode(kind, batch, length);
	lens_batch_destroy(batch);
	if (bytes == NULL)
		emit_say("out of memory");
	return bytes;
}

static int console_print(const struct sending *sending, FILE *console)
{
	size_t length;
	uint8_t *line = encode(sending, LENS_EXPORTER_HTTP_JSON, 0, sending->list->count, &length);

	if (line == NULL)
		return LENS_EXIT_ENVIRONMENT;
	fwrite(line, 1, length, console);
	free(line);
	if (fflush(console) == 0)
		return LENS_EXIT_OK;
	emit_say("the spans could not be printed: %m");
	return LENS_EXIT_NO;
}

static struct lens_blob blob_of(const struct lens_secret *secret)
{
	return (struct lens_blob){ secret->bytes, secret->length };
}

static int file_load(struct lens_secret *out, const char *path, const char *name,
		     struct lens_error *err)
{
	struct lens_error why;

	if (path == NULL || lens_secret_load(out, path, &why) == 0)
		return 0;
	return lens_error_set(err, "%s: %s", name, why.text);
}

static int exporter_make(struct sending *sending, struct lens_error *err)
{
	const struct lens_otel_environment *otel = &sending->settings->otel;
	unsigned int timeout_ms = sending->settings->timeout_ms;
	struct lens_exporter_settings settings = {
		.kind = otel->kind,
		.endpoint = otel->endpoint,
		.endpoint_whole = otel->endpoint_whole,
		.timeout_ms = timeout_ms > 0 ? timeout_ms : INT_MAX,
		.user_agent = LENS_USER_AGENT,
		.compression = otel->compression,
		.cancelled = lens_patience_over,
		.cancelled_context = &sending->patience,
	};

	if (otel->headers != NULL)
		settings.headers = (struct lens_blob){ otel->headers, strlen(otel->headers) };
	if (file_load(&sending->certificate, otel->certificate, otel->certificate_name, err) ||
	    file_load(&sending->client_certificate, otel->client_certificate,
		      otel->client_certificate_name, err) ||
	    file_load(&sending->client_key, otel->client_key, otel->client_key_name, err))
		return -1;
	settings.ca = blob_of(&sending->certificate);
	settings.client_cert = blob_of(&sending->client_certificate);
	settings.client_key = blob_of(&sending->client_key);
	sending->exporter = lens_exporter_create(&settings, err);
	if (sending->exporter != NULL)
		return 0;
	lens_otel_environment_explain(otel, err->text, sizeof(err->text));
	return -1;
}

/* Sends COUNT spans from FIRST on, in halves where they are too large. 0, or -1 with WHY. */
static int range_send(struct sending *sending, size_t first, size_t count,
		      struct lens_export_result *why)
{
	size_t length = 0;
	uint8_t *bytes = encode(sending, sending->settings->otel.kind, first, count, &length);

	if (bytes == NULL)
		return -1;
	lens_deliver(sending->exporter, bytes, length, &sending->patience, why);
	free(bytes);
	if (why->verdict == LENS_VERDICT_SPLIT && count > 1)
		return range_send(sending, first, count / 2, why) == 0
			       ? range_send(sending, first + count / 2, count - count / 2, why)
			       : -1;
	if (why->verdict != LENS_VERDICT_DONE)
		return -1;
	sending->taken += count;
	sending->rejected += why->rejected;
	return 0;
}

static void result_say(const struct sending *sending, bool all, const char *message)
{
	char text[sizeof(((struct lens_export_result *)0)->message)];

	snprintf(text, sizeof(text), "%s", message);
	lens_otel_environment_explain(&sending->settings->otel, text, sizeof(text));
	if (all && sending->rejected > 0)
		emit_say("%" PRIu64 " of %zu spans were not taken: %s", sending->rejected,
			 sending->taken, text);
	else if (all)
		emit_say("%s", text); /* a warning of the receiver's */
	else if (sending->taken > 0)
		emit_say("only %zu of %zu spans were sent: %s", sending->taken,
			 sending->list->count, text);
	else
		emit_say("%s: %s%s",
			 sending->list->count == 1 ? "the span was not sent" : "nothing was sent",
			 text,
			 sending->settings->otel.endpoint_default
				 ? " (no OTEL_EXPORTER_OTLP_ENDPOINT is set)"
				 : "");
}

static int otlp_send(struct sending *sending)
{
	const size_t total = sending->list->count;
	struct lens_export_result why = { 0 };
	struct lens_error err = LENS_ERROR_INIT;
	size_t first = 0;
	int rc = 0;

	if (exporter_make(sending, &err) == -1) {
		emit_say("nothing was sent: %s", err.text);
		return LENS_EXIT_ENVIRONMENT;
	}
	for (; first < total && rc == 0; first += SPANS_PER_REQUEST) {
		size_t left = total - first;

		rc = range_send(sending, first, left < SPANS_PER_REQUEST ? left : SPANS_PER_REQUEST,
				&why);
	}
	if (why.message[0] != '\0')
		result_say(sending, rc == 0, why.message);
	return rc == 0 && sending->rejected == 0 ? LENS_EXIT_OK : LENS_EXIT_NO;
}

static void sent_say(const struct sending *sending)
{
	const struct lens_intervals *list = sending->list;
	char trace[LENS_TRACE_HEX];
	char *shown = lens_endpoint_redact(sending->settings->otel.endpoint);

	lens_trace_id_hex(trace, &sending->settings->trace);
	emit_say("trace %s: %zu spans sent to %s", trace, sending->taken, shown ? shown : "");
	free(shown);
	for (size_t i = 0; i < list->count; i++) {
		const struct lens_interval *interval = &list->items[i];

		emit_say("  %.3f s %s%s%s", (double)(interval->end_ns - interval->start_ns) / 1e9,
			 interval->name, interval->parent != NULL ? " -> " : "",
			 interval->parent != NULL ? interval->parent : "");
	}
}

int emit_send(const struct emit_settings *settings, bool verbose, const struct lens_intervals *list,
	      const struct lens_span_id *ids, bool (*stop)(void), FILE *console)
{
	struct sending sending = { .settings = settings, .list = list, .ids = ids };
	int status = LENS_EXIT_OK;

	sending.patience.stop = stop;
	sending.patience.deadline_ms =
		settings->timeout_ms > 0 ? lens_clock_ms() + settings->timeout_ms : -1;
	signal(SIGPIPE, SIG_IGN);
	if (settings->console)
		status = console_print(&sending, console);
	if (settings->otlp && status == LENS_EXIT_OK)
		status = otlp_send(&sending);
	if (settings->otlp && status == LENS_EXIT_OK && verbose)
		sent_say(&sending);
	lens_exporter_destroy(sending.exporter);
	lens_secret_clear(&sending.certificate);
	lens_secret_clear(&sending.client_certificate);
	lens_secret_clear(&sending.client_key);
	return status;
}
