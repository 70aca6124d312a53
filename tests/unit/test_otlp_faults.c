/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/otlp_exchange.h"
#include "tests/unit/scripted_grpc.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

/* What networks do, to each protocol that uses one. */
static const enum lens_exporter_kind kinds[] = { LENS_EXPORTER_HTTP_PROTOBUF,
						 LENS_EXPORTER_HTTP_JSON, LENS_EXPORTER_GRPC };

static const char *const paths[] = {
	"/v1/traces", "/v1/traces", "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* An export of the kind number KIND to ENDPOINT. */
static struct exchange exchange_to(size_t kind, const char *endpoint, unsigned int timeout_ms)
{
	const struct lens_exporter_settings settings = { .kind = kinds[kind],
							 .endpoint = endpoint,
							 .timeout_ms = timeout_ms };
	struct lens_exporter *exporter = exporter_create(&settings);
	struct lens_batch *batch = sample_small();
	struct exchange exchange = { 0 };
	double begin = exchange_now();

	snprintf(exchange.url, sizeof(exchange.url), "%s%s", endpoint, paths[kind]);
	lens_exporter_export(exporter, batch, &exchange.result);
	exchange.seconds = exchange_now() - begin;
	lens_exporter_destroy(exporter);
	lens_batch_destroy(batch);
	return exchange;
}

/* A connection to PORT that may still be on its way; the caller closes. */
static int connect_begin(int port)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_port = htons((uint16_t)port),
					     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		assert_int_equal(errno, EINPROGRESS);
	return fd;
}

/* A listener whose queue is full: the kernel drops what knocks, as a firewall would. */
static void a_black_hole_costs_the_timeout(void **state)
{
	int port = 0, listener = scripted_listen(&port), waiting[4];
	char endpoint[64];

	(void)state;
	assert_true(listener >= 0);
	assert_int_equal(listen(listener, 0), 0);
	for (size_t i = 0; i < 4; i++)
		waiting[i] = connect_begin(port);
	snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%d", port);
	for (size_t kind = 0; kind < KINDS; kind++) {
		struct exchange exchange = exchange_to(kind, endpoint, 300);

		exchange_check(&exchange, LENS_VERDICT_RETRY, ": no answer within 300 ms");
		assert_true(exchange.seconds >= 0.29 && exchange.seconds < 2);
	}
	for (size_t i = 0; i < 4; i++)
		close(waiting[i]);
	close(listener);
}

/* Slow is no fault until the time is up. */
static void a_slow_answer_has_the_timeout_to_come(void **state)
{
	static const struct scripted_answer slow = { .bytes = ANSWER("200 OK", EMPTY, ""),
						     .length = sizeof(ANSWER("200 OK", EMPTY, "")) -
							       1,
						     .drip_us = 20000 };
	struct exchange exchange = exchange_run(sample_small(), &slow, 1, 20000);

	(void)state;
	exchange_check(&exchange, LENS_VERDICT_DONE, NULL);
	assert_true(exchange.seconds > 0.5);
	exchange = exchange_run(sample_small(), &slow, 1, 200);
	exchange_check(&exchange, LENS_VERDICT_RETRY, ": no answer within 200 ms");
	assert_true(exchange.seconds < 2);
}

static void nobody_listens(void **state)
{
	char endpoint[64];

	(void)state;
	snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%d", scripted_port_closed());
	for (size_t kind = 0; kind < KINDS; kind++) {
		struct exchange exchange = exchange_to(kind, endpoint, 5000);

		exchange_check(&exchange, LENS_VERDICT_RETRY, ": connection refused");
		assert_true(exchange.seconds < 2);
	}
}

/* `.invalid` has no addresses (RFC 6761). */
static void a_name_that_is_not_known(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < KINDS; kind++) {
		struct exchange exchange = exchange_to(kind, "http://collector.invalid:1", 10000);

		exchange_check(&exchange, LENS_VERDICT_RETRY, ": ");
	}
}

/* A port that speaks the other version of HTTP: the batch is kept. */
static void grpc_and_http_on_the_wrong_port(void **state)
{
	static const struct scripted_call call = { .trailers = { ":status: 415" }, .end = true };
	static const char http[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
	static const struct scripted_answer answer = { .bytes = http, .length = sizeof(http) - 1 };
	struct scripted_server *grpc_server = scripted_grpc_start(&call, 1);
	struct scripted_server *http_server = scripted_server_start(&answer, 1);
	struct exchange exchange;
	char endpoint[64];

	(void)state;
	snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%d", grpc_server->port);
	exchange = exchange_to(0, endpoint, 500);
	exchange_check(&exchange, LENS_VERDICT_RETRY, ": ");
	snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%d", http_server->port);
	exchange = exchange_to(2, endpoint, 500);
	exchange_check(&exchange, LENS_VERDICT_RETRY, ": ");
	scripted_server_stop(grpc_server, exchange.request, sizeof(exchange.request));
	scripted_server_stop(http_server, exchange.request, sizeof(exchange.request));
}

static void play_ipv6(int listener, struct scripted_server *server, const void *script)
{
	const int *own = script;

	close(listener);
	scripted_play_answers(*own, server,
			      &(const struct scripted_answers){
				      &(const struct scripted_answer){
					      .bytes = ANSWER("200 OK", EMPTY, ""),
					      .length = sizeof(ANSWER("200 OK", EMPTY, "")) - 1 },
				      1 });
}

static void an_ipv6_address_in_brackets(void **state)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_addr = in6addr_loopback };
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t length = sizeof(address);
	struct scripted_server *server;
	struct exchange exchange;
	char endpoint[64], host[80];

	(void)state;
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) < 0) {
		print_message("# no IPv6 on this machine\n");
		close(fd);
		skip();
	}
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
	server = scripted_server_play(play_ipv6, &fd);
	close(fd);
	snprintf(endpoint, sizeof(endpoint), "http://[::1]:%d", ntohs(address.sin6_port));
	exchange = exchange_to(0, endpoint, 5000);
	exchange_check(&exchange, LENS_VERDICT_DONE, NULL);
	scripted_server_stop(server, exchange.request, sizeof(exchange.request));
	snprintf(host, sizeof(host), "\r\nHost: [::1]:%d\r\n", ntohs(address.sin6_port));
	assert_non_null(strstr(exchange.request, host));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_black_hole_costs_the_timeout),
		cmocka_unit_test(a_slow_answer_has_the_timeout_to_come),
		cmocka_unit_test(nobody_listens),
		cmocka_unit_test(a_name_that_is_not_known),
		cmocka_unit_test(grpc_and_http_on_the_wrong_port),
		cmocka_unit_test(an_ipv6_address_in_brackets),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
