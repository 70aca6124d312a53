/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/protobuf.h"
#include "tests/unit/otlp_exchange.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static void test_request_is_as_the_protocol_has_it(void **state)
{
	struct exchange exchange = exchange_with(ANSWER("200 OK", EMPTY, ""));
	struct lens_batch *batch = sample_small();
	size_t length;
	uint8_t *packed = lens_protobuf_encode(batch, &length);
	const char *body = strstr(exchange.request, "\r\n\r\n");

	(void)state;
	exchange_check(&exchange, LENS_VERDICT_DONE, NULL);
	assert_int_equal(strncmp(exchange.request, "POST /v1/traces HTTP/1.1\r\n", 26), 0);
	assert_non_null(strstr(exchange.request, "\r\nContent-Type: application/x-protobuf\r\n"));
	assert_non_null(strstr(exchange.request, "\r\nUser-Agent: lens-test/1.2\r\n"));
	assert_null(strstr(exchange.request, "Expect"));
	assert_non_null(body);
	assert_int_equal(exchange.request_length - (size_t)(body + 4 - exchange.request), length);
	assert_memory_equal(body + 4, packed, length);
	free(packed);
	lens_batch_destroy(batch);
}

/* libcurl would hold a body beyond 1 MiB back until the server says that it wants it. */
static void test_large_request_is_sent_at_once(void **state)
{
	static const char ok[] = ANSWER("200 OK", EMPTY, "");
	const struct scripted_answer answer = { .bytes = ok, .length = strlen(ok) };
	struct lens_batch *batch = sample_small();
	const struct lens_trace_id trace = sample_trace(3);
	const struct lens_span_id id = sample_span(3);
	struct lens_span *span;
	char *value = calloc(1, (3 << 20) + 1);
	struct exchange exchange;

	(void)state;
	memset(value, 'x', 3 << 20);
	span = lens_group_add_span(lens_batch_add_group(batch), &trace, &id, "large");
	lens_attributes_string(lens_span_attributes(span), "value", value);
	free(value);
	exchange = exchange_run(batch, &answer, 1, 5000);
	exchange_check(&exchange, LENS_VERDICT_DONE, NULL);
	assert_true(exchange.request_length >= 3 << 20 &&
		    exchange.request_length <= (3 << 20) + 2000);
	assert_null(strstr(exchange.request, "Expect"));
}

static void test_partial_success_is_not_resent(void **state)
{
	struct exchange exchange = exchange_with(ANSWER("200 OK", "Content-Length: 12\r\n",
							"\x0a\x0a\x08\x03\x12\x06"
							"no way"));

	(void)state;
	exchange_check(&exchange, LENS_VERDICT_DONE, ": 3 spans rejected: no way");
	assert_int_equal(exchange.result.rejected, 3);
	exchange = exchange_with(ANSWER("200 OK", "Content-Length: 8\r\n", "\x0a\x06\x12\x04slow"));
	exchange_check(&exchange, LENS_VERDICT_DONE, ": accepted with a warning: slow");
	assert_int_equal(exchange.result.rejected, 0);
}

static void test_unreadable_success_is_not_resent(void **state)
{
	static const char *const answers[] = {
		ANSWER("200 OK", "Content-Length: 13\r\n", "<html></html>"),
		ANSWER("200 OK", "Content-Length: 100\r\n", "\x0a\x02"),
		ANSWER("200 OK", "Transfer-Encoding: chunked\r\n", "zz\r\n"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		struct exchange exchange = exchange_with(answers[i]);

		exchange_check(&exchange, LENS_VERDICT_DONE,
			       ": HTTP 200, but what follows is unreadable");
		assert_int_equal(exchange.result.rejected, 0);
	}
}

/* Reading stops at the limit, whether the length was announced or not. */
static void test_huge_answer_is_not_read(void **state)
{
	static const char *const heads[] = {
		ANSWER("200 OK", "Content-Length: 1073741824\r\n", ""),
		ANSWER("200 OK", "Connection: close\r\n", ""),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		const struct scripted_answer answer = { .bytes = heads[i],
							.length = strlen(heads[i]),
							.flood = true };
		struct exchange exchange = exchange_run(sample_small(), &answer, 1, 20000);

		exchange_check(&exchange, LENS_VERDICT_DONE,
			       ": HTTP 200, but what follows is unreadable");
		/* What the kernel's buffers took comes on top. */
		assert_true(exchange.flooded > 0 && exchange.flooded < (size_t)64 << 20);
	}
}

static void test_status_decides(void **state)
{
	static const struct {
		const char *answer;
		enum lens_verdict verdict;
		const char *message;
		int64_t retry_after_ms;
	} cases[] = {
		{ ANSWER("202 Accepted", EMPTY, ""), LENS_VERDICT_DONE, NULL, -1 },
		{ ANSWER("204 No Content", "", ""), LENS_VERDICT_DONE, NULL, -1 },
		{ ANSWER("400 Bad Request", EMPTY, ""), LENS_VERDICT_DROP, ": HTTP 400", -1 },
		{ ANSWER("401 Unauthorized", EMPTY, ""), LENS_VERDICT_DROP, ": HTTP 401", -1 },
		{ ANSWER("404 Not Found", EMPTY, ""), LENS_VERDICT_DROP, ": HTTP 404", -1 },
		{ ANSWER("413 Too Large", EMPTY, ""), LENS_VERDICT_DROP, ": HTTP 413", -1 },
		{ ANSWER("500 Oops", "Retry-After: 9\r\n" EMPTY, ""), LENS_VERDICT_DROP,
		  ": HTTP 500", -1 },
		{ ANSWER("429 Slow", "Retry-After: 7\r\n" EMPTY, ""), LENS_VERDICT_RETRY,
		  ": HTTP 429", 7000 },
		{ ANSWER("429 Slow", "retry-after:Sun, 06 Nov 1994 08:49:37 GMT\r\n" EMPTY, ""),
		  LENS_VERDICT_RETRY, ": HTTP 429", 0 },
		{ ANSWER("503 Busy", "Retry-After: soon\r\n" EMPTY, ""), LENS_VERDICT_RETRY,
		  ": HTTP 503", -1 },
		{ ANSWER("503 Busy", "Content-Type: text/html\r\nContent-Length: 5\r\n", "<br/>"),
		  LENS_VERDICT_RETRY, ": HTTP 503", -1 },
		{ ANSWER("502 Bad Gateway", "Content-Length: 100\r\n", "<half"), LENS_VERDICT_RETRY,
		  ": HTTP 502", -1 },
		{ ANSWER("100 Continue", "Retry-After: 9\r\n", "") ANSWER("503 Busy", EMPTY, ""),
		  LENS_VERDICT_RETRY, ": HTTP 503", -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct exchange exchange = exchange_with(cases[i].answer);

		exchange_check(&exchange, cases[i].verdict, cases[i].message);
		assert_int_equal(exchange.result.retry_after_ms, cases[i].retry_after_ms);
	}
}

static void test_too_large_is_halved(void **state)
{
	static const char bytes[] = ANSWER("413 Too Large", EMPTY, "");
	const struct scripted_answer answer = { .bytes = bytes, .length = strlen(bytes) };
	struct exchange exchange = exchange_run(sample_full(), &answer, 1, 5000);

	(void)state;
	exchange_check(&exchange, LENS_VERDICT_SPLIT, ": HTTP 413");
}

/* A batch goes where the site says: a second server must see nothing. */
static void test_redirect_is_not_followed(void **state)
{
	static const char ok[] = ANSWER("200 OK", EMPTY, "");
	const struct scripted_answer answer = { .bytes = ok, .length = strlen(ok) };
	struct scripted_server *other = scripted_server_start(&answer, 1);
	char redirect[256], request[256];
	struct exchange exchange;

	(void)state;
	snprintf(redirect, sizeof(redirect),
		 "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:%d/v1/traces\r\n" EMPTY "\r\n",
		 other->port);
	exchange = exchange_with(redirect);
	exchange_check(&exchange, LENS_VERDICT_DROP, ": HTTP 302 (redirects are not followed");
	assert_int_equal(scripted_server_stop(other, request, sizeof(request)), 0);
}

/* No status arrived: the batch is kept. */
static void test_no_answer_is_retried(void **state)
{
	static const struct {
		struct scripted_answer answer;
		const char *message;
	} cases[] = {
		{ { .bytes = "" }, ": the connection was closed without an answer" },
		{ { .bytes = "", .reset = true }, ": " },
		{ { .bytes = "HTTP/1.1 20", .length = 11 }, ": " },
		{ { .bytes = "SSH-2.0-x\r\n", .length = 11 }, ": the answer is not HTTP" },
		{ { .bytes = "HTTP/1.1 100 Continue\r\n\r\n", .length = 25 }, ": " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct exchange exchange = exchange_run(sample_small(), &cases[i].answer, 1, 5000);

		exchange_check(&exchange, LENS_VERDICT_RETRY, cases[i].message);
		assert_int_equal(exchange.result.retry_after_ms, -1);
	}
}

static void test_closed_port_is_refused(void **state)
{
	struct exchange exchange = { 0 };
	struct lens_batch *batch = sample_small();
	struct lens_exporter *exporter;
	char endpoint[64];

	(void)state;
	snprintf(endpoint, sizeof(endpoint), "http://user:s3cret@127.0.0.1:%d",
		 scripted_port_closed());
	exporter = exporter_for(endpoint, 5000);
	lens_exporter_export(exporter, batch, &exchange.result);
	assert_int_equal(exchange.result.verdict, LENS_VERDICT_RETRY);
	assert_non_null(strstr(exchange.result.message, "/v1/traces: connection refused"));
	assert_null(strstr(exchange.result.message, "s3cret"));
	lens_exporter_destroy(exporter);
	lens_batch_destroy(batch);
}

static void test_timeout_is_for_the_whole(void **state)
{
	static const char half[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
	const struct scripted_answer silent = { .bytes = "", .hold = true };
	const struct scripted_answer stuck = { .bytes = half,
					       .length = strlen(half),
					       .hold = true };
	struct exchange exchange = exchange_run(sample_small(), &silent, 1, 300);

	(void)state;
	exchange_check(&exchange, LENS_VERDICT_RETRY, ": no answer within 300 ms");
	assert_true(exchange.seconds >= 0.29 && exchange.seconds < 2);
	/* The status had come: the spans are there. */
	exchange = exchange_run(sample_small(), &stuck, 1, 300);
	exchange_check(&exchange, LENS_VERDICT_DONE, "unreadable");
	assert_true(exchange.seconds < 2);
}

struct stopper {
	int asked;
	int after;
};

static bool stopper_cancelled(void *context)
{
	struct stopper *stopper = context;

	return ++stopper->asked > stopper->after;
}

static void test_cancelled_gives_up_soon(void **state)
{
	const struct scripted_answer silent = { .bytes = "", .hold = true };
	struct scripted_server *server = scripted_server_start(&silent, 1);
	struct stopper stopper = { .after = 6 };
	struct lens_exporter_settings settings = {
		.kind = LENS_EXPORTER_HTTP_PROTOBUF,
		.timeout_ms = 30000,
		.cancelled = stopper_cancelled,
		.cancelled_context = &stopper,
	};
	struct lens_batch *batch = sample_small();
	struct lens_export_result result;
	struct lens_exporter *exporter;
	char endpoint[64], request[64];
	double begin = exchange_now();

	(void)state;
	snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%d", server->port);
	settings.endpoint = endpoint;
	exporter = lens_exporter_create(&settings, NULL);
	lens_exporter_export(exporter, batch, &result);
	assert_int_equal(result.verdict, LENS_VERDICT_RETRY);
	assert_non_null(strstr(result.message, "given up"));
	assert_int_equal(stopper.asked, 7);
	assert_true(exchange_now() - begin < 3);
	lens_exporter_destroy(exporter);
	lens_batch_destroy(batch);
	scripted_server_stop(server, request, sizeof(request));
}

/* Two batches over one connection: the server accepts once only. */
static void test_connection_is_kept(void **state)
{
	static const char ok[] = ANSWER("200 OK", EMPTY, "");
	const struct scripted_answer answer = { .bytes = ok, .length = strlen(ok), .keep = true };
	const struct scripted_answer answers[] = { answer, answer };
	struct scripted_server *server = scripted_server_start(answers, 2);
	struct lens_batch *batch = sample_small();
	struct lens_export_result result;
	struct lens_exporter *exporter;
	char endpoint[64], request[64];

	(void)state;
	snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%d", server->port);
	exporter = exporter_for(endpoint, 3000);
	for (int i = 0; i < 2; i++) {
		lens_exporter_export(exporter, batch, &result);
		assert_int_equal(result.verdict, LENS_VERDICT_DONE);
	}
	lens_exporter_destroy(exporter);
	lens_batch_destroy(batch);
	assert_int_equal(server->accepts, 1);
	scripted_server_stop(server, request, sizeof(request));
}

/* The environment of the machine must not lead the spans elsewhere. */
static void test_environment_proxy_is_ignored(void **state)
{
	struct exchange exchange;

	(void)state;
	setenv("http_proxy", "http://127.0.0.1:1", 1);
	setenv("ALL_PROXY", "socks5://127.0.0.1:1", 1);
	exchange = exchange_with(ANSWER("200 OK", EMPTY, ""));
	unsetenv("http_proxy");
	unsetenv("ALL_PROXY");
	exchange_check(&exchange, LENS_VERDICT_DONE, NULL);
}

static void test_bad_endpoint_is_told(void **state)
{
	const struct lens_exporter_settings settings = { .kind = LENS_EXPORTER_HTTP_PROTOBUF,
							 .endpoint = "ftp://h" };
	struct lens_error err = LENS_ERROR_INIT;

	(void)state;
	assert_null(lens_exporter_create(&settings, &err));
	assert_non_null(strstr(err.text, "Endpoint: `ftp://h`"));
	lens_exporter_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request_is_as_the_protocol_has_it),
		cmocka_unit_test(test_large_request_is_sent_at_once),
		cmocka_unit_test(test_partial_success_is_not_resent),
		cmocka_unit_test(test_unreadable_success_is_not_resent),
		cmocka_unit_test(test_huge_answer_is_not_read),
		cmocka_unit_test(test_status_decides),
		cmocka_unit_test(test_too_large_is_halved),
		cmocka_unit_test(test_redirect_is_not_followed),
		cmocka_unit_test(test_no_answer_is_retried),
		cmocka_unit_test(test_closed_port_is_refused),
		cmocka_unit_test(test_timeout_is_for_the_whole),
		cmocka_unit_test(test_cancelled_gives_up_soon),
		cmocka_unit_test(test_connection_is_kept),
		cmocka_unit_test(test_environment_proxy_is_ignored),
		cmocka_unit_test(test_bad_endpoint_is_told),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
