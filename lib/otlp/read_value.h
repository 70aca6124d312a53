/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_READ_VALUE_H
#define LENS_OTLP_READ_VALUE_H

#include "lib/core/identity.h"
#include "lib/core/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pieces of OTLP/JSON that was parsed. VALUE may be NULL or of any type everywhere. */
struct json_object;

/* The member of OBJECT, NULL when OBJECT is no object or has none, or null. */
struct json_object *lens_read_member(struct json_object *object, const char *key);

/* The elements of ARRAY: 0 when it is no array. */
size_t lens_read_count(struct json_object *array);

/* An unsigned 64-bit integer, as text or as a number. 0, or -1. */
int lens_read_uint64(struct json_object *value, uint64_t *out);

/* A string of SIZE - 1 characters into HEX, in lower case; "" for anything else. */
void lens_read_hex(struct json_object *value, char *hex, size_t size);

/* OWNER's traceId and spanId, hex of either case. 0; -1 when one is none or all zero. */
int lens_read_ids(struct json_object *owner, struct lens_trace_id *trace,
		  struct lens_span_id *span);

/* Adds a JSON string as valid UTF-8, a NUL in it as U+FFFD; nothing for another type. */
void lens_read_string(struct json_object *value, struct lens_text *out);

/* Adds an AnyValue as people read it. Nothing for what is none. */
void lens_read_any(struct json_object *value, struct lens_text *out);

/* The AnyValue of KEY in a list of KeyValue: the last one. NULL when there is none. */
struct json_object *lens_read_find(struct json_object *list, const char *key);

#endif
