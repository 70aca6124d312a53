/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_JSON_RESPONSE_H
#define LENS_OTLP_JSON_RESPONSE_H

#include "lib/otlp/result.h"

#include <stddef.h>

/* As lens_protobuf_response_parse, for an answer in OTLP/JSON: a 64-bit number may be text
 * or a number, unknown keys do not count. */
int lens_json_response_parse(struct lens_partial_success *out, const char *bytes, size_t length);

#endif
