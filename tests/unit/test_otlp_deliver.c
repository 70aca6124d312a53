/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/deliver.h"

#include "lib/core/clock.h"

#include "tests/unit/otlp_exchange.h"

#include <stdlib.h>

#define BUSY ANSWER("503 Service Unavailable", EMPTY, "")
#define OK   ANSWER("200 OK", EMPTY, "")

struct delivery {
	struct lens_export_result result;
	int accepts;
	double seconds;
};

/* Delivers a batch to a server that gives ANSWERS. */
static struct delivery deliver(const struct scripted_answer *answers, size_t count,
			       unsigned int patience_ms, bool (*stop)(void))
{
	struct scripted_server *server = scripted_server_start(answers, count);
	struct lens_patience patience = { lens_clock_ms() + patience_ms, stop };
	struct lens_batch *batch = sample_small();
	struct delivery out = { 0 };
	char endpoint[64], request[64];
	double begin = exchange_now();
	size_t length;
	uint8_t *bytes = lens_exporter_encode(LENS_EXPORTER_HTTP_PROTOBUF, batch, &length);
	struct lens_exporter *exporter;

	snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%d", server->port);
	exporter = exporter_create(&(struct lens_exporter_settings){
		.kind = LENS_EXPORTER_HTTP_PROTOBUF,
		.endpoint = endpoint,
		.timeout_ms = patience_ms,
		.cancelled = lens_patience_over,
		.cancelled_context = &patience,
	});
	lens_deliver(exporter, bytes, length, &patience, &out.result);
	out.seconds = exchange_now() - begin;
	out.accepts = server->accepts;
	lens_exporter_destroy(exporter);
	free(bytes);
	lens_batch_destroy(batch);
	scripted_server_stop(server, request, sizeof(request));
	return out;
}

static struct scripted_answer answer(const char *bytes)
{
	return (struct scripted_answer){ .bytes = bytes, .length = strlen(bytes) };
}

static void what_is_busy_is_asked_again(void **state)
{
	const struct scripted_answer answers[] = { answer(BUSY), answer(OK) };
	struct delivery out = deliver(answers, 2, 60000, NULL);

	(void)state;
	assert_int_equal(out.result.verdict, LENS_VERDICT_DONE);
	assert_string_equal(out.result.message, "");
	assert_int_equal(out.accepts, 2);
}

static void the_receivers_own_pause_is_kept(void **state)
{
	const struct scripted_answer answers[] = {
		answer(ANSWER("429 Too Many Requests", "Retry-After: 2\r\n" EMPTY, "")),
		answer(OK),
	};
	struct delivery out = deliver(answers, 2, 60000, NULL);

	(void)state;
	assert_int_equal(out.result.verdict, LENS_VERDICT_DONE);
	assert_true(out.seconds >= 2);
}

/* A pause that would outlast the patience is not begun. */
static void a_pause_that_is_too_long_ends_it(void **state)
{
	const struct scripted_answer answers[] = {
		answer(ANSWER("503 Service Unavailable", "Retry-After: 3600\r\n" EMPTY, "")),
	};
	struct delivery out = deliver(answers, 1, 60000, NULL);

	(void)state;
	assert_int_equal(out.result.verdict, LENS_VERDICT_RETRY);
	assert_non_null(strstr(out.result.message, "503"));
	assert_true(out.seconds < 50);
}

static void a_refusal_is_final(void **state)
{
	const struct scripted_answer answers[] = {
		answer(ANSWER("400 Bad Request", EMPTY, "")),
		answer(OK),
	};
	struct delivery out = deliver(answers, 2, 60000, NULL);

	(void)state;
	assert_int_equal(out.result.verdict, LENS_VERDICT_DROP);
	assert_int_equal(out.accepts, 1);
}

static void silence_ends_with_the_patience(void **state)
{
	const struct scripted_answer answers[] = { { .bytes = "", .hold = true } };
	struct delivery out = deliver(answers, 1, 500, NULL);

	(void)state;
	assert_int_equal(out.result.verdict, LENS_VERDICT_RETRY);
	assert_true(out.seconds >= 0.4);
	assert_int_equal(strncmp(out.result.message, "http://127.0.0.1:", 17), 0);
}

/* What the last whole try said is told, not that the one after it was cut off. */
static void a_try_that_was_cut_off_says_nothing(void **state)
{
	const struct scripted_answer answers[] = { answer(BUSY), { .bytes = "", .hold = true } };
	struct delivery out = deliver(answers, 2, 2500, NULL);

	(void)state;
	assert_int_equal(out.result.verdict, LENS_VERDICT_RETRY);
	assert_int_equal(out.accepts, 2);
	assert_non_null(strstr(out.result.message, "503"));
}

static bool stopped(void)
{
	return true;
}

static void a_stop_ends_it(void **state)
{
	const struct scripted_answer answers[] = { { .bytes = "", .hold = true } };
	struct delivery out = deliver(answers, 1, 60000, stopped);

	(void)state;
	assert_int_equal(out.result.verdict, LENS_VERDICT_RETRY);
	assert_true(out.seconds < 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_busy_is_asked_again),
		cmocka_unit_test(the_receivers_own_pause_is_kept),
		cmocka_unit_test(a_pause_that_is_too_long_ends_it),
		cmocka_unit_test(a_refusal_is_final),
		cmocka_unit_test(silence_ends_with_the_patience),
		cmocka_unit_test(a_try_that_was_cut_off_says_nothing),
		cmocka_unit_test(a_stop_ends_it),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
