/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/environment.h"

#include "lib/core/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define E "OTEL_EXPORTER_OTLP_"
#define T "OTEL_EXPORTER_OTLP_TRACES_"

static void told(void *context, const char *text)
{
	lens_text_addf(context, "%s\n", text);
}

/* Reads ENV and demands what is SAID of it, lines. */
static struct lens_otel_environment read_env(const char *const *env, const char *said)
{
	struct lens_otel_environment otel;
	struct lens_text text = LENS_TEXT_INIT;
	char *got;

	assert_int_equal(lens_otel_environment_read(&otel, (char *const *)env, told, &text), 0);
	got = lens_text_take(&text);
	assert_string_equal(got, said);
	free(got);
	return otel;
}

static void without_a_variable_the_defaults_hold(void **state)
{
	const char *const env[] = { "PATH=/bin", E "ENDPOINT=", T "PROTOCOL=", E "TIMEOUT=", NULL };
	struct lens_otel_environment otel = read_env(env, "");

	(void)state;
	assert_false(otel.disabled);
	assert_true(otel.otlp);
	assert_false(otel.console);
	assert_int_equal(otel.kind, LENS_EXPORTER_HTTP_PROTOBUF);
	assert_string_equal(otel.endpoint, "http://localhost:4318");
	assert_false(otel.endpoint_whole);
	assert_int_equal(otel.compression, LENS_COMPRESSION_NONE);
	assert_int_equal(otel.timeout_ms, 10000);
	assert_null(otel.headers);
	assert_null(otel.certificate);
	lens_otel_environment_clear(&otel);
	assert_null(otel.endpoint);
}

static void protocol_and_endpoint(void **state)
{
	static const struct {
		const char *env[5];
		const char *endpoint;
		enum lens_exporter_kind kind;
		bool whole;
	} cases[] = {
		{ { E "PROTOCOL=grpc" }, "http://localhost:4317", LENS_EXPORTER_GRPC, false },
		{ { E "PROTOCOL=HTTP/JSON" },
		  "http://localhost:4318",
		  LENS_EXPORTER_HTTP_JSON,
		  false },
		{ { E "PROTOCOL=grpc", T "PROTOCOL=http/protobuf" },
		  "http://localhost:4318",
		  LENS_EXPORTER_HTTP_PROTOBUF,
		  false },
		{ { E "ENDPOINT=http://c:1/x" },
		  "http://c:1/x",
		  LENS_EXPORTER_HTTP_PROTOBUF,
		  false },
		{ { E "ENDPOINT=http://c:1", T "ENDPOINT=http://t:2/y" },
		  "http://t:2/y",
		  LENS_EXPORTER_HTTP_PROTOBUF,
		  true },
		{ { E "ENDPOINT=http://c:1", T "ENDPOINT=" },
		  "http://c:1",
		  LENS_EXPORTER_HTTP_PROTOBUF,
		  false },
		/* gRPC: the path is the service's, and a scheme may be left out. */
		{ { E "PROTOCOL=grpc", T "ENDPOINT=http://t:2/y" },
		  "http://t:2/y",
		  LENS_EXPORTER_GRPC,
		  false },
		{ { E "PROTOCOL=grpc", E "ENDPOINT=c:4317" },
		  "https://c:4317",
		  LENS_EXPORTER_GRPC,
		  false },
		{ { E "PROTOCOL=grpc", E "ENDPOINT=c:4317", E "INSECURE=True" },
		  "http://c:4317",
		  LENS_EXPORTER_GRPC,
		  false },
		{ { E "PROTOCOL=grpc", E "ENDPOINT=c:4317", E "INSECURE=true", T "INSECURE=false" },
		  "https://c:4317",
		  LENS_EXPORTER_GRPC,
		  false },
		/* The scheme beats it; http has none to leave out. */
		{ { E "PROTOCOL=grpc", E "ENDPOINT=https://c", E "INSECURE=true" },
		  "https://c",
		  LENS_EXPORTER_GRPC,
		  false },
		{ { E "ENDPOINT=c:4318", E "INSECURE=true" },
		  "c:4318",
		  LENS_EXPORTER_HTTP_PROTOBUF,
		  false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_otel_environment otel = read_env(cases[i].env, "");

		assert_string_equal(otel.endpoint, cases[i].endpoint);
		assert_int_equal(otel.kind, cases[i].kind);
		assert_int_equal(otel.endpoint_whole, cases[i].whole);
		lens_otel_environment_clear(&otel);
	}
}

static void the_signals_variable_beats_the_general_one(void **state)
{
	const char *const env[] = {
		E "HEADERS=a=1",
		T "HEADERS=b=2",
		E "TIMEOUT=1",
		T "TIMEOUT=2000",
		E "COMPRESSION=none",
		T "COMPRESSION=GZIP",
		E "CERTIFICATE=/general",
		E "CLIENT_CERTIFICATE=/general.cert",
		T "CLIENT_CERTIFICATE=/signal.cert",
		T "CLIENT_KEY=/signal.key",
		NULL,
	};
	struct lens_otel_environment otel = read_env(env, "");

	(void)state;
	assert_string_equal(otel.headers, "b=2");
	assert_string_equal(otel.headers_name, T "HEADERS");
	assert_int_equal(otel.timeout_ms, 2000);
	assert_int_equal(otel.compression, LENS_COMPRESSION_GZIP);
	assert_string_equal(otel.certificate, "/general");
	assert_string_equal(otel.certificate_name, E "CERTIFICATE");
	assert_string_equal(otel.client_certificate, "/signal.cert");
	assert_string_equal(otel.client_certificate_name, T "CLIENT_CERTIFICATE");
	assert_string_equal(otel.client_key, "/signal.key");
	lens_otel_environment_clear(&otel);
}

static void which_exporters(void **state)
{
	static const struct {
		const char *value;
		bool otlp, console;
		const char *said;
	} cases[] = {
		{ "otlp", true, false, "" },
		{ "OTLP", true, false, "" },
		{ "console", false, true, "" },
		{ "none", false, false, "" },
		{ "otlp, console", true, true, "" },
		{ "zipkin", true, false,
		  "OTEL_TRACES_EXPORTER=zipkin: not otlp, console or none; ignored\n" },
		{ "console,zipkin", false, true,
		  "OTEL_TRACES_EXPORTER=console,zipkin: not otlp, console or none; ignored\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char variable[64];
		const char *const env[] = { variable, NULL };
		struct lens_otel_environment otel;

		snprintf(variable, sizeof(variable), "OTEL_TRACES_EXPORTER=%s", cases[i].value);
		otel = read_env(env, cases[i].said);
		assert_int_equal(otel.otlp, cases[i].otlp);
		assert_int_equal(otel.console, cases[i].console);
		lens_otel_environment_clear(&otel);
	}
}

static void only_true_disables(void **state)
{
	static const struct {
		const char *variable, *said;
		bool disabled;
	} cases[] = {
		{ "OTEL_SDK_DISABLED=true", "", true },
		{ "OTEL_SDK_DISABLED=TRUE", "", true },
		{ "OTEL_SDK_DISABLED=false", "", false },
		{ "OTEL_SDK_DISABLED=", "", false },
		{ "OTEL_SDK_DISABLED=1", "OTEL_SDK_DISABLED=1: not true or false; ignored\n",
		  false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *const env[] = { cases[i].variable, NULL };
		struct lens_otel_environment otel = read_env(env, cases[i].said);

		assert_int_equal(otel.disabled, cases[i].disabled);
		lens_otel_environment_clear(&otel);
	}
}

static void what_cannot_be_read_is_told_and_ignored(void **state)
{
	const char *const env[] = {
		T "PROTOCOL=udp",
		E "TIMEOUT=-5",
		E "COMPRESSION=zstd",
		NULL,
	};
	struct lens_otel_environment otel =
		read_env(env, T "PROTOCOL=udp: not grpc, http/protobuf or http/json; ignored\n" E
				"TIMEOUT=-5: not a number of milliseconds; ignored\n" E
				"COMPRESSION=zstd: not gzip or none; ignored\n");

	(void)state;
	assert_int_equal(otel.kind, LENS_EXPORTER_HTTP_PROTOBUF);
	assert_int_equal(otel.timeout_ms, 10000);
	assert_int_equal(otel.compression, LENS_COMPRESSION_NONE);
	lens_otel_environment_clear(&otel);
}

static void no_limit_is_zero(void **state)
{
	const char *const env[] = { E "TIMEOUT=0", NULL };
	struct lens_otel_environment otel = read_env(env, "");

	(void)state;
	assert_int_equal(otel.timeout_ms, 0);
	lens_otel_environment_clear(&otel);
}

static void messages_name_the_variables(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "Endpoint: `x`: no", T "ENDPOINT: `x`: no" },
		{ "HeadersFile: line 1: bad", E "HEADERS: bad" },
		{ "CertificateFile: it holds no PEM", E "CERTIFICATE: it holds no PEM" },
		{ "ClientCertificateFile and ClientKeyFile go together",
		  E "CLIENT_CERTIFICATE and " T "CLIENT_KEY go together" },
		{ "http://h/: a port of gRPC wants Protocol=grpc",
		  "http://h/: a port of gRPC wants " E "PROTOCOL=grpc" },
		{ "http://Endpoints/x", "http://Endpoints/x" },
		{ "http://h/: HTTP 404: Endpoint not found",
		  "http://h/: HTTP 404: Endpoint not found" },
		{ "", "" },
	};
	const char *const env[] = { T "ENDPOINT=http://x", T "CLIENT_KEY=k", NULL };
	struct lens_otel_environment otel = read_env(env, "");
	char text[128], small[20] = "Endpoint: gone";

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "%s", cases[i].text);
		lens_otel_environment_explain(&otel, text, sizeof(text));
		assert_string_equal(text, cases[i].want);
	}
	lens_otel_environment_explain(&otel, small, sizeof(small));
	assert_string_equal(small, "OTEL_EXPORTER_OTLP_");
	lens_otel_environment_clear(&otel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_variable_the_defaults_hold),
		cmocka_unit_test(protocol_and_endpoint),
		cmocka_unit_test(the_signals_variable_beats_the_general_one),
		cmocka_unit_test(which_exporters),
		cmocka_unit_test(only_true_disables),
		cmocka_unit_test(what_cannot_be_read_is_told_and_ignored),
		cmocka_unit_test(no_limit_is_zero),
		cmocka_unit_test(messages_name_the_variables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
