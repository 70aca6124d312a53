/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_JSON_H
#define LENS_OTLP_JSON_H

#include "lib/core/text.h"
#include "lib/otlp/span.h"

/*
 * Adds BATCH to OUT as OTLP/JSON on one line, `{"resourceSpans":[...]}` and a newline, as
 * the file exporter of OpenTelemetry has it. It is not plain protobuf JSON (OTLP
 * specification, JSON Protobuf Encoding): ids are hex, enums numbers, 64-bit integers
 * decimal strings. 0, or -1 when memory ran out: OUT then holds no whole line.
 */
int lens_json_encode(const struct lens_batch *batch, struct lens_text *out);

#endif
