/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/export_net.h"

#include "lib/otlp/client.h"
#include "lib/otlp/grpc_frame.h"
#include "lib/otlp/gzip.h"
#include "lib/otlp/judge.h"
#include "lib/otlp/result.h"
#include "lib/otlp/retry.h"
#include "lib/otlp/trouble.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct lens_net_exporter {
	enum lens_exporter_kind kind;
	enum lens_compression compression;
	struct lens_endpoint endpoint;
	struct lens_client *client;
};

struct lens_net_exporter *lens_net_exporter_create(const struct lens_exporter_settings *settings,
						   struct lens_error *err)
{
	struct lens_net_exporter *exporter = calloc(1, sizeof(*exporter));
	int rc;

	if (!exporter) {
		lens_error_set(err, "Endpoint: out of memory");
		return NULL;
	}
	exporter->kind = settings->kind;
	exporter->compression = settings->compression;
	if (settings->kind == LENS_EXPORTER_GRPC)
		rc = lens_endpoint_resolve_grpc(&exporter->endpoint, settings->endpoint, err);
	else if (settings->endpoint_whole)
		rc = lens_endpoint_resolve_whole(&exporter->endpoint, settings->endpoint, err);
	else
		rc = lens_endpoint_resolve(&exporter->endpoint, settings->endpoint, err);
	if (rc == 0)
		exporter->client = lens_client_create(settings, &exporter->endpoint, err);
	if (!exporter->client) {
		lens_net_exporter_destroy(exporter);
		return NULL;
	}
	return exporter;
}

void lens_net_exporter_destroy(struct lens_net_exporter *exporter)
{
	int saved = errno;

	if (!exporter)
		return;
	lens_client_destroy(exporter->client);
	lens_endpoint_clear(&exporter->endpoint);
	free(exporter);
	errno = saved;
}

/* Adds what goes over the wire for LENGTH BYTES (at most LENS_NET_REQUEST_MAX); -1 when memory
 * ran out. */
static int payload_add(struct lens_text *out, const struct lens_net_exporter *exporter,
		       const uint8_t *bytes, size_t length)
{
	bool gzip = exporter->compression == LENS_COMPRESSION_GZIP;
	size_t head = exporter->kind == LENS_EXPORTER_GRPC ? LENS_GRPC_FRAME_HEAD : 0;

	lens_text_add(out, "\0\0\0\0", head);
	if (gzip && lens_gzip_add(out, bytes, length) < 0)
		return -1;
	if (!gzip)
		lens_text_add(out, (const char *)bytes, length);
	if (out->failed || !out->data)
		return -1;
	if (head > 0)
		lens_grpc_frame_head(out->data, gzip, (uint32_t)(out->length - head));
	return 0;
}

void lens_net_exporter_post(struct lens_net_exporter *exporter, const uint8_t *bytes, size_t length,
			    struct lens_export_result *result)
{
	unsigned int timeout_ms = lens_client_timeout_ms(exporter->client);
	struct lens_text payload = LENS_TEXT_INIT;
	struct lens_answer answer;

	if (length > LENS_NET_REQUEST_MAX) {
		result->verdict = lens_retry_verdict(LENS_TRANSPORT_TOO_LARGE, 0, false);
		lens_result_message(result, "%s: not sent, %zu bytes are too large a request",
				    exporter->endpoint.shown, length);
		return;
	}
	lens_answer_init(&answer);
	if (payload_add(&payload, exporter, bytes, length) < 0) {
		lens_result_message(result, "%s: out of memory", exporter->endpoint.shown);
		goto out;
	}
	lens_client_post(exporter->client, payload.data, payload.length, &answer);
	if (exporter->kind == LENS_EXPORTER_GRPC)
		lens_grpc_judge(&answer, &exporter->endpoint, timeout_ms, result);
	else
		lens_http_judge(&answer, &exporter->endpoint,
				exporter->kind == LENS_EXPORTER_HTTP_JSON, timeout_ms, result);
	result->trouble = lens_trouble_of(&answer, exporter->kind == LENS_EXPORTER_GRPC,
					  strncasecmp(exporter->endpoint.url, "https:", 6) == 0);
	result->date = answer.date;
	lens_client_redact(exporter->client, result->message);
out:
	lens_answer_clear(&answer);
	lens_text_clear(&payload);
}
