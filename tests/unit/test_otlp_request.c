/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/otlp_exchange.h"
#include "tests/unit/scripted_grpc.h"

#include <signal.h>
#include <stdlib.h>
#include <zlib.h>

/* What a request carries besides protobuf: JSON, gzip, the site's headers, a proxy. */
static const struct scripted_answer ok = {
	.bytes = ANSWER("200 OK", EMPTY, ""),
	.length = sizeof(ANSWER("200 OK", EMPTY, "")) - 1,
};

static struct lens_blob blob(const char *text)
{
	return (struct lens_blob){ text, strlen(text) };
}

static struct exchange exchange_kind(enum lens_exporter_kind kind, const char *bytes)
{
	const struct scripted_answer answer = { .bytes = bytes, .length = strlen(bytes) };

	return exchange_as((struct lens_exporter_settings){ .kind = kind }, sample_small(), &answer,
			   1);
}

/* The body of an HTTP/1.1 request, its length in *LENGTH. */
static const char *body_of(const struct exchange *exchange, size_t *length)
{
	const char *end = strstr(exchange->request, "\r\n\r\n");

	assert_non_null(end);
	*length = exchange->request_length - (size_t)(end + 4 - exchange->request);
	return end + 4;
}

/* LENGTH BYTES are gzip of what an exporter of KIND sends for the sample. */
static void assert_gzip_of_sample(const char *bytes, size_t length, enum lens_exporter_kind kind)
{
	struct lens_batch *batch = sample_small();
	size_t wanted_length = 0;
	uint8_t *wanted = lens_exporter_encode(kind, batch, &wanted_length);
	unsigned char plain[4096];
	z_stream stream = { .next_in = (unsigned char *)bytes,
			    .avail_in = (unsigned int)length,
			    .next_out = plain,
			    .avail_out = sizeof(plain) };

	assert_non_null(wanted);
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK); /* gzip and nothing else */
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.avail_in, 0);
	assert_int_equal(stream.total_out, wanted_length);
	assert_memory_equal(plain, wanted, wanted_length);
	inflateEnd(&stream);
	free(wanted);
	lens_batch_destroy(batch);
}

static void json_is_posted_as_json(void **state)
{
	struct exchange exchange =
		exchange_kind(LENS_EXPORTER_HTTP_JSON, ANSWER("200 OK", EMPTY, ""));
	const char *body;
	size_t length;

	(void)state;
	exchange_check(&exchange, LENS_VERDICT_DONE, NULL);
	assert_int_equal(strncmp(exchange.request, "POST /v1/traces HTTP/1.1\r\n", 26), 0);
	assert_non_null(strstr(exchange.request, "\r\nContent-Type: application/json\r\n"));
	body = body_of(&exchange, &length);
	assert_int_equal(strncmp(body, "{\"resourceSpans\":[{", 19), 0);
	assert_non_null(strstr(body, "\"traceId\":\"11111111111111111111111111111111\""));
}

static void json_answers_are_read(void **state)
{
	static const struct {
		const char *body;
		uint64_t rejected;
		const char *message;
	} cases[] = {
		{ "{}", 0, NULL },
		{ " {\"partialSuccess\":null} ", 0, NULL },
		{ "{\"partialSuccess\":{}}", 0, NULL },
		{ "{\"partialSuccess\":{\"rejectedSpans\":\"3\",\"errorMessage\":\"no\\nway\"}}", 3,
		  ": 3 spans rejected: no way" },
		{ "{\"partialSuccess\":{\"rejectedSpans\":3}}", 3, ": 3 spans rejected" },
		{ "{\"new\":[1],\"partialSuccess\":{\"errorMessage\":\"slow\",\"new\":{}}}", 0,
		  ": accepted with a warning: slow" },
		{ "{\"partialSuccess\":{\"rejectedSpans\":-3}}", 0, NULL },
		{ "{\"partialSuccess\":{\"rejectedSpans\":\"many\"}}", 0, "unreadable" },
		{ "{\"partialSuccess\":{\"rejectedSpans\":[]}}", 0, "unreadable" },
		{ "{\"partialSuccess\":{\"errorMessage\":7}}", 0, "unreadable" },
		{ "{\"partialSuccess\":[]}", 0, "unreadable" },
		{ "[]", 0, "unreadable" },
		{ "7", 0, "unreadable" },
		{ "{", 0, "unreadable" },
		{ "{} {}", 0, "unreadable" },
		{ "<html></html>", 0, "unreadable" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char answer[256];
		struct exchange exchange;

		snprintf(answer, sizeof(answer), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
			 strlen(cases[i].body), cases[i].body);
		exchange = exchange_kind(LENS_EXPORTER_HTTP_JSON, answer);
		exchange_check(&exchange, LENS_VERDICT_DONE, cases[i].message);
		assert_int_equal(exchange.result.rejected, cases[i].rejected);
	}
}

static void gzip_over_http(void **state)
{
	static const enum lens_exporter_kind kinds[] = { LENS_EXPORTER_HTTP_PROTOBUF,
							 LENS_EXPORTER_HTTP_JSON };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const struct lens_exporter_settings settings = { .kind = kinds[i],
								 .compression =
									 LENS_COMPRESSION_GZIP };
		struct exchange exchange = exchange_as(settings, sample_small(), &ok, 1);
		const char *body;
		size_t length;

		exchange_check(&exchange, LENS_VERDICT_DONE, NULL);
		assert_non_null(strstr(exchange.request, "\r\nContent-Encoding: gzip\r\n"));
		body = body_of(&exchange, &length);
		assert_gzip_of_sample(body, length, kinds[i]);
	}
}

static void gzip_over_grpc(void **state)
{
	static const struct scripted_call call = {
		.headers = { ":status: 200", "content-type: application/grpc" },
		.body = "\0\0\0\0\0",
		.body_length = 5,
		.trailers = { "grpc-status: 0" },
	};
	struct scripted_server *server = scripted_grpc_start(&call, 1);
	struct lens_exporter_settings settings = { .kind = LENS_EXPORTER_GRPC,
						   .compression = LENS_COMPRESSION_GZIP };
	struct lens_batch *batch = sample_small();
	struct lens_export_result result;
	struct lens_exporter *exporter;
	char endpoint[64], request[4096];
	size_t length;

	(void)state;
	snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%d/ignored?path", server->port);
	settings.endpoint = endpoint;
	exporter = exporter_create(&settings);
	lens_exporter_export(exporter, batch, &result);
	assert_string_equal(result.message, "");
	assert_int_equal(result.verdict, LENS_VERDICT_DONE);
	length = scripted_server_stop(server, request, sizeof(request));
	assert_int_equal(request[0], 1);
	assert_int_equal(h2_number((uint8_t *)request + 1, 4), length - 5);
	assert_gzip_of_sample(request + 5, length - 5, LENS_EXPORTER_GRPC);
	lens_exporter_destroy(exporter);
	lens_batch_destroy(batch);
}

static void the_sites_headers_go_along(void **state)
{
	const struct lens_exporter_settings settings = {
		.kind = LENS_EXPORTER_HTTP_PROTOBUF,
		.headers = blob("# for the gateway\n"
				"\n"
				"Authorization: Bearer a=b,c%20d\r\n"
				"x-one=1,X-Two = two%2C%20words%3D , ,x-three=\n"
				"User-Agent: site/1\n"
				"X-Last:plain"),
	};
	static const char *const wanted[] = {
		"\r\nAuthorization: Bearer a=b,c%20d\r\n",
		"\r\nx-one: 1\r\n",
		"\r\nX-Two: two, words=\r\n",
		"\r\nx-three:\r\n",
		"\r\nUser-Agent: site/1\r\n",
		"\r\nX-Last: plain\r\n",
	};
	struct exchange exchange = exchange_as(settings, sample_small(), &ok, 1);

	(void)state;
	exchange_check(&exchange, LENS_VERDICT_DONE, NULL);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!strstr(exchange.request, wanted[i]))
			fail_msg("no `%s` in:\n%s", wanted[i], exchange.request);
}

static void bad_headers_are_told_without_their_values(void **state)
{
	static const struct {
		const char *text;
		const char *message;
	} cases[] = {
		{ "a: b\n\nhunter2-secret", "HeadersFile: line 3: neither `Name: value`" },
		{ "a=b,hunter2-secret", "HeadersFile: line 1: neither" },
		{ ": hunter2-secret", "HeadersFile: line 1: no header's name" },
		{ "bad name: hunter2-secret", "HeadersFile: line 1: no header's name" },
		{ "x=hunter2-secret%0d%0aHost:%20evil", "line 1: a control character" },
		{ "x: hunter2-secret\001", "line 1: a control character" },
		{ "content-type: hunter2-secret", "line 1: a header that slurm-lens sets itself" },
		{ "Content-Length: hunter2-secret", "line 1: a header that" },
		{ "HOST: hunter2-secret", "line 1: a header that" },
		{ "transfer-encoding=hunter2-secret", "line 1: a header that" },
		{ "grpc-timeout=hunter2-secret", "line 1: a header that" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lens_exporter_settings settings = {
			.kind = LENS_EXPORTER_HTTP_PROTOBUF,
			.endpoint = "http://127.0.0.1:1",
			.headers = blob(cases[i].text),
		};
		struct lens_error err = LENS_ERROR_INIT;

		assert_null(lens_exporter_create(&settings, &err));
		if (!strstr(err.text, cases[i].message) || strstr(err.text, "hunter2"))
			fail_msg("`%s`: %s", cases[i].text, err.text);
	}
}

/* A NUL would end the header early; a file beyond the limit is refused whole. */
static void odd_header_files_are_refused(void **state)
{
	static char large[65 * 1024];
	const struct lens_blob blobs[] = {
		{ "x: a\0", 5 }, { "x: a\0b", 6 }, { "x=a%00b", 7 }, { large, 65 * 1024 }
	};

	(void)state;
	memset(large, '\n', sizeof(large));
	for (size_t i = 0; i < sizeof(blobs) / sizeof(blobs[0]); i++) {
		const struct lens_exporter_settings settings = {
			.kind = LENS_EXPORTER_HTTP_PROTOBUF,
			.endpoint = "http://127.0.0.1:1",
			.headers = blobs[i],
		};
		struct lens_error err = LENS_ERROR_INIT;

		assert_null(lens_exporter_create(&settings, &err));
		assert_non_null(strstr(err.text, "HeadersFile: "));
	}
}

/* A server may well say which token it did not like. */
static void a_secret_that_the_server_repeats_is_not_logged(void **state)
{
	static const struct scripted_call call = {
		.trailers = { ":status: 200", "content-type: application/grpc", "grpc-status: 16",
			      "grpc-message: token s3cr3t-t0ken is over, not Bearer s3cr3t-t0ken" },
	};
	struct scripted_server *server = scripted_grpc_start(&call, 1);
	struct lens_exporter_settings settings = {
		.kind = LENS_EXPORTER_GRPC, .headers = blob("authorization: Bearer s3cr3t-t0ken")
	};
	struct lens_batch *batch = sample_small();
	struct lens_export_result result;
	struct lens_exporter *exporter;
	char endpoint[64], request[8];

	(void)state;
	snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%d", server->port);
	settings.endpoint = endpoint;
	exporter = exporter_create(&settings);
	lens_exporter_export(exporter, batch, &result);
	assert_int_equal(result.verdict, LENS_VERDICT_DROP);
	assert_non_null(strstr(result.message, "(16): token *** is over, not *** ***"));
	assert_null(strstr(result.message, "s3cr3t"));
	lens_exporter_destroy(exporter);
	lens_batch_destroy(batch);
	scripted_server_stop(server, request, sizeof(request));
}

/* SETTINGS by way of a proxy that gives ANSWER; the request that it got. */
static struct lens_export_result by_proxy(struct lens_exporter_settings settings,
					  const struct scripted_answer *answer, char *request,
					  size_t size)
{
	struct scripted_server *server = scripted_server_start(answer, 1);
	struct lens_batch *batch = sample_small();
	struct lens_export_result result;
	struct lens_exporter *exporter;
	char proxy[64];

	snprintf(proxy, sizeof(proxy), "http://u:p@127.0.0.1:%d", server->port);
	settings.proxy = proxy;
	exporter = exporter_create(&settings);
	lens_exporter_export(exporter, batch, &result);
	lens_exporter_destroy(exporter);
	lens_batch_destroy(batch);
	scripted_server_stop(server, request, size);
	return result;
}

static void the_proxy_is_the_settings_alone(void **state)
{
	const struct lens_exporter_settings settings = { .kind = LENS_EXPORTER_HTTP_PROTOBUF,
							 .endpoint = "http://collector.test:4318" };
	struct lens_export_result result;
	char request[2048];

	(void)state;
	setenv("no_proxy", "*", 1);
	setenv("http_proxy", "http://127.0.0.1:1", 1);
	result = by_proxy(settings, &ok, request, sizeof(request));
	unsetenv("no_proxy");
	unsetenv("http_proxy");
	assert_string_equal(result.message, "");
	assert_int_equal(result.verdict, LENS_VERDICT_DONE);
	assert_int_equal(
		strncmp(request, "POST http://collector.test:4318/v1/traces HTTP/1.1\r\n", 51), 0);
	assert_non_null(strstr(request, "\r\nProxy-Authorization: Basic "));
}

/* What a proxy says to CONNECT is no answer of the collector: nothing is dropped. */
static void a_proxys_refusal_is_retried(void **state)
{
	static const struct scripted_answer refused = {
		.bytes = ANSWER("403 Forbidden", EMPTY, ""),
		.length = sizeof(ANSWER("403 Forbidden", EMPTY, "")) - 1,
	};
	static const struct lens_exporter_settings settings[] = {
		{ .kind = LENS_EXPORTER_GRPC, .endpoint = "http://collector.test:4317" },
		{ .kind = LENS_EXPORTER_HTTP_JSON, .endpoint = "https://collector.test:4318" },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char request[2048];
		struct lens_export_result result =
			by_proxy(settings[i], &refused, request, sizeof(request));

		assert_int_equal(strncmp(request, "CONNECT collector.test:43", 25), 0);
		if (result.verdict != LENS_VERDICT_RETRY || !result.message[0] ||
		    strstr(result.message, "u:p@"))
			fail_msg("%zu: verdict %d: %s", i, (int)result.verdict, result.message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_is_posted_as_json),
		cmocka_unit_test(json_answers_are_read),
		cmocka_unit_test(gzip_over_http),
		cmocka_unit_test(gzip_over_grpc),
		cmocka_unit_test(the_sites_headers_go_along),
		cmocka_unit_test(bad_headers_are_told_without_their_values),
		cmocka_unit_test(odd_header_files_are_refused),
		cmocka_unit_test(a_secret_that_the_server_repeats_is_not_logged),
		cmocka_unit_test(the_proxy_is_the_settings_alone),
		cmocka_unit_test(a_proxys_refusal_is_retried),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
