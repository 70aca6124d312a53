/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_FUZZ_ANSWER_H
#define LENS_TESTS_FUZZ_ANSWER_H

#include "tests/fuzz/fuzz.h"

#include "lib/core/encoding.h"
#include "lib/otlp/answer.h"
#include "lib/otlp/retry.h"

/*
 * An answer as a receiver may send it: the input's first byte is a choice, the second the HTTP status
 * less 100, then lines of headers up to an empty one, then the body. The choice's lowest bit is
 * returned, the next says that the connection broke.
 */
static inline bool answer_fill(struct lens_answer *answer, const uint8_t *data, size_t size)
{
	uint8_t choice = size > 0 ? data[0] : 0;
	size_t at = 2;

	lens_answer_init(answer);
	if (size < 2)
		return false;
	answer->status = 100 + 2 * (long)data[1];
	answer->code = choice & 2 ? CURLE_PARTIAL_FILE : CURLE_OK;
	answer->http2 = choice & 1;
	while (at < size) {
		const uint8_t *end = memchr(data + at, '\n', size - at);
		size_t length = end ? (size_t)(end - data) - at : size - at;

		if (length == 0) {
			at++;
			break;
		}
		lens_answer_header(answer, (const char *)data + at, length);
		at += length + 1;
	}
	if (at < size)
		lens_text_add(&answer->body, (const char *)data + at, size - at);
	return choice & 1;
}

/* What the agent then believes. */
static inline void answer_check(const struct lens_export_result *result)
{
	must(result->retry_after_ms >= -1 && result->retry_after_ms <= LENS_RETRY_AFTER_MAX_MS);
	must(memchr(result->message, '\0', sizeof(result->message)));
	must(lens_utf8_valid(result->message, strlen(result->message)));
	for (const char *c = result->message; *c; c++)
		must((unsigned char)*c >= ' ' && *c != 0x7f);
}

#endif
