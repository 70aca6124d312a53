/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/protobuf.h"
#include "tests/unit/otlp_exchange.h"
#include "tests/unit/scripted_grpc.h"

#include <signal.h>
#include <stdlib.h>

/* What a server says in order, and the frame of a message of three bytes or less. */
#define OK_HEADERS                                               \
	{                                                        \
		":status: 200", "content-type: application/grpc" \
	}
#define EMPTY_BODY .body = "\0\0\0\0\0", .body_length = 5
#define STATUS(code)                                                                           \
	{                                                                                      \
		.headers = { ":status: 200", "content-type: application/grpc" }, .trailers = { \
			"grpc-status: " #code,                                                 \
			"grpc-message: caf%C3%A9 %25 %0A"                                      \
		}                                                                              \
	}

#define GRPC_PATH "/opentelemetry.proto.collector.trace.v1.TraceService/Export"

static const struct scripted_call taken = { .headers = OK_HEADERS,
					    EMPTY_BODY,
					    .trailers = { "grpc-status: 0" } };

static struct lens_exporter *grpc_exporter(const char *endpoint, unsigned int timeout_ms)
{
	const struct lens_exporter_settings settings = {
		.kind = LENS_EXPORTER_GRPC,
		.endpoint = endpoint,
		.timeout_ms = timeout_ms,
	};

	return exporter_create(&settings);
}

/* Sends BATCH, which it frees, to a server that answers with CALL. */
static struct exchange grpc_exchange(struct lens_batch *batch, const struct scripted_call *call,
				     unsigned int timeout_ms)
{
	struct scripted_server *server = scripted_grpc_start(call, 1);
	struct exchange exchange = { 0 };
	struct lens_exporter *exporter;

	snprintf(exchange.url, sizeof(exchange.url), "http://127.0.0.1:%d", server->port);
	exporter = grpc_exporter(exchange.url, timeout_ms);
	strcat(exchange.url, GRPC_PATH);
	exchange_make(&exchange, exporter, batch, server);
	return exchange;
}

static struct exchange grpc_exchange_one(const struct scripted_call *call)
{
	return grpc_exchange(sample_small(), call, 5000);
}

static void the_request_is_one_frame(void **state)
{
	struct exchange exchange = grpc_exchange_one(&taken);
	struct lens_batch *batch = sample_small();
	size_t length;
	uint8_t *packed = lens_protobuf_encode(batch, &length);
	char head[5] = { 0 };

	(void)state;
	exchange_check(&exchange, LENS_VERDICT_DONE, NULL);
	h2_number_put(head + 1, (uint32_t)length, 4);
	assert_int_equal(exchange.request_length, length + 5);
	assert_memory_equal(exchange.request, head, 5);
	assert_memory_equal(exchange.request + 5, packed, length);
	free(packed);
	lens_batch_destroy(batch);
}

/* More than the window that a server opens with: the rest waits until it is opened further. */
static void a_large_request_is_sent_whole(void **state)
{
	struct lens_batch *batch = sample_small();
	const struct lens_trace_id trace = sample_trace(3);
	const struct lens_span_id id = sample_span(3);
	char *value = calloc(1, (3 << 20) + 1);
	struct lens_span *span;
	struct exchange exchange;

	(void)state;
	memset(value, 'x', 3 << 20);
	span = lens_group_add_span(lens_batch_add_group(batch), &trace, &id, "large");
	lens_attributes_string(lens_span_attributes(span), "value", value);
	free(value);
	exchange = grpc_exchange(batch, &taken, 20000);
	exchange_check(&exchange, LENS_VERDICT_DONE, NULL);
	assert_true(exchange.request_length >= 3 << 20 &&
		    exchange.request_length <= (3 << 20) + 2000);
}

static void the_code_decides(void **state)
{
	static const struct {
		struct scripted_call call;
		enum lens_verdict verdict;
		const char *message;
	} cases[] = {
		{ STATUS(1), LENS_VERDICT_RETRY, ": gRPC CANCELLED (1): caf\xc3\xa9 %  " },
		{ STATUS(2), LENS_VERDICT_DROP, ": gRPC UNKNOWN (2): " },
		{ STATUS(3), LENS_VERDICT_DROP, ": gRPC INVALID_ARGUMENT (3): " },
		{ STATUS(4), LENS_VERDICT_RETRY, ": gRPC DEADLINE_EXCEEDED (4): " },
		{ STATUS(5), LENS_VERDICT_DROP, ": gRPC NOT_FOUND (5): " },
		{ STATUS(6), LENS_VERDICT_DROP, ": gRPC ALREADY_EXISTS (6): " },
		{ STATUS(7), LENS_VERDICT_DROP, ": gRPC PERMISSION_DENIED (7): " },
		{ STATUS(8), LENS_VERDICT_DROP, ": gRPC RESOURCE_EXHAUSTED (8): " },
		{ STATUS(9), LENS_VERDICT_DROP, ": gRPC FAILED_PRECONDITION (9): " },
		{ STATUS(10), LENS_VERDICT_RETRY, ": gRPC ABORTED (10): " },
		{ STATUS(11), LENS_VERDICT_RETRY, ": gRPC OUT_OF_RANGE (11): " },
		{ STATUS(12), LENS_VERDICT_DROP, ": gRPC UNIMPLEMENTED (12): " },
		{ STATUS(13), LENS_VERDICT_DROP, ": gRPC INTERNAL (13): " },
		{ STATUS(14), LENS_VERDICT_RETRY, ": gRPC UNAVAILABLE (14): " },
		{ STATUS(15), LENS_VERDICT_RETRY, ": gRPC DATA_LOSS (15): " },
		{ STATUS(16), LENS_VERDICT_DROP, ": gRPC UNAUTHENTICATED (16): " },
		{ STATUS(17), LENS_VERDICT_DROP, ": gRPC UNKNOWN (2): " },
		{ STATUS(x), LENS_VERDICT_DROP, ": gRPC UNKNOWN (2): " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct exchange exchange = grpc_exchange_one(&cases[i].call);

		exchange_check(&exchange, cases[i].verdict, cases[i].message);
		assert_int_equal(exchange.result.retry_after_ms, -1);
	}
}

static void retry_info_makes_exhausted_worth_a_retry(void **state)
{
	/* Status{code=8, details=[Any{RetryInfo{retry_delay=7.5 s}}]}, with padding and
	 * without; an Any of another type; RetryInfo without a delay; no base64. */
	static const struct {
		const char *details;
		enum lens_verdict verdict;
		int64_t retry_after_ms;
	} cases[] = {
		{ "CAgaNgoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLlJldHJ5SW5mbxIKCggIBxCAyrXuAQ==",
		  LENS_VERDICT_RETRY, 7500 },
		{ "CAgaNgoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLlJldHJ5SW5mbxIKCggIBxCAyrXuAQ",
		  LENS_VERDICT_RETRY, 7500 },
		{ "CAgaMwordHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLlF1b3RhRmFpbHVyZRIECgIIBw==",
		  LENS_VERDICT_DROP, -1 },
		{ "CAgaKgoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLlJldHJ5SW5mbw==",
		  LENS_VERDICT_RETRY, 0 },
		{ "CAgaOQoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLlJldHJ5SW5mbxINCgsI+///////////AQ==",
		  LENS_VERDICT_RETRY, 0 },
		{ "CAgaNAoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLlJldHJ5SW5mbxIICgYIgLTEwyE=",
		  LENS_VERDICT_RETRY, 24 * INT64_C(3600000) },
		{ "CAga*", LENS_VERDICT_DROP, -1 },
		{ "CA=ga", LENS_VERDICT_DROP, -1 },
		{ "CAga", LENS_VERDICT_DROP, -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char details[256];
		struct scripted_call call = { .headers = OK_HEADERS,
					      .trailers = { "grpc-status: 8", details } };
		struct exchange exchange;

		snprintf(details, sizeof(details), "grpc-status-details-bin: %s", cases[i].details);
		exchange = grpc_exchange_one(&call);
		exchange_check(&exchange, cases[i].verdict, ": gRPC RESOURCE_EXHAUSTED (8)");
		assert_int_equal(exchange.result.retry_after_ms, cases[i].retry_after_ms);
	}
}

/* An error may come without a body, all of it in the first header block. */
static void trailers_alone_are_an_answer(void **state)
{
	static const struct scripted_call call = {
		.trailers = { ":status: 200", "content-type: application/grpc", "grpc-status: 14",
			      "grpc-message: not now" }
	};
	struct exchange exchange = grpc_exchange_one(&call);

	(void)state;
	exchange_check(&exchange, LENS_VERDICT_RETRY, ": gRPC UNAVAILABLE (14): not now");
}

static void partial_success_is_not_resent(void **state)
{
	static const struct scripted_call rejected = {
		.headers = OK_HEADERS,
		.body = "\0\0\0\0\x0c\x0a\x0a\x08\x03\x12\x06no way",
		.body_length = 17,
		.trailers = { "grpc-status: 0" },
	};
	static const struct scripted_call warned = {
		.headers = OK_HEADERS,
		.body = "\0\0\0\0\x08\x0a\x06\x12\x04slow",
		.body_length = 13,
		.trailers = { "grpc-status: 0" },
	};
	struct exchange exchange = grpc_exchange_one(&rejected);

	(void)state;
	exchange_check(&exchange, LENS_VERDICT_DONE, ": 3 spans rejected: no way");
	assert_int_equal(exchange.result.rejected, 3);
	exchange = grpc_exchange_one(&warned);
	exchange_check(&exchange, LENS_VERDICT_DONE, ": accepted with a warning: slow");
	assert_int_equal(exchange.result.rejected, 0);
}

static void unreadable_success_is_not_resent(void **state)
{
	static const struct scripted_call calls[] = {
		{ .headers = OK_HEADERS, .trailers = { "grpc-status: 0" } },
		{ .headers = OK_HEADERS,
		  .body = "\0\0\0\0\x09",
		  .body_length = 5,
		  .trailers = { "grpc-status: 0" } },
		{ .headers = OK_HEADERS,
		  .body = "\x01\0\0\0\0",
		  .body_length = 5,
		  .trailers = { "grpc-status: 0" } },
		{ .headers = OK_HEADERS,
		  .body = "\0\0\0\0\x02\x0a\x05",
		  .body_length = 7,
		  .trailers = { "grpc-status: 0" } },
		{ .headers = OK_HEADERS,
		  .body = "\0\0\0\0\0\0\0\0\0\0",
		  .body_length = 10,
		  .trailers = { "grpc-status: 0" } },
		/* More than is read: no trailers are waited for. */
		{ .headers = OK_HEADERS, .flood = true, .trailers = { "grpc-status: 0" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct exchange exchange = grpc_exchange_one(&calls[i]);

		exchange_check(&exchange, LENS_VERDICT_DONE,
			       ": gRPC OK, but what follows is unreadable");
		assert_int_equal(exchange.result.rejected, 0);
	}
}

/* Proxies answer without a word of gRPC. */
static void http_status_stands_in_for_the_code(void **state)
{
	static const struct {
		struct scripted_call call;
		enum lens_verdict verdict;
		const char *message;
		int64_t retry_after_ms;
	} cases[] = {
		{ { .headers = { ":status: 503", "content-type: text/html", "retry-after: 7" },
		    .body = "<br/>",
		    .body_length = 5,
		    .trailers = { "x: y" } },
		  LENS_VERDICT_RETRY,
		  ": HTTP 503 without a gRPC status, taken for UNAVAILABLE",
		  7000 },
		{ { .trailers = { ":status: 429" } }, LENS_VERDICT_RETRY, ": HTTP 429", -1 },
		{ { .trailers = { ":status: 502" } }, LENS_VERDICT_RETRY, ": HTTP 502", -1 },
		{ { .trailers = { ":status: 504" } }, LENS_VERDICT_RETRY, ": HTTP 504", -1 },
		{ { .trailers = { ":status: 400" } }, LENS_VERDICT_DROP, "INTERNAL", -1 },
		{ { .trailers = { ":status: 401" } }, LENS_VERDICT_DROP, "UNAUTHENTICATED", -1 },
		{ { .trailers = { ":status: 403" } }, LENS_VERDICT_DROP, "PERMISSION_DENIED", -1 },
		{ { .trailers = { ":status: 404" } }, LENS_VERDICT_DROP, "UNIMPLEMENTED", -1 },
		{ { .trailers = { ":status: 413" } }, LENS_VERDICT_DROP, "UNKNOWN", -1 },
		{ { .trailers = { ":status: 200" } }, LENS_VERDICT_DROP, "UNKNOWN", -1 },
		{ { .trailers = { ":status: 302", "location: http://127.0.0.1:1/" } },
		  LENS_VERDICT_DROP,
		  "UNKNOWN",
		  -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct exchange exchange = grpc_exchange_one(&cases[i].call);

		exchange_check(&exchange, cases[i].verdict, cases[i].message);
		assert_int_equal(exchange.result.retry_after_ms, cases[i].retry_after_ms);
	}
}

/* Nothing says what became of the batch: it is kept. The words are libcurl's version's. */
static void no_status_is_retried(void **state)
{
	static const struct scripted_call calls[] = {
		{ .goaway = true },
		{ .goaway = true, .code = 11 }, /* ENHANCE_YOUR_CALM */
		{ .reset = true, .code = 2 },   /* INTERNAL_ERROR */
		{ .reset = true, .code = 7 },   /* REFUSED_STREAM: tried anew at once */
		{ .headers = OK_HEADERS, .reset = true, .code = 8 },
		{ .headers = OK_HEADERS, .cut = true },
		/* libcurl 7.88 loses trailers that the end of the connection follows. */
		{ .headers = OK_HEADERS, .trailers = { "grpc-status: 14" }, .end = true },
		{ .headers = OK_HEADERS, .end = true },
		{ .cut = true },
		{ .raw = "" },
		{ .raw = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n" },
		{ .raw = "SSH-2.0-x\r\n" },
		{ .raw = "<html>no frame at all</html>" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct exchange exchange = grpc_exchange_one(&calls[i]);

		exchange_check(&exchange, LENS_VERDICT_RETRY, ": ");
		assert_int_equal(exchange.result.retry_after_ms, -1);
		assert_true(exchange.seconds < 4);
	}
}

static void the_timeout_is_for_the_whole(void **state)
{
	static const struct scripted_call silent = { .hold = true };
	static const struct scripted_call stuck = { .headers = OK_HEADERS,
						    EMPTY_BODY,
						    .hold = true };
	struct exchange exchange = grpc_exchange(sample_small(), &silent, 300);

	(void)state;
	exchange_check(&exchange, LENS_VERDICT_RETRY, ": no answer within 300 ms");
	assert_true(exchange.seconds >= 0.29 && exchange.seconds < 2);
	exchange = grpc_exchange(sample_small(), &stuck, 300);
	exchange_check(&exchange, LENS_VERDICT_RETRY, ": no answer within 300 ms");
}

/* Batch after batch, whether this libcurl can use a connection again or, like 7.88, needs
 * fresh ones. */
static void calls_follow_each_other(void **state)
{
	static const struct scripted_call call = {
		.headers = OK_HEADERS, EMPTY_BODY, .trailers = { "grpc-status: 0" }, .keep = true
	};
	const struct scripted_call calls[] = { call, call, call, call };
	struct scripted_server *server = scripted_grpc_start(calls, 4);
	struct lens_batch *batch = sample_small();
	struct lens_export_result result;
	struct lens_exporter *exporter;
	char endpoint[64], request[8];

	(void)state;
	snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%d", server->port);
	exporter = grpc_exporter(endpoint, 5000);
	for (int i = 0; i < 4; i++) {
		lens_exporter_export(exporter, batch, &result);
		assert_string_equal(result.message, "");
		assert_int_equal(result.verdict, LENS_VERDICT_DONE);
	}
	assert_true(server->accepts == 1 || server->accepts == 4);
	lens_exporter_destroy(exporter);
	lens_batch_destroy(batch);
	scripted_server_stop(server, request, sizeof(request));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_request_is_one_frame),
		cmocka_unit_test(a_large_request_is_sent_whole),
		cmocka_unit_test(the_code_decides),
		cmocka_unit_test(retry_info_makes_exhausted_worth_a_retry),
		cmocka_unit_test(trailers_alone_are_an_answer),
		cmocka_unit_test(partial_success_is_not_resent),
		cmocka_unit_test(unreadable_success_is_not_resent),
		cmocka_unit_test(http_status_stands_in_for_the_code),
		cmocka_unit_test(no_status_is_retried),
		cmocka_unit_test(the_timeout_is_for_the_whole),
		cmocka_unit_test(calls_follow_each_other),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
