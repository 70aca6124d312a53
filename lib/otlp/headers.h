/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_HEADERS_H
#define LENS_OTLP_HEADERS_H

#include "lib/core/error.h"
#include "lib/otlp/curl.h"
#include "lib/otlp/exporter.h"

/*
 * Headers that a site adds to each request, as HeadersFile has them. A line is
 * `Name: value`, taken as it is, or the form of OTEL_EXPORTER_OTLP_HEADERS, `name=value` or
 * several with commas between, values percent-decoded (OpenTelemetry specification,
 * protocol/exporter.md). Empty lines and those that begin with `#` are skipped.
 * A name is a token of HTTP and none that is the protocol's own; a value holds no
 * control character but a tab.
 */
#define LENS_HEADERS_MAX (64u * 1024) /* bytes */

/*
 * Appends the headers of TEXT to *LIST. 0, or -1 with ERR naming HeadersFile and the
 * line, never a value. The caller frees *LIST either way.
 */
int lens_headers_parse(struct curl_slist **list, const struct lens_blob *text,
		       struct lens_error *err);

/*
 * Takes out of MESSAGE what a server may have repeated of the values: each word of 6 or
 * more bytes of a value of a header in LIST becomes `***`.
 */
void lens_headers_redact(const struct curl_slist *list, char *message);

/* curl_slist_free_all, the values wiped first. Keeps errno. */
void lens_headers_free(struct curl_slist *list);

#endif
