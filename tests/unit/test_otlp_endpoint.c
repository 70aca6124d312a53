/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/endpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_bases_are_joined(void **state)
{
	static const struct {
		const char *base, *url, *shown;
		bool doubled;
	} cases[] = {
		{ "http://h:4318", "http://h:4318/v1/traces", NULL, false },
		{ "http://h:4318/", "http://h:4318/v1/traces", NULL, false },
		{ "http://h:4318/my", "http://h:4318/my/v1/traces", NULL, false },
		{ "http://h:4318/my/", "http://h:4318/my/v1/traces", NULL, false },
		{ "http://h:4318/v1/traces", "http://h:4318/v1/traces/v1/traces", NULL, true },
		{ "http://h:4318/v1/traces/", "http://h:4318/v1/traces/v1/traces", NULL, true },
		{ "http://h:4318/xv1/traces", "http://h:4318/xv1/traces/v1/traces", NULL, false },
		{ "https://h", "https://h/v1/traces", NULL, false },
		{ "HTTP://h:4318", "http://h:4318/v1/traces", NULL, false },
		{ "hTTps://h:1", "https://h:1/v1/traces", NULL, false },
		{ "http://[::1]:4318", "http://[::1]:4318/v1/traces", NULL, false },
		{ "http://[2001:db8::1]", "http://[2001:db8::1]/v1/traces", NULL, false },
		{ "http://h:65535/a%20b", "http://h:65535/a%20b/v1/traces", NULL, false },
		{ "http://h/my?key=s3cret", "http://h/my/v1/traces?key=s3cret",
		  "http://h/my/v1/traces", false },
		{ "https://user:s3cret@h:4318", "https://user:s3cret@h:4318/v1/traces",
		  "https://***@h:4318/v1/traces", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_endpoint endpoint;
		struct lens_error err = LENS_ERROR_INIT;

		if (lens_endpoint_resolve(&endpoint, cases[i].base, &err) < 0)
			fail_msg("%s: %s", cases[i].base, err.text);
		assert_string_equal(endpoint.url, cases[i].url);
		assert_string_equal(endpoint.shown, cases[i].shown ? cases[i].shown : cases[i].url);
		assert_int_equal(endpoint.doubled, cases[i].doubled);
		lens_endpoint_clear(&endpoint);
		assert_null(endpoint.url);
	}
}

static void test_whole_urls_stay_as_they_are(void **state)
{
	static const struct {
		const char *url, *want;
	} cases[] = {
		{ "http://h:4318", "http://h:4318/" },
		{ "http://h:4318/", "http://h:4318/" },
		{ "http://h:4318/my", "http://h:4318/my" },
		{ "http://h:4318/v1/traces", "http://h:4318/v1/traces" },
		{ "https://h/a/?k=v", "https://h/a/?k=v" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_endpoint endpoint;
		struct lens_error err = LENS_ERROR_INIT;

		if (lens_endpoint_resolve_whole(&endpoint, cases[i].url, &err) < 0)
			fail_msg("%s: %s", cases[i].url, err.text);
		assert_string_equal(endpoint.url, cases[i].want);
		assert_false(endpoint.doubled);
		lens_endpoint_clear(&endpoint);
	}
}

static void test_bad_bases_are_told(void **state)
{
	static const struct {
		const char *base, *said;
	} cases[] = {
		{ NULL, "not set" },
		{ "", "not set" },
		{ "h:4318", "http://HOST" },
		{ "localhost", "http://HOST" },
		{ "unix:///run/otel.sock", "only http:// and https://" },
		{ "file:///etc/shadow", "only http:// and https://" },
		{ "ftp://h", "only http:// and https://" },
		{ "gopher://h", "only http:// and https://" },
		{ "httpx://h", "only http:// and https://" },
		{ "://h", "only http:// and https://" },
		{ "http://", "no host" },
		{ "http:///v1", "no host" },
		{ "http://:4318", "no host" },
		{ "http://user@", "no host" },
		{ "http://::1:4318", "brackets" },
		{ "http://fe80::1", "brackets" },
		{ "http://h:0", "port" },
		{ "http://h:65536", "port" },
		{ "http://h:43x8", "port" },
		{ "http://h o", "well-formed" },
		{ "http://h/a b", "well-formed" },
		{ "http://[::1", "well-formed" },
		{ "http://h/#top", "fragment" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_endpoint endpoint;
		struct lens_error err = LENS_ERROR_INIT;

		if (lens_endpoint_resolve(&endpoint, cases[i].base, &err) == 0)
			fail_msg("%s was taken", cases[i].base);
		if (!strstr(err.text, cases[i].said) || !strstr(err.text, "Endpoint"))
			fail_msg("%s: said `%s`", cases[i].base ? cases[i].base : "NULL", err.text);
		assert_null(endpoint.url);
		assert_null(endpoint.shown);
		assert_int_equal(lens_endpoint_resolve(&endpoint, cases[i].base, NULL), -1);
	}
}

/* Whatever is wrong with the URL, a password in it is not in the message. */
static void test_secrets_are_not_told(void **state)
{
	static const char *const bases[] = {
		"http://user:s3cret@h:99999",
		"http://user:s3/s3cret@h",
		"http://user:s3?s3cret@h",
		"http://user:s3#s3cret@h",
		"ftp://user:s3cret@h",
		"user:s3cret@h:4318",
		"http://h:99999/?token=s3cret",
		"http://user:s@s3cret@h:0",
		"http://s3cret@::1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		struct lens_endpoint endpoint;
		struct lens_error err = LENS_ERROR_INIT;

		assert_int_equal(lens_endpoint_resolve(&endpoint, bases[i], &err), -1);
		if (strstr(err.text, "s3cret"))
			fail_msg("%s", err.text);
	}
}

static void test_redacted_is_one_line(void **state)
{
	char *shown = lens_endpoint_redact("http://a:b@h\n-\x7f-\x01/x?q#f");

	(void)state;
	assert_string_equal(shown, "http://***@h?-?-?/x");
	free(shown);
}

/* gRPC has a path of its own; whatever stands in the URL behind the host does not count. */
static void test_grpc(void **state)
{
	static const struct {
		const char *base, *begin;
	} cases[] = {
		{ "http://h:4317", "http://h:4317/" },
		{ "HTTPS://h", "https://h/" },
		{ "http://[::1]:4317/", "http://[::1]:4317/" },
		{ "https://h:4317/v1/traces?x=y", "https://h:4317/" },
	};
	static const char method[] = "opentelemetry.proto.collector.trace.v1.TraceService/Export";
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_endpoint endpoint;
	char url[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(url, sizeof(url), "%s%s", cases[i].begin, method);
		assert_int_equal(lens_endpoint_resolve_grpc(&endpoint, cases[i].base, NULL), 0);
		assert_string_equal(endpoint.url, url);
		assert_string_equal(endpoint.shown, url);
		assert_false(endpoint.doubled);
		lens_endpoint_clear(&endpoint);
	}
	assert_int_equal(lens_endpoint_resolve_grpc(&endpoint, "h:4317", &err), -1);
	assert_non_null(strstr(err.text, "Endpoint: `h:4317`: write it as "));
	assert_null(endpoint.url);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bases_are_joined),
		cmocka_unit_test(test_whole_urls_stay_as_they_are),
		cmocka_unit_test(test_bad_bases_are_told),
		cmocka_unit_test(test_secrets_are_not_told),
		cmocka_unit_test(test_redacted_is_one_line),
		cmocka_unit_test(test_grpc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
