/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_EXPORT_FILE_H
#define LENS_OTLP_EXPORT_FILE_H

#include "lib/otlp/exporter.h"

/*
 * OTLP/JSON lines in a file (OpenTelemetry specification, protocol/file-exporter.md). A
 * batch is one line, never split over two files, and is on the disk before it counts as
 * done. A full FILE becomes FILE.1, that one FILE.2, and so on. The file is 0640; a missing
 * directory is made 0755, its parents are not.
 */
#define LENS_FILE_MAX_DEFAULT  (UINT64_C(100) << 20) /* bytes, for a file_max_bytes of 0 */
#define LENS_FILE_KEEP_DEFAULT 3u                    /* files, for a file_keep of 0 */

struct lens_file_exporter;

/* As lens_exporter_create, for LENS_EXPORTER_FILE. Opens nothing yet. */
struct lens_file_exporter *lens_file_exporter_create(const struct lens_exporter_settings *settings,
						     struct lens_error *err);
void lens_file_exporter_destroy(struct lens_file_exporter *exporter);

/* Stores LINE, a newline at its end. RESULT comes with its defaults; see lens_exporter_post. The
 * file is opened for each line, so that it may be moved away by others. */
void lens_file_exporter_post(struct lens_file_exporter *exporter, const uint8_t *line,
			     size_t length, struct lens_export_result *result);

#endif
