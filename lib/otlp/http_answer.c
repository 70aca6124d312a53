/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/http_answer.h"

#include "lib/otlp/protobuf.h"
#include "lib/otlp/result.h"
#include "lib/otlp/retry.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void lens_http_answer_clear(struct lens_http_answer *answer)
{
	lens_text_clear(&answer->body);
}

/* Why no status came, in few words. */
static void failure_describe(const struct lens_http_answer *answer, unsigned int timeout_ms,
			     char *out, size_t size)
{
	switch (answer->code) {
	case CURLE_COULDNT_CONNECT:
		if (answer->os_error)
			snprintf(out, size, "%s", strerror((int)answer->os_error));
		else
			snprintf(out, size, "cannot connect");
		break;
	case CURLE_COULDNT_RESOLVE_HOST:
		snprintf(out, size, "the host's name is not known");
		break;
	case CURLE_OPERATION_TIMEDOUT:
		snprintf(out, size, "no answer within %u ms", timeout_ms);
		break;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
		snprintf(out, size, "TLS: %s",
			 answer->detail[0] ? answer->detail : curl_easy_strerror(answer->code));
		break;
	case CURLE_GOT_NOTHING:
		snprintf(out, size, "the connection was closed without an answer");
		break;
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_WEIRD_SERVER_REPLY:
		snprintf(out, size, "the answer is not HTTP");
		break;
	default:
		snprintf(out, size, "%s", curl_easy_strerror(answer->code));
		break;
	}
	/* "Connection refused" goes on after a colon. */
	if (isupper((unsigned char)out[0]) && islower((unsigned char)out[1]))
		out[0] = (char)tolower((unsigned char)out[0]);
}

static void done_judge(const struct lens_http_answer *answer, const char *shown,
		       struct lens_export_result *result)
{
	struct lens_partial_success partial = { 0 };

	if (answer->code != CURLE_OK || answer->body.failed ||
	    lens_protobuf_response_parse(&partial, (const uint8_t *)answer->body.data,
					 answer->body.length) < 0) {
		lens_result_message(result, "%s: HTTP %ld, but what follows is unreadable", shown,
				    answer->status);
		return;
	}
	result->rejected = partial.rejected;
	if (partial.rejected > 0)
		lens_result_message(result, "%s: %" PRIu64 " spans rejected%s%s", shown,
				    partial.rejected, partial.message[0] ? ": " : "",
				    partial.message);
	else if (partial.message[0])
		lens_result_message(result, "%s: accepted with a warning: %s", shown,
				    partial.message);
}

static const char *status_hint(long status, bool doubled)
{
	if (status >= 300 && status < 400)
		return " (redirects are not followed: set Endpoint to where it leads)";
	if (status == 404 && doubled)
		return " (Endpoint is a base: leave v1/traces out of it)";
	return "";
}

void lens_http_answer_judge(const struct lens_http_answer *answer,
			    const struct lens_endpoint *endpoint, unsigned int timeout_ms,
			    struct lens_export_result *result)
{
	char why[CURL_ERROR_SIZE + 8];

	/* 1xx is no answer yet. */
	if (answer->status < 200) {
		result->verdict = lens_retry_verdict(LENS_TRANSPORT_FAILED, 0);
		failure_describe(answer, timeout_ms, why, sizeof(why));
		lens_result_message(result, "%s: %s", endpoint->shown,
				    answer->cancelled ? "given up, the agent is stopping" : why);
		return;
	}
	result->verdict = lens_retry_verdict(LENS_TRANSPORT_ANSWERED, answer->status);
	if (result->verdict == LENS_VERDICT_DONE) {
		done_judge(answer, endpoint->shown, result);
		return;
	}
	if (result->verdict == LENS_VERDICT_RETRY)
		result->retry_after_ms = answer->retry_after_ms;
	lens_result_message(result, "%s: HTTP %ld%s", endpoint->shown, answer->status,
			    status_hint(answer->status, endpoint->doubled));
}
