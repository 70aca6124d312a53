/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_JSON_PARSE_H
#define LENS_OTLP_JSON_PARSE_H

#include "lib/core/error.h"

#include <stdbool.h>
#include <stddef.h>

struct json_object;

/* What is wanted of a text. */
struct lens_json_wanted {
	int nesting; /* the deepest that is read */
	bool utf8;   /* what is no UTF-8 is a mistake */
};

/* The one JSON object in LENGTH bytes; white space may stand around it. NULL with ERR: "it is cut",
 * "it is no JSON: WHY", "it is no JSON object". The caller's, to give to json_object_put().
 *
 * json-c's own mode for one whole value (JSON_TOKENER_STRICT) cannot be used: release 0.18, which
 * Debian 13 has, refuses all but ASCII in it (json-c issue 892). Without it json-c reads some of
 * what is no JSON, such as comments and a comma before a bracket. */
struct json_object *lens_json_parse(const char *bytes, size_t length,
				    const struct lens_json_wanted *wanted, struct lens_error *err);

#endif
