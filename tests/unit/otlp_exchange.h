/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_OTLP_EXCHANGE_H
#define LENS_TESTS_OTLP_EXCHANGE_H

#include "lib/otlp/exporter.h"
#include "tests/unit/otlp_sample.h"
#include "tests/unit/scripted_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <cmocka.h>

/* One export to a scripted server, and what came of it. */
#define ANSWER(status, headers, body) "HTTP/1.1 " status "\r\n" headers "\r\n" body
#define EMPTY                         "Content-Length: 0\r\n"

struct exchange {
	struct lens_export_result result;
	char request[8192];
	size_t request_length;
	char url[128];
	double seconds;
	size_t flooded;
};

static inline double exchange_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static inline struct lens_exporter *exporter_create(const struct lens_exporter_settings *settings)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_exporter *exporter = lens_exporter_create(settings, &err);

	if (!exporter)
		fail_msg("%s", err.text);
	return exporter;
}

static inline struct lens_exporter *exporter_for(const char *endpoint, unsigned int timeout_ms)
{
	const struct lens_exporter_settings settings = {
		.kind = LENS_EXPORTER_HTTP_PROTOBUF,
		.endpoint = endpoint,
		.timeout_ms = timeout_ms,
		.user_agent = "lens-test/1.2",
	};

	return exporter_create(&settings);
}

/* Sends BATCH by EXPORTER to SERVER, and takes the result; all three are gone then. */
static inline void exchange_make(struct exchange *exchange, struct lens_exporter *exporter,
				 struct lens_batch *batch, struct scripted_server *server)
{
	double begin = exchange_now();

	lens_exporter_export(exporter, batch, &exchange->result);
	exchange->seconds = exchange_now() - begin;
	lens_exporter_destroy(exporter);
	exchange->flooded = server->flooded;
	exchange->request_length =
		scripted_server_stop(server, exchange->request, sizeof(exchange->request));
	lens_batch_destroy(batch);
}

/* Sends BATCH, which it frees, as SETTINGS say but to a server that gives ANSWERS, and takes the
 * result. */
static inline struct exchange exchange_as(struct lens_exporter_settings settings,
					  struct lens_batch *batch,
					  const struct scripted_answer *answers, size_t count)
{
	struct scripted_server *server = scripted_server_start(answers, count);
	struct exchange exchange = { 0 };
	struct lens_exporter *exporter;

	snprintf(exchange.url, sizeof(exchange.url) - 16, "http://127.0.0.1:%d", server->port);
	settings.endpoint = exchange.url;
	exporter = exporter_create(&settings);
	strcat(exchange.url, "/v1/traces");
	exchange_make(&exchange, exporter, batch, server);
	return exchange;
}

static inline struct exchange exchange_run(struct lens_batch *batch,
					   const struct scripted_answer *answers, size_t count,
					   unsigned int timeout_ms)
{
	const struct lens_exporter_settings settings = {
		.kind = LENS_EXPORTER_HTTP_PROTOBUF,
		.timeout_ms = timeout_ms,
		.user_agent = "lens-test/1.2",
	};

	return exchange_as(settings, batch, answers, count);
}

static inline struct exchange exchange_with(const char *bytes)
{
	const struct scripted_answer answer = { .bytes = bytes, .length = strlen(bytes) };

	return exchange_run(sample_small(), &answer, 1, 5000);
}

static inline void exchange_check(const struct exchange *exchange, enum lens_verdict verdict,
				  const char *message)
{
	if (exchange->result.verdict != verdict)
		fail_msg("verdict %d, message `%s`", (int)exchange->result.verdict,
			 exchange->result.message);
	if (!message) {
		assert_string_equal(exchange->result.message, "");
		return;
	}
	/* All messages say where. */
	assert_int_equal(strncmp(exchange->result.message, exchange->url, strlen(exchange->url)),
			 0);
	if (!strstr(exchange->result.message, message))
		fail_msg("said `%s`", exchange->result.message);
}

#endif
