/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/judge.h"

#include "lib/otlp/json_response.h"
#include "lib/otlp/protobuf.h"
#include "lib/otlp/result.h"
#include "lib/otlp/retry.h"

#include <stdio.h>

static bool body_read(const struct lens_answer *answer, bool json,
		      struct lens_partial_success *partial)
{
	const struct lens_text *body = &answer->body;

	if (answer->code != CURLE_OK || body->failed)
		return false;
	if (json)
		return lens_json_response_parse(partial, body->data, body->length) == 0;
	return lens_protobuf_response_parse(partial, (const uint8_t *)body->data, body->length) ==
	       0;
}

static const char *status_hint(long status, bool doubled)
{
	if (status >= 300 && status < 400)
		return " (redirects are not followed: set Endpoint to where it leads)";
	if (status == 404 && doubled)
		return " (Endpoint is a base: leave v1/traces out of it)";
	return "";
}

void lens_http_judge(const struct lens_answer *answer, const struct lens_endpoint *endpoint,
		     bool json, unsigned int timeout_ms, struct lens_export_result *result)
{
	struct lens_partial_success partial = { 0 };
	char what[32];

	/* 1xx is no answer yet. */
	if (answer->status < 200) {
		lens_answer_failure(answer, endpoint, timeout_ms, result);
		return;
	}
	snprintf(what, sizeof(what), "HTTP %ld", answer->status);
	result->verdict = lens_retry_verdict(LENS_TRANSPORT_HTTP, answer->status, false);
	if (result->verdict == LENS_VERDICT_DONE) {
		lens_result_done(result, endpoint->shown, what,
				 body_read(answer, json, &partial) ? &partial : NULL);
		return;
	}
	if (result->verdict == LENS_VERDICT_RETRY)
		result->retry_after_ms = answer->retry_after_ms;
	lens_result_message(result, "%s: %s%s", endpoint->shown, what,
			    status_hint(answer->status, endpoint->doubled));
}
