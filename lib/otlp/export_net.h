/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_EXPORT_NET_H
#define LENS_OTLP_EXPORT_NET_H

#include "lib/otlp/exporter.h"

/* OTLP over a network: HTTP with protobuf or JSON, and gRPC (OTLP specification). */
#define LENS_NET_REQUEST_MAX (64u * 1024 * 1024) /* bytes, what receivers take by default */

struct lens_net_exporter;

/* As lens_exporter_create, for all kinds but LENS_EXPORTER_FILE. Connects to nothing yet. */
struct lens_net_exporter *lens_net_exporter_create(const struct lens_exporter_settings *settings,
						   struct lens_error *err);
void lens_net_exporter_destroy(struct lens_net_exporter *exporter);

/* RESULT comes with its defaults; see lens_exporter_post. */
void lens_net_exporter_post(struct lens_net_exporter *exporter, const uint8_t *bytes, size_t length,
			    struct lens_export_result *result);

#endif
