/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_TIMESTAMP_H
#define LENS_CORE_TIMESTAMP_H

#include "lib/core/error.h"

#include <stdint.h>

/* In the words of a message. */
#define LENS_TAKES_TIME \
	"seconds since 1970 (1700000000.25), RFC 3339 (2026-11-30T12:00:00.25Z) or now"

/*
 * Reads TEXT as a point in time, in nanoseconds since 1970, finer digits cut off:
 * seconds as a decimal, an exponent allowed, in any locale; RFC 3339 with `T` or a blank
 * in the middle and a zone, `Z` or `+hh:mm`, a second 60 being the next minute's first; `now`,
 * in any case, which is NOW_NS. 0, or -1 with ERR saying what is wrong with it (not what it is:
 * the caller shows it) and *OUT untouched. From 1970 to 2262.
 */
int lens_timestamp_parse(const char *text, int64_t now_ns, int64_t *out, struct lens_error *err);

#endif
