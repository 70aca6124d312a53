/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/otlp_exchange.h"
#include "tests/unit/scratch.h"
#include "tests/unit/scripted_tls.h"

#include <signal.h>
#include <stdlib.h>

static const struct scripted_answer ok = {
	.bytes = ANSWER("200 OK", EMPTY, ""),
	.length = sizeof(ANSWER("200 OK", EMPTY, "")) - 1,
};

static const struct scripted_call grpc_ok = {
	.headers = { ":status: 200", "content-type: application/grpc" },
	.body = "\0\0\0\0\0",
	.body_length = 5,
	.trailers = { "grpc-status: 0" },
};

/* What a client is given, each by the name of a file of tests/make-certificates or, with a
 * blank in it, as it is; NULL for none. */
struct given {
	const char *ca, *certificate, *key;
};

static struct lens_blob blob_of(const struct scratch *scratch, const char *name, const char *suffix)
{
	char file[64];
	char *text;

	if (!name)
		return (struct lens_blob){ 0 };
	if (strchr(name, ' '))
		return (struct lens_blob){ name, strlen(name) };
	snprintf(file, sizeof(file), "%s.%s", name, suffix);
	text = scratch_read(scratch, file);
	assert_non_null(text);
	return (struct lens_blob){ text, strlen(text) };
}

static void blob_free(const struct lens_blob *blob, const char *name)
{
	if (name && !strchr(name, ' '))
		free((void *)(uintptr_t)blob->bytes);
}

static void settings_fill(struct lens_exporter_settings *settings, const struct scratch *scratch,
			  const struct given *given)
{
	settings->ca = blob_of(scratch, given->ca, "pem");
	settings->client_cert = blob_of(scratch, given->certificate, "pem");
	settings->client_key = blob_of(scratch, given->key, "key");
}

static void settings_free(const struct lens_exporter_settings *settings, const struct given *given)
{
	blob_free(&settings->ca, given->ca);
	blob_free(&settings->client_cert, given->certificate);
	blob_free(&settings->client_key, given->key);
}

struct outcome {
	struct lens_export_result result;
	bool request_seen;
};

/* Exports to a server of OPTIONS that answers HTTP, or with ALPN h2 gRPC. */
static struct outcome tls_export(struct scratch *scratch, struct scripted_tls_options options,
				 enum lens_exporter_kind kind, const struct given *given)
{
	struct lens_exporter_settings settings = { .kind = kind, .timeout_ms = 5000 };
	struct lens_batch *batch = sample_small();
	struct lens_exporter *exporter;
	struct scripted_tls tls;
	struct outcome outcome;
	char endpoint[64];
	int tries = 0;

	options.directory = scratch->path;
	tls = scripted_tls_start(&options, options.alpn ? NULL : &ok,
				 options.alpn ? &grpc_ok : NULL);
	snprintf(endpoint, sizeof(endpoint), "https://127.0.0.1:%d", tls.port);
	settings.endpoint = endpoint;
	settings_fill(&settings, scratch, given);
	exporter = exporter_create(&settings);
	settings_free(&settings, given); /* the exporter has copies */
	do {
		if (tries > 0)
			usleep(20000);
		lens_exporter_export(exporter, batch, &outcome.result);
	} while (strstr(outcome.result.message, "connection refused") && ++tries < 500);
	lens_exporter_destroy(exporter);
	lens_batch_destroy(batch);
	outcome.request_seen = scripted_tls_stop(&tls) > 0;
	return outcome;
}

static void assert_taken(const struct outcome *outcome)
{
	if (outcome->result.verdict != LENS_VERDICT_DONE || outcome->result.message[0])
		fail_msg("verdict %d: %s", (int)outcome->result.verdict, outcome->result.message);
	assert_true(outcome->request_seen);
}

static void a_known_authority_is_trusted(void **state)
{
	const struct given given = { .ca = "ca" };
	const struct scripted_tls_options http = { .certificate = "server" };
	const struct scripted_tls_options grpc = { .certificate = "server", .alpn = "h2" };
	struct outcome outcome;

	outcome = tls_export(*state, http, LENS_EXPORTER_HTTP_PROTOBUF, &given);
	assert_taken(&outcome);
	outcome = tls_export(*state, http, LENS_EXPORTER_HTTP_JSON, &given);
	assert_taken(&outcome);
	outcome = tls_export(*state, grpc, LENS_EXPORTER_GRPC, &given);
	assert_taken(&outcome);
}

/* Nothing is sent to a server that is not who it should be, and nothing is lost. */
static void others_get_no_request(void **state)
{
	static const struct {
		const char *certificate, *ca, *message;
	} cases[] = {
		{ "elsewhere", "ca", "no alternative certificate subject name matches" },
		{ "expired", "ca", "certificate has expired" },
		{ "stranger", "ca", "self" },
		{ "server", "stranger", "" },
		/* The system's authorities do not know ours. */
		{ "server", NULL, "" },
		{ "server", "-----BEGIN CERTIFICATE-----\nno base64\n", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct given given = { .ca = cases[i].ca };
		const struct scripted_tls_options http = { .certificate = cases[i].certificate };
		const struct scripted_tls_options grpc = { .certificate = cases[i].certificate,
							   .alpn = "h2" };

		for (int kind = 0; kind < 2; kind++) {
			struct outcome outcome = tls_export(
				*state, kind ? grpc : http,
				kind ? LENS_EXPORTER_GRPC : LENS_EXPORTER_HTTP_PROTOBUF, &given);

			if (outcome.result.verdict != LENS_VERDICT_RETRY ||
			    !strstr(outcome.result.message, ": TLS: ") ||
			    !strstr(outcome.result.message, cases[i].message))
				fail_msg("%zu: verdict %d: %s", i, (int)outcome.result.verdict,
					 outcome.result.message);
			assert_false(outcome.request_seen);
		}
	}
}

static void a_client_certificate_is_shown_where_it_is_asked_for(void **state)
{
	static const struct {
		const char *certificate, *key;
		bool taken;
	} cases[] = {
		{ "client", "client", true },
		{ NULL, NULL, false },
		{ "stranger", "stranger", false },
		/* One's certificate, another's key. */
		{ "client", "stranger", false },
		{ "-----BEGIN CERTIFICATE-----\nno base64\n", "client", false },
		{ "client", "-----BEGIN PRIVATE KEY-----\nno base64\n", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct given given = { "ca", cases[i].certificate, cases[i].key };
		const struct scripted_tls_options http = { .certificate = "server",
							   .client_required = true };
		const struct scripted_tls_options grpc = { .certificate = "server",
							   .client_required = true,
							   .alpn = "h2" };

		for (int kind = 0; kind < 2; kind++) {
			struct outcome outcome = tls_export(
				*state, kind ? grpc : http,
				kind ? LENS_EXPORTER_GRPC : LENS_EXPORTER_HTTP_PROTOBUF, &given);

			if (cases[i].taken) {
				assert_taken(&outcome);
				continue;
			}
			/* In words: libcurl's own end with a number. */
			if (outcome.result.verdict != LENS_VERDICT_RETRY ||
			    !strstr(outcome.result.message, "TLS: ") ||
			    strstr(outcome.result.message, "errno"))
				fail_msg("%zu: verdict %d: %s", i, (int)outcome.result.verdict,
					 outcome.result.message);
			assert_false(outcome.request_seen);
		}
	}
}

/* A web server that knows no HTTP/2: the batch is kept, whatever it says of it. */
static void grpc_needs_http2(void **state)
{
	const struct given given = { .ca = "ca" };
	const struct scripted_tls_options http = { .certificate = "server" };
	struct outcome outcome = tls_export(*state, http, LENS_EXPORTER_GRPC, &given);

	assert_int_equal(outcome.result.verdict, LENS_VERDICT_RETRY);
	assert_non_null(strstr(outcome.result.message, "the server speaks no HTTP/2 here"));
}

static void what_is_no_pem_is_told_at_once(void **state)
{
	static const struct {
		struct given given;
		const char *message;
	} cases[] = {
		{ { "not a PEM", NULL, NULL }, "CertificateFile: it holds no PEM" },
		{ { NULL, "not a PEM", "client" }, "ClientCertificateFile: it holds no PEM" },
		{ { NULL, "client", "not a PEM" }, "ClientKeyFile: it holds no PEM" },
		{ { NULL, "client", NULL }, "ClientCertificateFile and ClientKeyFile go together" },
		{ { NULL, NULL, "client" }, "ClientCertificateFile and ClientKeyFile go together" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_exporter_settings settings = { .kind = LENS_EXPORTER_HTTP_PROTOBUF,
							   .endpoint = "https://127.0.0.1:1" };
		struct lens_error err = LENS_ERROR_INIT;

		settings_fill(&settings, *state, &cases[i].given);
		assert_null(lens_exporter_create(&settings, &err));
		settings_free(&settings, &cases[i].given);
		if (!strstr(err.text, cases[i].message) || strstr(err.text, "not a"))
			fail_msg("%zu: %s", i, err.text);
	}
}

static int certificates_make(void **state)
{
	const char *source = getenv("LENS_TEST_SRCDIR");
	struct scratch *scratch;
	char command[1024];

	if (scratch_setup(state) < 0)
		return -1;
	scratch = *state;
	snprintf(command, sizeof(command), "'%s/tests/make-certificates' '%s'",
		 source ? source : ".", scratch->path);
	return system(command) == 0 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_known_authority_is_trusted),
		cmocka_unit_test(others_get_no_request),
		cmocka_unit_test(a_client_certificate_is_shown_where_it_is_asked_for),
		cmocka_unit_test(grpc_needs_http2),
		cmocka_unit_test(what_is_no_pem_is_told_at_once),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, certificates_make, scratch_teardown);
}
