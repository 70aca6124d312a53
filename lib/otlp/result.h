/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_RESULT_H
#define LENS_OTLP_RESULT_H

#include "lib/otlp/exporter.h"

/* Writes the formatted text into RESULT's message, cut on a character's boundary. */
void lens_result_message(struct lens_export_result *result, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* What a server said, fit for a log line: valid UTF-8, on one line, without control
 * characters, cut to fit. */
#define LENS_RESULT_WORDS 192
void lens_result_words(char out[LENS_RESULT_WORDS], const char *said);

/* What a server says of a batch that it took. */
struct lens_partial_success {
	uint64_t rejected;               /* spans */
	char message[LENS_RESULT_WORDS]; /* "" none */
};

/* RESULT for a batch that the server at SHOWN took, PARTIAL, or NULL where its answer WHAT
 * (`HTTP 200`) could not be read: sending it again would double the spans. */
void lens_result_done(struct lens_export_result *result, const char *shown, const char *what,
		      const struct lens_partial_success *partial);

#endif
