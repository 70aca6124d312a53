/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/judge.h"

#include "lib/otlp/grpc_frame.h"
#include "lib/otlp/protobuf.h"
#include "lib/otlp/result.h"
#include "lib/otlp/retry.h"

#include <strings.h>

static bool body_read(const struct lens_answer *answer, struct lens_partial_success *partial)
{
	const struct lens_text *body = &answer->body;
	const uint8_t *message;
	size_t length;

	return answer->code == CURLE_OK && !body->failed &&
	       lens_grpc_frame_open(body->data, body->length, &message, &length) == 0 &&
	       lens_protobuf_response_parse(partial, message, length) == 0;
}

/* The call has no status of gRPC: which one it counts as, -1 when nothing tells. */
static int code_without_status(const struct lens_answer *answer)
{
	struct lens_partial_success partial;

	/* Only a call that went well has a message, be it too long to read. */
	if (answer->too_long || body_read(answer, &partial))
		return LENS_GRPC_OK;
	/* Cut off after its headers: libcurl 7.88 also loses trailers when the end of the
	 * connection follows them closely, as from a server that stops. */
	if (answer->code != CURLE_OK || (answer->is_grpc && answer->status == 200))
		return -1;
	return lens_grpc_code_of_http(answer->status);
}

/* Whether the connection ended as a server's does that takes HTTP/2 for garbage. */
static bool broke_off(const struct lens_answer *answer, const struct lens_endpoint *endpoint)
{
	switch (answer->code) {
	case CURLE_GOT_NOTHING:
	case CURLE_PARTIAL_FILE:
		return true;
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
		return strncasecmp(endpoint->url, "http:", 5) == 0;
	default:
		return false;
	}
}

/* Nothing of gRPC came back. */
static void failure_tell(const struct lens_answer *answer, const struct lens_endpoint *endpoint,
			 unsigned int timeout_ms, struct lens_export_result *result)
{
	lens_answer_failure(answer, endpoint, timeout_ms, result);
	if (answer->code == CURLE_HTTP2)
		lens_result_message(result, "%s: the server refused or broke off HTTP/2",
				    endpoint->shown);
	else if (answer->code == CURLE_HTTP2_STREAM)
		lens_result_message(result, "%s: the server broke the call off", endpoint->shown);
	else if (answer->status == 0 && !answer->cancelled && broke_off(answer, endpoint))
		lens_result_message(result,
				    "%s: broken off before an answer in HTTP/2 (is this a port "
				    "of OTLP/gRPC?)",
				    endpoint->shown);
}

static void error_tell(const struct lens_answer *answer, const char *shown, int code,
		       struct lens_export_result *result)
{
	const char *words = answer->grpc.message;

	if (result->verdict == LENS_VERDICT_RETRY)
		result->retry_after_ms =
			answer->grpc.retry_info ? answer->grpc.retry_ms : answer->retry_after_ms;
	if (answer->grpc.code < 0)
		lens_result_message(result, "%s: HTTP %ld without a gRPC status, taken for %s",
				    shown, answer->status, lens_grpc_code_name(code));
	else
		lens_result_message(result, "%s: gRPC %s (%d)%s%s", shown,
				    lens_grpc_code_name(code), code, words[0] ? ": " : "", words);
}

void lens_grpc_judge(const struct lens_answer *answer, const struct lens_endpoint *endpoint,
		     unsigned int timeout_ms, struct lens_export_result *result)
{
	struct lens_partial_success partial = { 0 };
	int code = answer->grpc.code >= 0 ? answer->grpc.code : code_without_status(answer);

	if (answer->status < 200 || (code < 0 && answer->code != CURLE_OK)) {
		failure_tell(answer, endpoint, timeout_ms, result);
		return;
	}
	if (code < 0) {
		lens_result_message(result, "%s: the answer ends without a gRPC status",
				    endpoint->shown);
		return;
	}
	if (!answer->http2) {
		lens_result_message(result,
				    "%s: the server speaks no HTTP/2 here, which gRPC needs: is "
				    "this the port of OTLP/HTTP?",
				    endpoint->shown);
		return;
	}
	result->verdict = lens_retry_verdict(LENS_TRANSPORT_GRPC, code, answer->grpc.retry_info);
	if (result->verdict == LENS_VERDICT_DONE)
		lens_result_done(result, endpoint->shown, "gRPC OK",
				 body_read(answer, &partial) ? &partial : NULL);
	else
		error_tell(answer, endpoint->shown, code, result);
}
