/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/retry.h"

#include "lib/otlp/grpc_status.h"
#include "lib/otlp/http_date.h"

#include <string.h>

#define BACKOFF_FIRST_MS INT64_C(1000)
#define BACKOFF_MAX_MS   INT64_C(60000)

static enum lens_verdict http_verdict(long status)
{
	if (status >= 200 && status < 300)
		return LENS_VERDICT_DONE;
	switch (status) {
	case 413:
		return LENS_VERDICT_SPLIT;
	case 429:
	case 502:
	case 503:
	case 504:
		return LENS_VERDICT_RETRY;
	default:
		return LENS_VERDICT_DROP;
	}
}

static enum lens_verdict grpc_verdict(long code, bool retry_info)
{
	switch (code) {
	case LENS_GRPC_OK:
		return LENS_VERDICT_DONE;
	case LENS_GRPC_CANCELLED:
	case LENS_GRPC_DEADLINE_EXCEEDED:
	case LENS_GRPC_ABORTED:
	case LENS_GRPC_OUT_OF_RANGE:
	case LENS_GRPC_UNAVAILABLE:
	case LENS_GRPC_DATA_LOSS:
		return LENS_VERDICT_RETRY;
	case LENS_GRPC_RESOURCE_EXHAUSTED:
		/* Without it the server cannot recover, the specification says. */
		return retry_info ? LENS_VERDICT_RETRY : LENS_VERDICT_DROP;
	default:
		return LENS_VERDICT_DROP;
	}
}

enum lens_verdict lens_retry_verdict(enum lens_transport transport, long status, bool retry_info)
{
	switch (transport) {
	case LENS_TRANSPORT_HTTP:
		return http_verdict(status);
	case LENS_TRANSPORT_GRPC:
		return grpc_verdict(status, retry_info);
	case LENS_TRANSPORT_TOO_LARGE:
		return LENS_VERDICT_SPLIT;
	case LENS_TRANSPORT_FAILED:
		break;
	}
	return LENS_VERDICT_RETRY;
}

/* LENGTH decimal digits as milliseconds, saturated; -1 when there is anything else. */
static int64_t seconds_parse(const char *text, size_t length)
{
	int64_t ms = 0;

	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		ms = ms * 10 + (text[i] - '0') * INT64_C(1000);
		if (ms > LENS_RETRY_AFTER_MAX_MS)
			ms = LENS_RETRY_AFTER_MAX_MS;
	}
	return length > 0 ? ms : -1;
}

int64_t lens_retry_after_parse(const char *text, int64_t now)
{
	const char *blanks = " \t\r\n";
	size_t length;
	int64_t ms, at;

	if (!text)
		return -1;
	text += strspn(text, blanks);
	length = strlen(text);
	while (length > 0 && strchr(blanks, text[length - 1]))
		length--;
	ms = seconds_parse(text, length);
	if (ms >= 0)
		return ms;
	if (lens_http_date_parse(&at, text, length, now) < 0)
		return -1;
	if (at <= now)
		return 0;
	return at - now < LENS_RETRY_AFTER_MAX_MS / 1000 ? (at - now) * 1000
							 : LENS_RETRY_AFTER_MAX_MS;
}

int64_t lens_retry_backoff_ms(unsigned int attempt, uint32_t random)
{
	int64_t ms = BACKOFF_FIRST_MS;

	for (; attempt > 1 && ms < BACKOFF_MAX_MS; attempt--)
		ms *= 2;
	if (ms > BACKOFF_MAX_MS)
		ms = BACKOFF_MAX_MS;
	return ms - (int64_t)(((uint64_t)ms / 2 * random) >> 32);
}
