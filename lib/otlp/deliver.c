/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/deliver.h"

#include "lib/core/clock.h"
#include "lib/otlp/result.h"
#include "lib/otlp/retry.h"

#include <poll.h>
#include <stdio.h>
#include <sys/random.h>

/* How often a pause looks whether it was stopped. */
#define SLICE_MS 100

bool lens_patience_over(void *context)
{
	const struct lens_patience *patience = context;

	if (patience->stop != NULL && patience->stop())
		return true;
	return patience->deadline_ms != -1 && lens_clock_ms() >= patience->deadline_ms;
}

static int64_t pause_ms(const struct lens_export_result *result, unsigned int failures)
{
	uint32_t random = 0;

	if (result->retry_after_ms >= 0)
		return result->retry_after_ms;
	/* Without it nothing but the jitter is lost. */
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != (ssize_t)sizeof(random))
		random = 0;
	return lens_retry_backoff_ms(failures, random);
}

/* False when patience ends before the pause would, which is then not waited for. */
static bool pause_wait(struct lens_patience *patience, int64_t ms)
{
	int64_t end = lens_clock_ms() + ms;

	if (patience->deadline_ms != -1 && end >= patience->deadline_ms)
		return false;
	while (!lens_patience_over(patience)) {
		int64_t left = end - lens_clock_ms();

		if (left <= 0)
			return true;
		poll(NULL, 0, left < SLICE_MS ? (int)left : SLICE_MS);
	}
	return false;
}

void lens_deliver(struct lens_exporter *exporter, const uint8_t *bytes, size_t length,
		  struct lens_patience *patience, struct lens_export_result *result)
{
	char last[sizeof(result->message)];

	for (unsigned int failures = 1;; failures++) {
		lens_exporter_post(exporter, bytes, length, result);
		if (result->verdict != LENS_VERDICT_RETRY)
			return;
		/* A try that was cut off says less than the one before. */
		if (failures > 1 && lens_patience_over(patience))
			break;
		snprintf(last, sizeof(last), "%s", result->message);
		if (!pause_wait(patience, pause_ms(result, failures)))
			return;
	}
	lens_result_message(result, "%s", last);
}
