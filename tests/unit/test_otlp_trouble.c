/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/trouble.h"
#include "tests/unit/otlp_exchange.h"

static void test_http_by_status(void **state)
{
	static const struct {
		long status;
		enum lens_trouble trouble;
	} rows[] = {
		{ 200, LENS_TROUBLE_NONE },        { 202, LENS_TROUBLE_NONE },
		{ 301, LENS_TROUBLE_PLACE },       { 400, LENS_TROUBLE_OTHER },
		{ 401, LENS_TROUBLE_CREDENTIALS }, { 403, LENS_TROUBLE_CREDENTIALS },
		{ 404, LENS_TROUBLE_PLACE },       { 405, LENS_TROUBLE_PLACE },
		{ 415, LENS_TROUBLE_PROTOCOL },    { 429, LENS_TROUBLE_BUSY },
		{ 500, LENS_TROUBLE_OTHER },       { 503, LENS_TROUBLE_BUSY },
	};
	struct lens_answer answer;

	(void)state;
	lens_answer_init(&answer);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		answer.status = rows[i].status;
		if (lens_trouble_of(&answer, false, false) != rows[i].trouble)
			fail_msg("%ld: %d", rows[i].status,
				 (int)lens_trouble_of(&answer, false, false));
	}
}

static void test_grpc_by_its_own_status_first(void **state)
{
	static const struct {
		int code;
		enum lens_trouble trouble;
	} rows[] = {
		{ LENS_GRPC_OK, LENS_TROUBLE_NONE },
		{ LENS_GRPC_UNAUTHENTICATED, LENS_TROUBLE_CREDENTIALS },
		{ LENS_GRPC_PERMISSION_DENIED, LENS_TROUBLE_CREDENTIALS },
		{ LENS_GRPC_UNIMPLEMENTED, LENS_TROUBLE_PLACE },
		{ LENS_GRPC_UNAVAILABLE, LENS_TROUBLE_BUSY },
		{ LENS_GRPC_DEADLINE_EXCEEDED, LENS_TROUBLE_SILENT },
		{ LENS_GRPC_INTERNAL, LENS_TROUBLE_OTHER },
	};
	struct lens_answer answer;

	(void)state;
	lens_answer_init(&answer);
	answer.status = 200;
	answer.http2 = true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		answer.grpc.code = rows[i].code;
		assert_int_equal(lens_trouble_of(&answer, true, false), rows[i].trouble);
	}
	answer.grpc.code = -1;
	assert_int_equal(lens_trouble_of(&answer, true, false), LENS_TROUBLE_PROTOCOL);
	answer.status = 401;
	assert_int_equal(lens_trouble_of(&answer, true, false), LENS_TROUBLE_CREDENTIALS);
	answer.status = 503;
	assert_int_equal(lens_trouble_of(&answer, true, false), LENS_TROUBLE_BUSY);
	answer.status = 404;
	assert_int_equal(lens_trouble_of(&answer, true, false), LENS_TROUBLE_PROTOCOL);
}

static void test_without_an_answer_by_how_it_failed(void **state)
{
	static const struct {
		CURLcode code;
		enum lens_trouble trouble;
	} rows[] = {
		{ CURLE_COULDNT_CONNECT, LENS_TROUBLE_AWAY },
		{ CURLE_COULDNT_RESOLVE_HOST, LENS_TROUBLE_AWAY },
		{ CURLE_OPERATION_TIMEDOUT, LENS_TROUBLE_SILENT },
		{ CURLE_PEER_FAILED_VERIFICATION, LENS_TROUBLE_TLS },
		{ CURLE_SSL_CONNECT_ERROR, LENS_TROUBLE_TLS },
		{ CURLE_GOT_NOTHING, LENS_TROUBLE_PROTOCOL },
		{ CURLE_FAILED_INIT, LENS_TROUBLE_OTHER },
	};
	struct lens_answer answer;

	(void)state;
	lens_answer_init(&answer);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		answer.code = rows[i].code;
		assert_int_equal(lens_trouble_of(&answer, false, false), rows[i].trouble);
		assert_int_equal(lens_trouble_of(&answer, true, false), rows[i].trouble);
	}
	answer.code = CURLE_RECV_ERROR;
	assert_int_equal(lens_trouble_of(&answer, false, false), LENS_TROUBLE_OTHER);
	assert_int_equal(lens_trouble_of(&answer, true, false), LENS_TROUBLE_PROTOCOL);
	assert_int_equal(lens_trouble_of(&answer, false, true), LENS_TROUBLE_TLS);
	assert_int_equal(lens_trouble_of(&answer, true, true), LENS_TROUBLE_TLS);
}

static void test_a_result_has_trouble_and_the_servers_clock(void **state)
{
	struct exchange exchange = exchange_with(
		ANSWER("403 Forbidden", EMPTY "Date: Mon, 30 Nov 2026 20:00:00 GMT\r\n", ""));

	(void)state;
	exchange_check(&exchange, LENS_VERDICT_DROP, "HTTP 403");
	assert_int_equal(exchange.result.trouble, LENS_TROUBLE_CREDENTIALS);
	assert_int_equal(exchange.result.date, 1796068800);
	exchange = exchange_with(ANSWER("200 OK", EMPTY "date: yesterday\r\n", ""));
	exchange_check(&exchange, LENS_VERDICT_DONE, NULL);
	assert_int_equal(exchange.result.trouble, LENS_TROUBLE_NONE);
	assert_int_equal(exchange.result.date, 0);
}

/* Posts the empty request of KIND; what arrived, without its headers, is put into BODY. */
static void empty_post(enum lens_exporter_kind kind, enum lens_compression compression,
		       char *request, size_t size)
{
	static const char ok[] = ANSWER("200 OK", EMPTY, "");
	const struct scripted_answer answer = { .bytes = ok, .length = strlen(ok) };
	struct scripted_server *server = scripted_server_start(&answer, 1);
	struct lens_export_result result;
	char url[64];
	struct lens_exporter_settings settings = {
		.kind = kind, .endpoint = url, .timeout_ms = 5000, .compression = compression
	};
	struct lens_exporter *exporter;
	size_t length;
	const uint8_t *bytes = lens_exporter_empty(kind, &length);

	snprintf(url, sizeof(url), "http://127.0.0.1:%d", server->port);
	exporter = exporter_create(&settings);
	lens_exporter_post(exporter, bytes, length, &result);
	assert_int_equal(result.verdict, LENS_VERDICT_DONE);
	lens_exporter_destroy(exporter);
	length = scripted_server_stop(server, request, size - 1);
	request[length] = '\0';
}

static void test_an_empty_request_is_one(void **state)
{
	char request[4096];

	(void)state;
	empty_post(LENS_EXPORTER_HTTP_PROTOBUF, LENS_COMPRESSION_NONE, request, sizeof(request));
	assert_non_null(strstr(request, "\r\nContent-Length: 0\r\n"));
	assert_string_equal(strstr(request, "\r\n\r\n") + 4, "");
	empty_post(LENS_EXPORTER_HTTP_PROTOBUF, LENS_COMPRESSION_GZIP, request, sizeof(request));
	assert_non_null(strstr(request, "\r\n\r\n\x1f\x8b"));
	empty_post(LENS_EXPORTER_HTTP_JSON, LENS_COMPRESSION_NONE, request, sizeof(request));
	assert_string_equal(strstr(request, "\r\n\r\n") + 4, "{\"resourceSpans\":[]}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_http_by_status),
		cmocka_unit_test(test_grpc_by_its_own_status_first),
		cmocka_unit_test(test_without_an_answer_by_how_it_failed),
		cmocka_unit_test(test_a_result_has_trouble_and_the_servers_clock),
		cmocka_unit_test(test_an_empty_request_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
