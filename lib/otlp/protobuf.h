/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_PROTOBUF_H
#define LENS_OTLP_PROTOBUF_H

#include "lib/otlp/result.h"
#include "lib/otlp/span.h"

#include <stddef.h>
#include <stdint.h>

/* BATCH as an ExportTraceServiceRequest of *LENGTH bytes. The caller frees; NULL when
 * memory ran out. */
uint8_t *lens_protobuf_encode(const struct lens_batch *batch, size_t *length);

/*
 * Reads an ExportTraceServiceResponse; no bytes are one that says nothing. 0, or -1 and
 * *OUT untouched when BYTES are no such message.
 */
int lens_protobuf_response_parse(struct lens_partial_success *out, const uint8_t *bytes,
				 size_t length);

#endif
