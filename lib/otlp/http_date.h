/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_HTTP_DATE_H
#define LENS_OTLP_HTTP_DATE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reads an HTTP-date in any of its three forms (RFC 9110, 5.6.7), independent of locale
 * and time zone, into seconds since the epoch. The day's name is not checked against the date. A
 * two-digit year more than 50 years after NOW is in the past. 0, or -1 and *OUT untouched.
 */
int lens_http_date_parse(int64_t *out, const char *text, size_t length, int64_t now);

#endif
