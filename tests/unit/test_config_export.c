/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/scratch.h"

/* The keys that say how the agent sends. */
static char problems[4096];

static void note_problem(void *context, const char *text)
{
	(void)context;
	strcat(problems, text);
	strcat(problems, "\n");
}

/* The settings of a lens.conf of TEXT; the caller destroys. */
static struct lens_config *load(const struct scratch *scratch, const char *text)
{
	struct lens_config *config = lens_config_create();

	assert_non_null(config);
	scratch_write(scratch, "lens.conf", text);
	problems[0] = '\0';
	lens_config_load(config, 0, NULL, scratch_path(scratch, "lens.conf"), note_problem, NULL);
	return config;
}

static void nothing_is_set_by_default(void **state)
{
	struct lens_config *config = load(*state, "");

	assert_string_equal(problems, "");
	assert_int_equal(lens_config_protocol(config), LENS_PROTOCOL_FILE);
	assert_false(config->gzip);
	assert_string_equal(config->proxy, "");
	assert_string_equal(config->headers_file, "");
	assert_string_equal(config->certificate_file, "");
	assert_string_equal(config->client_certificate_file, "");
	assert_string_equal(config->client_key_file, "");
	lens_config_destroy(config);
}

static void all_of_them_are_read(void **state)
{
	struct lens_config *config =
		load(*state, "Endpoint=https://collector:4317\nprotocol=GRPC\nCompression=GZIP\n"
			     "Proxy=http://proxy:3128\nHeadersFile=/etc/lens/headers\n"
			     "CertificateFile=/etc/lens/ca.pem\n"
			     "ClientCertificateFile=/etc/lens/cert.pem\n"
			     "ClientKeyFile=/etc/lens/key.pem\n");

	assert_string_equal(problems, "");
	assert_int_equal(lens_config_protocol(config), LENS_PROTOCOL_GRPC);
	assert_true(config->gzip);
	assert_string_equal(config->proxy, "http://proxy:3128");
	assert_string_equal(config->headers_file, "/etc/lens/headers");
	assert_string_equal(config->certificate_file, "/etc/lens/ca.pem");
	assert_string_equal(config->client_certificate_file, "/etc/lens/cert.pem");
	assert_string_equal(config->client_key_file, "/etc/lens/key.pem");
	lens_config_destroy(config);
}

static void each_protocol_has_its_name(void **state)
{
	static const struct {
		const char *name;
		enum lens_protocol protocol;
	} cases[] = {
		{ "grpc", LENS_PROTOCOL_GRPC },
		{ "http/protobuf", LENS_PROTOCOL_HTTP_PROTOBUF },
		{ "http/json", LENS_PROTOCOL_HTTP_JSON },
		{ "file", LENS_PROTOCOL_FILE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_config *config = lens_config_create();

		assert_non_null(config);
		assert_int_equal(lens_config_set(config, "Protocol", cases[i].name, NULL), 0);
		assert_int_equal(lens_config_protocol(config), cases[i].protocol);
		assert_string_equal(lens_protocol_name(cases[i].protocol), cases[i].name);
		lens_config_destroy(config);
	}
}

static void an_empty_value_takes_a_setting_back(void **state)
{
	struct lens_config *config = load(*state, "HeadersFile=/etc/lens/headers\nHeadersFile=\n"
						  "Proxy=http://proxy:3128\nProxy=\n"
						  "Compression=gzip\nCompression=none\n");

	assert_string_equal(problems, "");
	assert_string_equal(config->headers_file, "");
	assert_string_equal(config->proxy, "");
	assert_false(config->gzip);
	lens_config_destroy(config);
}

static void bad_values_are_refused(void **state)
{
	static const struct {
		const char *line, *message;
	} cases[] = {
		{ "Protocol=http", "Protocol=http: not grpc, http/protobuf, http/json or file" },
		{ "Compression=zstd", "Compression=zstd: not none or gzip" },
		{ "Compression=", "Compression=" },
		{ "HeadersFile=headers", "HeadersFile=headers: not an absolute path" },
		{ "CertificateFile=./ca", "CertificateFile=./ca: not an absolute path" },
		{ "ClientCertificateFile=c", "ClientCertificateFile=c: not an absolute path" },
		{ "ClientKeyFile=k", "ClientKeyFile=k: not an absolute path" },
		{ "Proxy=proxy:3128", "Proxy: its value is not" },
		{ "Proxy=socks5://proxy:1080", "Proxy: its value is not" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_config *config = load(*state, cases[i].line);

		if (!strstr(problems, cases[i].message))
			fail_msg("%s: %s", cases[i].line, problems);
		lens_config_destroy(config);
	}
}

static void what_does_not_go_together_is_told(void **state)
{
	static const struct {
		const char *text, *problem;
	} cases[] = {
		{ "Protocol=grpc\n", "lens.conf: Protocol=grpc needs an Endpoint\n" },
		{ "Protocol=http/json\n", "lens.conf: Protocol=http/json needs an Endpoint\n" },
		{ "Endpoint=https://c:1\nClientKeyFile=/k\n",
		  "lens.conf: ClientCertificateFile and ClientKeyFile go together\n" },
		{ "Endpoint=https://c:1\nClientCertificateFile=/c\n",
		  "lens.conf: ClientCertificateFile and ClientKeyFile go together\n" },
		/* Nothing of these is used. */
		{ "Protocol=file\nClientKeyFile=/k\n", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_config *config = load(*state, cases[i].text);

		assert_string_equal(problems, cases[i].problem);
		lens_config_destroy(config);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(nothing_is_set_by_default),
		scratch_test(all_of_them_are_read),
		cmocka_unit_test(each_protocol_has_its_name),
		scratch_test(an_empty_value_takes_a_setting_back),
		scratch_test(bad_values_are_refused),
		scratch_test(what_does_not_go_together_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
