/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cmd/reckon.h"

#include "lib/core/secret.h"
#include "lib/core/text.h"
#include "lib/otlp/exporter.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define USER_AGENT "OTel-OTLP-Exporter-slurm-lens/" PACKAGE_VERSION
#define TRIES      5     /* of one request */
#define WAIT_MS    1000  /* before the second; doubled each time */
#define WAIT_MAX   30000 /* ms: what a receiver may ask for */

struct reckon_output {
	struct lens_exporter *exporter; /* NULL: standard output */
};

enum { HEADERS, AUTHORITIES, CLIENT_CERTIFICATE, CLIENT_KEY, FILES };

static int secrets_read(struct lens_secret secrets[FILES], const struct lens_config *config,
			struct lens_error *err)
{
	const struct {
		const char *key, *path;
		bool private_file;
	} files[FILES] = {
		[HEADERS] = { "HeadersFile", config->headers_file, true },
		[AUTHORITIES] = { "CertificateFile", config->certificate_file, false },
		[CLIENT_CERTIFICATE] = { "ClientCertificateFile", config->client_certificate_file,
					 false },
		[CLIENT_KEY] = { "ClientKeyFile", config->client_key_file, true },
	};
	struct lens_error reason = LENS_ERROR_INIT;

	for (size_t i = 0; i < FILES; i++) {
		if (lens_secret_read(&secrets[i], files[i].path, files[i].private_file, &reason) !=
		    0)
			return lens_error_set(err, "%s: %s", files[i].key, reason.text);
	}
	return 0;
}

static struct lens_blob blob(const struct lens_secret *secret)
{
	return (struct lens_blob){ secret->bytes, secret->length };
}

/* The receiver that the agents send to. */
static struct lens_exporter *receiver_create(const struct lens_config *config,
					     struct lens_error *err)
{
	static const enum lens_exporter_kind kinds[] = {
		[LENS_PROTOCOL_GRPC] = LENS_EXPORTER_GRPC,
		[LENS_PROTOCOL_HTTP_PROTOBUF] = LENS_EXPORTER_HTTP_PROTOBUF,
		[LENS_PROTOCOL_HTTP_JSON] = LENS_EXPORTER_HTTP_JSON,
		[LENS_PROTOCOL_FILE] = LENS_EXPORTER_FILE,
	};
	struct lens_secret secrets[FILES] = { 0 };
	struct lens_exporter *exporter = NULL;
	struct lens_exporter_settings settings = {
		.kind = kinds[lens_config_protocol(config)],
		.endpoint = config->endpoint,
		.timeout_ms = config->timeout_ms,
		.user_agent = USER_AGENT,
		.compression = config->gzip ? LENS_COMPRESSION_GZIP : LENS_COMPRESSION_NONE,
		.proxy = config->proxy,
	};

	if (settings.kind == LENS_EXPORTER_FILE) {
		lens_error_set(err,
			       "--send: there is no Endpoint in %s; give --set Endpoint=URL, "
			       "or --file",
			       *config->config_path != '\0' ? config->config_path : "lens.conf");
		return NULL;
	}
	if (secrets_read(secrets, config, err) == 0) {
		settings.headers = blob(&secrets[HEADERS]);
		settings.ca = blob(&secrets[AUTHORITIES]);
		settings.client_cert = blob(&secrets[CLIENT_CERTIFICATE]);
		settings.client_key = blob(&secrets[CLIENT_KEY]);
		exporter = lens_exporter_create(&settings, err);
	}
	for (size_t i = 0; i < FILES; i++)
		lens_secret_clear(&secrets[i]);
	return exporter;
}

static struct lens_exporter *file_create(const char *file, struct lens_error *err)
{
	struct lens_exporter_settings settings = { .kind = LENS_EXPORTER_FILE };
	struct lens_exporter *exporter = NULL;
	struct lens_text text = LENS_TEXT_INIT;
	char *here = *file != '/' ? getcwd(NULL, 0) : NULL;
	char *path;

	lens_text_addf(&text, "%s%s%s", here != NULL ? here : "", here != NULL ? "/" : "", file);
	path = lens_text_take(&text);
	free(here);
	settings.file = path;
	/* Nothing of a job is moved aside to make room for it. */
	settings.file_max_bytes = UINT64_MAX;
	if (path == NULL)
		lens_error_set(err, "out of memory");
	else
		exporter = lens_exporter_create(&settings, err);
	free(path);
	return exporter;
}

struct reckon_output *reckon_output_create(const struct reckon_options *options,
					   const struct lens_config *config, struct lens_error *err)
{
	struct reckon_output *output = calloc(1, sizeof(*output));

	if (output == NULL) {
		lens_error_set(err, "out of memory");
		return NULL;
	}
	if (options->send)
		output->exporter = receiver_create(config, err);
	else if (options->file != NULL)
		output->exporter = file_create(options->file, err);
	if (output->exporter != NULL || (!options->send && options->file == NULL))
		return output;
	reckon_output_destroy(output);
	return NULL;
}

void reckon_output_destroy(struct reckon_output *output)
{
	int saved = errno;

	if (output == NULL)
		return;
	lens_exporter_destroy(output->exporter);
	free(output);
	errno = saved;
}

static int print(const struct lens_batch *batch, struct lens_error *err)
{
	size_t length;
	uint8_t *line = lens_exporter_encode(LENS_EXPORTER_FILE, batch, &length);
	int rc = 0;

	if (line == NULL)
		return lens_error_set(err, "out of memory");
	if (fwrite(line, 1, length, stdout) != length)
		rc = lens_error_set(err, "standard output: %m");
	free(line);
	return rc;
}

int reckon_output_put(struct reckon_output *output, const struct lens_batch *batch,
		      struct lens_error *err)
{
	struct lens_export_result result;
	int64_t wait_ms = WAIT_MS;

	if (lens_batch_span_count(batch) == 0)
		return lens_batch_failed(batch) ? lens_error_set(err, "out of memory") : 0;
	if (output->exporter == NULL)
		return print(batch, err);
	for (int tries = 1;; tries++) {
		lens_exporter_export(output->exporter, batch, &result);
		if (result.verdict != LENS_VERDICT_RETRY || tries == TRIES)
			break;
		if (result.retry_after_ms > wait_ms)
			wait_ms =
				result.retry_after_ms < WAIT_MAX ? result.retry_after_ms : WAIT_MAX;
		poll(NULL, 0, (int)wait_ms);
		wait_ms *= 2;
	}
	if (result.verdict != LENS_VERDICT_DONE)
		return lens_error_set(err, "%s", result.message);
	if (result.rejected > 0)
		return lens_error_set(err, "the receiver refused %llu spans: %s",
				      (unsigned long long)result.rejected, result.message);
	return 0;
}
