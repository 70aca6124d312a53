/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/exporter.h"

#include "lib/otlp/export_file.h"
#include "lib/otlp/export_http.h"
#include "lib/otlp/result.h"

#include <errno.h>
#include <stdlib.h>

struct lens_exporter {
	/* The one of the settings' kind; the other is NULL. */
	struct lens_http_exporter *http;
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
	switch (settings->kind) {
	case LENS_EXPORTER_HTTP_PROTOBUF:
		exporter->http = lens_http_exporter_create(settings, err);
		break;
	case LENS_EXPORTER_FILE:
		exporter->file = lens_file_exporter_create(settings, err);
		break;
	}
	if (!exporter->http && !exporter->file) {
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
	lens_http_exporter_destroy(exporter->http);
	lens_file_exporter_destroy(exporter->file);
	free(exporter);
	errno = saved;
}

void lens_exporter_export(struct lens_exporter *exporter, const struct lens_batch *batch,
			  struct lens_export_result *result)
{
	*result =
		(struct lens_export_result){ .verdict = LENS_VERDICT_RETRY, .retry_after_ms = -1 };
	if (lens_batch_failed(batch)) {
		lens_result_message(result, "out of memory while the spans were made");
		return;
	}
	if (exporter->http)
		lens_http_exporter_export(exporter->http, batch, result);
	else
		lens_file_exporter_export(exporter->file, batch, result);
	/* One span has no halves. */
	if (result->verdict == LENS_VERDICT_SPLIT && lens_batch_span_count(batch) == 1)
		result->verdict = LENS_VERDICT_DROP;
}
