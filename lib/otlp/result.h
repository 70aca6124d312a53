/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_RESULT_H
#define LENS_OTLP_RESULT_H

#include "lib/otlp/exporter.h"

/* Writes the formatted text into RESULT's message, cut on a character's boundary. */
void lens_result_message(struct lens_export_result *result, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
