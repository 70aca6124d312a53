/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_CARRIER_H
#define LENS_CORE_CARRIER_H

#include "lib/core/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An ordered list of keys and values, each key once, as OTEL_RESOURCE_ATTRIBUTES
 * carries them (OpenTelemetry specification, resource/sdk.md; docs/identity.md has the reading
 * that strict and lenient SDKs have in common). Notes, journals and the mark use the same
 * encoding.
 */
struct lens_carrier;

/* What a reading or writing had to leave out; the caller says it once. */
struct lens_carrier_report {
	size_t dropped;  /* entries left out */
	char first[128]; /* the key, or the entry without its value, of the first one */
};

struct lens_carrier *lens_carrier_create(void); /* NULL: no memory */
void lens_carrier_destroy(struct lens_carrier *carrier);

/*
 * Adds the entries of TEXT (NULL is empty): split at `,`; an entry without `=` or
 * with an empty key is dropped; key and value lose surrounding ASCII white space;
 * the first `=` splits; the value is percent-decoded, a malformed escape stays,
 * bad UTF-8 becomes U+FFFD, a NUL drops the entry. Keys stay as written. A later
 * duplicate wins and keeps the earlier's place. REPORT may be NULL; it is added to.
 * 0, or -1 when memory ran out.
 */
int lens_carrier_parse(struct lens_carrier *carrier, const char *text,
		       struct lens_carrier_report *report);

/* Sets KEY to a copy of VALUE, in place when it is there, else at the end. A NULL
 * VALUE does nothing. 0, or -1 when memory ran out. */
int lens_carrier_set(struct lens_carrier *carrier, const char *key, const char *value);
int lens_carrier_set_number(struct lens_carrier *carrier, const char *key, int64_t number);
int lens_carrier_setf(struct lens_carrier *carrier, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* As lens_carrier_set, for a value that lens adds: repaired and cut by lens_value_dup. */
int lens_carrier_publish(struct lens_carrier *carrier, const char *key, const char *value);

/* The value of KEY, or NULL; borrowed until the carrier changes. */
const char *lens_carrier_get(const struct lens_carrier *carrier, const char *key);

/* Takes KEY out; false when it was not there. */
bool lens_carrier_remove(struct lens_carrier *carrier, const char *key);

size_t lens_carrier_count(const struct lens_carrier *carrier);
/* The key and value at INDEX (< count), borrowed until the carrier changes. */
const char *lens_carrier_key(const struct lens_carrier *carrier, size_t index);
const char *lens_carrier_value(const struct lens_carrier *carrier, size_t index);

/* Adds FROM to CARRIER: a value takes an earlier key's place; new keys follow in order. 0, or -1
 * when memory ran out. */
int lens_carrier_merge(struct lens_carrier *carrier, const struct lens_carrier *from);

/*
 * A new carrier of DEFAULTS, then CURRENT, then OVERRIDES (each may be NULL): a later
 * layer's value takes an earlier key's place; new keys follow in order. The caller
 * destroys it; NULL when memory ran out.
 */
struct lens_carrier *lens_carrier_compose(const struct lens_carrier *defaults,
					  const struct lens_carrier *current,
					  const struct lens_carrier *overrides);

/*
 * Adds `key=value,...` to OUT, values percent-encoded. Keys lose surrounding ASCII
 * white space; a key that is empty, holds `,` or `=`, or holds a `%` without two hex
 * digits has no representation and is dropped. REPORT may be NULL; it is added to.
 */
void lens_carrier_format(const struct lens_carrier *carrier, struct lens_text *out,
			 struct lens_carrier_report *report);

#endif
