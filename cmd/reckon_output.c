/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cmd/reckon.h"

#include "cmd/agent_sender_start.h"
#include "cmd/command.h"
#include "lib/core/clock.h"
#include "lib/core/env.h"
#include "lib/core/secret.h"
#include "lib/core/text.h"
#include "lib/otlp/deliver.h"
#include "lib/otlp/environment.h"
#include "lib/otlp/exporter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_MS 60000 /* for one request, with all its repetitions */

struct reckon_output {
	enum lens_exporter_kind kind;
	struct lens_exporter *exporter; /* NULL: standard output */
	struct lens_patience patience;
	struct lens_otel_environment otel; /* zeroed where lens.conf is in force */
};

enum { HEADERS, AUTHORITIES, CLIENT_CERTIFICATE, CLIENT_KEY, FILES };

static int site_secrets_read(struct lens_secret secrets[FILES], const struct lens_config *config,
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

/* The files that the variables of OpenTelemetry name, with the caller's own rights. */
static int user_secrets_read(struct lens_secret secrets[FILES],
			     const struct lens_otel_environment *otel, struct lens_error *err)
{
	const struct {
		const char *name, *path;
	} files[FILES] = {
		[AUTHORITIES] = { otel->certificate_name, otel->certificate },
		[CLIENT_CERTIFICATE] = { otel->client_certificate_name, otel->client_certificate },
		[CLIENT_KEY] = { otel->client_key_name, otel->client_key },
	};
	struct lens_error reason = LENS_ERROR_INIT;

	for (size_t i = 0; i < FILES; i++) {
		if (files[i].path != NULL &&
		    lens_secret_load(&secrets[i], files[i].path, &reason) != 0)
			return lens_error_set(err, "%s: %s", files[i].name, reason.text);
	}
	return 0;
}

static void problem_say(void *context, const char *text)
{
	(void)context;
	fprintf(stderr, "slurm-lens reckon: %s\n", text);
}

/* Whether the caller's own variables name a receiver: they come before the site's. */
static bool environment_names_one(void)
{
	return lens_env_get_nonempty(environ, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != NULL ||
	       lens_env_get_nonempty(environ, "OTEL_EXPORTER_OTLP_ENDPOINT") != NULL;
}

static int environment_settings(struct reckon_output *output,
				struct lens_exporter_settings *settings,
				struct lens_secret secrets[FILES], struct lens_error *err)
{
	struct lens_otel_environment *otel = &output->otel;

	if (lens_otel_environment_read(otel, environ, problem_say, NULL) == -1)
		return lens_error_set(err, "out of memory");
	settings->kind = otel->kind;
	settings->endpoint = otel->endpoint;
	settings->endpoint_whole = otel->endpoint_whole;
	settings->compression = otel->compression;
	settings->timeout_ms = otel->timeout_ms > 0 ? otel->timeout_ms : PATIENCE_MS;
	if (user_secrets_read(secrets, otel, err) == -1)
		return -1;
	settings->headers = blob(&secrets[HEADERS]);
	if (otel->headers != NULL)
		settings->headers = (struct lens_blob){ otel->headers, strlen(otel->headers) };
	return 0;
}

/* The receiver that the agents send to. */
static int site_settings(const struct lens_config *config, struct lens_exporter_settings *settings,
			 struct lens_secret secrets[FILES], struct lens_error *err)
{
	settings->kind = agent_exporter_kind(lens_config_protocol(config));
	if (settings->kind == LENS_EXPORTER_FILE)
		return lens_error_set(
			err,
			"--send: there is no Endpoint in %s; give --set Endpoint=URL, or --file",
			*config->config_path != '\0' ? config->config_path : "lens.conf");
	settings->endpoint = config->endpoint;
	settings->timeout_ms = config->timeout_ms;
	settings->compression = config->gzip ? LENS_COMPRESSION_GZIP : LENS_COMPRESSION_NONE;
	settings->proxy = config->proxy;
	if (site_secrets_read(secrets, config, err) == -1)
		return -1;
	settings->headers = blob(&secrets[HEADERS]);
	return 0;
}

static int receiver_create(struct reckon_output *output, const struct lens_config *config,
			   struct lens_error *err)
{
	struct lens_secret secrets[FILES] = { 0 };
	struct lens_exporter_settings settings = {
		.user_agent = LENS_USER_AGENT,
		.cancelled = lens_patience_over,
		.cancelled_context = &output->patience,
	};
	int rc = environment_names_one() ? environment_settings(output, &settings, secrets, err)
					 : site_settings(config, &settings, secrets, err);

	if (rc == 0) {
		settings.ca = blob(&secrets[AUTHORITIES]);
		settings.client_cert = blob(&secrets[CLIENT_CERTIFICATE]);
		settings.client_key = blob(&secrets[CLIENT_KEY]);
		output->kind = settings.kind;
		output->exporter = lens_exporter_create(&settings, err);
		if (output->exporter == NULL && output->otel.endpoint != NULL)
			lens_otel_environment_explain(&output->otel, err->text, sizeof(err->text));
	}
	for (size_t i = 0; i < FILES; i++)
		lens_secret_clear(&secrets[i]);
	return output->exporter != NULL ? 0 : -1;
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
	output->kind = LENS_EXPORTER_FILE;
	if (options->send)
		receiver_create(output, config, err);
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
	lens_otel_environment_clear(&output->otel);
	free(output);
	errno = saved;
}

static int bytes_put(struct reckon_output *output, const uint8_t *bytes, size_t length,
		     struct lens_error *err)
{
	struct lens_export_result result;

	if (output->exporter == NULL)
		return fwrite(bytes, 1, length, stdout) == length
			       ? 0
			       : lens_error_set(err, "standard output: %m");
	output->patience.deadline_ms = lens_clock_ms() + PATIENCE_MS;
	/* A receiver comes back, a file that cannot be written does not. */
	if (output->kind == LENS_EXPORTER_FILE)
		lens_exporter_post(output->exporter, bytes, length, &result);
	else
		lens_deliver(output->exporter, bytes, length, &output->patience, &result);
	if (output->otel.endpoint != NULL)
		lens_otel_environment_explain(&output->otel, result.message,
					      sizeof(result.message));
	if (result.verdict != LENS_VERDICT_DONE)
		return lens_error_set(err, "%s", result.message);
	if (result.rejected > 0)
		return lens_error_set(err, "the receiver refused %" PRIu64 " spans: %s",
				      result.rejected, result.message);
	return 0;
}

int reckon_output_put(struct reckon_output *output, const struct lens_batch *batch,
		      struct lens_error *err)
{
	size_t length;
	uint8_t *bytes;
	int rc;

	if (lens_batch_span_count(batch) == 0 && !lens_batch_failed(batch))
		return 0;
	bytes = lens_exporter_encode(output->kind, batch, &length);
	rc = bytes != NULL ? bytes_put(output, bytes, length, err)
			   : lens_error_set(err, "out of memory");
	free(bytes);
	return rc;
}
