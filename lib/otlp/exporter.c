/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/exporter.h"

#include "lib/core/text.h"
#include "lib/otlp/export_file.h"
#include "lib/otlp/export_net.h"
#include "lib/otlp/json.h"
#include "lib/otlp/protobuf.h"
#include "lib/otlp/result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct lens_exporter {
	enum lens_exporter_kind kind;
	/* The one of the kind; the other is NULL. */
	struct lens_net_exporter *net;
	struct lens_file_exporter *file;
};

struct lens_exporter *lens_exporter_create(const struct lens_exporter_settings *settings,
					   struct lens_error *err)
{
	struct lens_exporter *exporter = calloc(1, sizeof(*exporter));

	if (!exporter) {
		lens_error_set(err, "Protocol: out of memory");
		return NULL;
	}
	exporter->kind = settings->kind;
	if (settings->kind == LENS_EXPORTER_FILE)
		exporter->file = lens_file_exporter_create(settings, err);
	else
		exporter->net = lens_net_exporter_create(settings, err);
	if (!exporter->net && !exporter->file) {
		lens_exporter_destroy(exporter);
		return NULL;
	}
	return exporter;
}

void lens_exporter_destroy(struct lens_exporter *exporter)
{
	int saved = errno;

	if (!exporter)
		return;
	lens_net_exporter_destroy(exporter->net);
	lens_file_exporter_destroy(exporter->file);
	free(exporter);
	errno = saved;
}

static uint8_t *json_encode(const struct lens_batch *batch, size_t *length)
{
	struct lens_text text = LENS_TEXT_INIT;

	if (lens_json_encode(batch, &text) < 0) {
		lens_text_clear(&text);
		return NULL;
	}
	*length = text.length;
	return (uint8_t *)lens_text_take(&text);
}

uint8_t *lens_exporter_encode(enum lens_exporter_kind kind, const struct lens_batch *batch,
			      size_t *length)
{
	if (lens_batch_failed(batch))
		return NULL;
	switch (kind) {
	case LENS_EXPORTER_GRPC:
	case LENS_EXPORTER_HTTP_PROTOBUF:
		return lens_protobuf_encode(batch, length);
	case LENS_EXPORTER_HTTP_JSON:
	case LENS_EXPORTER_FILE:
		break;
	}
	return json_encode(batch, length);
}

const uint8_t *lens_exporter_empty(enum lens_exporter_kind kind, size_t *length)
{
	static const char json[] = "{\"resourceSpans\":[]}";
	bool text = kind == LENS_EXPORTER_HTTP_JSON || kind == LENS_EXPORTER_FILE;

	/* In protobuf a message without fields has no bytes. */
	*length = text ? strlen(json) : 0;
	return (const uint8_t *)(text ? json : "");
}

static void result_init(struct lens_export_result *result)
{
	*result =
		(struct lens_export_result){ .verdict = LENS_VERDICT_RETRY, .retry_after_ms = -1 };
}

void lens_exporter_post(struct lens_exporter *exporter, const uint8_t *bytes, size_t length,
			struct lens_export_result *result)
{
	result_init(result);
	if (exporter->net)
		lens_net_exporter_post(exporter->net, bytes, length, result);
	else
		lens_file_exporter_post(exporter->file, bytes, length, result);
}

void lens_exporter_export(struct lens_exporter *exporter, const struct lens_batch *batch,
			  struct lens_export_result *result)
{
	size_t length = 0;
	uint8_t *bytes = lens_exporter_encode(exporter->kind, batch, &length);

	if (!bytes) {
		result_init(result);
		lens_result_message(result, "out of memory while the spans were made");
		return;
	}
	lens_exporter_post(exporter, bytes, length, result);
	/* One span has no halves. */
	if (result->verdict == LENS_VERDICT_SPLIT && lens_batch_span_count(batch) == 1)
		result->verdict = LENS_VERDICT_DROP;
	free(bytes);
}
