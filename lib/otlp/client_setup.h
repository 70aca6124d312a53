/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_CLIENT_SETUP_H
#define LENS_OTLP_CLIENT_SETUP_H

#include "lib/otlp/curl.h"
#include "lib/otlp/exporter.h"

/* The part of client.c that turns settings into libcurl's options. */

/* The protocol's headers, appended to *LIST, which the caller frees either way. 0, or -1
 * when memory ran out. */
int lens_client_headers(struct curl_slist **list, const struct lens_exporter_settings *settings,
			unsigned int timeout_ms);

/* Sets on EASY what all requests to URL have in common, but for headers, callbacks and the
 * time that they may take. 0, or -1 with ERR naming the setting. */
int lens_client_options(CURL *easy, const struct lens_exporter_settings *settings, const char *url,
			struct lens_error *err);

#endif
