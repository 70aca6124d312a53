/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_EXPORT_HTTP_H
#define LENS_OTLP_EXPORT_HTTP_H

#include "lib/otlp/exporter.h"

/*
 * OTLP/HTTP with protobuf, over one kept connection. It goes where the endpoint says and
 * nowhere else: no redirect, no proxy of the environment, no .netrc. The process ignores
 * SIGPIPE (a TLS connection closed by the peer may raise it). Not for several threads at once.
 */
#define LENS_HTTP_REQUEST_MAX     (64u * 1024 * 1024) /* bytes, what receivers take by default */
#define LENS_HTTP_RESPONSE_MAX    (4u * 1024 * 1024)  /* bytes of an answer that are read */
#define LENS_HTTP_TIMEOUT_DEFAULT 10000u              /* ms, for a timeout_ms of 0 */

struct lens_http_exporter;

/* As lens_exporter_create, for LENS_EXPORTER_HTTP_PROTOBUF. */
struct lens_http_exporter *lens_http_exporter_create(const struct lens_exporter_settings *settings,
						     struct lens_error *err);
void lens_http_exporter_destroy(struct lens_http_exporter *exporter);

/* RESULT comes with its defaults; see lens_exporter_export. */
void lens_http_exporter_export(struct lens_http_exporter *exporter, const struct lens_batch *batch,
			       struct lens_export_result *result);

#endif
