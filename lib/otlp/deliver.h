/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_DELIVER_H
#define LENS_OTLP_DELIVER_H

#include "lib/otlp/exporter.h"

#include <stdbool.h>
#include <stdint.h>

/* Until when a program that waits for the receiver does so. */
struct lens_patience {
	int64_t deadline_ms; /* of lens_clock_ms; -1: for ever */
	bool (*stop)(void);  /* asked some times a second; true: no longer; NULL: not asked */
};

/* Whether it is over; CONTEXT is a lens_patience: an exporter's `cancelled`. */
bool lens_patience_over(void *context);

/*
 * Posts as lens_exporter_post does, again after what may be tried again (after the time that the
 * receiver asked for, else lens_retry_backoff_ms), as long as PATIENCE lasts, which EXPORTER was
 * given as its `cancelled`. What is left undelivered has the verdict RETRY and the message of the
 * last try that had an end.
 */
void lens_deliver(struct lens_exporter *exporter, const uint8_t *bytes, size_t length,
		  struct lens_patience *patience, struct lens_export_result *result);

#endif
