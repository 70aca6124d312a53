/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/environment.h"

#include "lib/core/encoding.h"
#include "lib/core/env.h"
#include "lib/core/number.h"
#include "lib/core/show.h"
#include "lib/core/text.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SIGNAL  "OTEL_EXPORTER_OTLP_TRACES_"
#define GENERAL "OTEL_EXPORTER_OTLP_"

#define TIMEOUT_DEFAULT_MS 10000u

struct reader {
	char *const *env;
	lens_otel_problem_fn *problem;
	void *context;
};

/* A variable of two names: what it holds, and which one held it. */
struct variable {
	const char *name;
	const char *value; /* NULL: none */
	bool of_signal;
};

#define VARIABLE(reader, suffix) variable_get(reader, SIGNAL suffix, GENERAL suffix)

static struct variable variable_get(const struct reader *reader, const char *signal,
				    const char *general)
{
	const char *value = lens_env_get_nonempty(reader->env, signal);

	if (value != NULL)
		return (struct variable){ signal, value, true };
	return (struct variable){ general, lens_env_get_nonempty(reader->env, general), false };
}

static void ignore(const struct reader *reader, const struct variable *variable, const char *takes)
{
	struct lens_error err;
	struct lens_shown shown;

	lens_error_set(&err, "%s=%s: not %s; ignored", variable->name,
		       lens_shown_value(&shown, variable->value), takes);
	if (reader->problem != NULL)
		reader->problem(reader->context, err.text);
}

static void protocol_read(struct lens_otel_environment *out, const struct reader *reader)
{
	static const struct {
		const char *word;
		enum lens_exporter_kind kind;
	} words[] = {
		{ "http/protobuf", LENS_EXPORTER_HTTP_PROTOBUF },
		{ "http/json", LENS_EXPORTER_HTTP_JSON },
		{ "grpc", LENS_EXPORTER_GRPC },
	};
	struct variable variable = VARIABLE(reader, "PROTOCOL");

	out->protocol_name = variable.name;
	out->kind = LENS_EXPORTER_HTTP_PROTOBUF;
	if (variable.value == NULL)
		return;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasecmp(variable.value, words[i].word) == 0) {
			out->kind = words[i].kind;
			return;
		}
	}
	ignore(reader, &variable, "grpc, http/protobuf or http/json");
}

/* Only `true` is true, the specification says. */
static bool is_true(const struct reader *reader, const struct variable *variable)
{
	if (variable->value == NULL || strcasecmp(variable->value, "false") == 0)
		return false;
	if (strcasecmp(variable->value, "true") == 0)
		return true;
	ignore(reader, variable, "true or false");
	return false;
}

/* INSECURE counts for gRPC alone, and only where the endpoint has no scheme. */
static int endpoint_read(struct lens_otel_environment *out, const struct reader *reader)
{
	struct variable variable = VARIABLE(reader, "ENDPOINT");
	bool grpc = out->kind == LENS_EXPORTER_GRPC;
	struct lens_text text = LENS_TEXT_INIT;

	out->endpoint_name = variable.name;
	out->endpoint_whole = variable.of_signal && !grpc;
	out->endpoint_default = variable.value == NULL;
	if (out->endpoint_default)
		variable.value = grpc ? "http://localhost:4317" : "http://localhost:4318";
	if (grpc && strstr(variable.value, "://") == NULL) {
		struct variable insecure = VARIABLE(reader, "INSECURE");

		lens_text_adds(&text, is_true(reader, &insecure) ? "http://" : "https://");
	}
	lens_text_adds(&text, variable.value);
	out->endpoint = lens_text_take(&text);
	return out->endpoint == NULL ? -1 : 0;
}

static void timeout_read(struct lens_otel_environment *out, const struct reader *reader)
{
	struct variable variable = VARIABLE(reader, "TIMEOUT");
	uint32_t ms;

	out->timeout_ms = TIMEOUT_DEFAULT_MS;
	if (variable.value == NULL)
		return;
	if (lens_uint32_parse(variable.value, &ms) == -1 || ms > INT_MAX) {
		ignore(reader, &variable, "a number of milliseconds");
		return;
	}
	out->timeout_ms = ms;
}

static void compression_read(struct lens_otel_environment *out, const struct reader *reader)
{
	struct variable variable = VARIABLE(reader, "COMPRESSION");

	if (variable.value == NULL || strcasecmp(variable.value, "none") == 0)
		return;
	if (strcasecmp(variable.value, "gzip") == 0)
		out->compression = LENS_COMPRESSION_GZIP;
	else
		ignore(reader, &variable, "gzip or none");
}

static void path_read(const char **value, const char **name, struct variable variable)
{
	*value = variable.value;
	*name = variable.name;
}

/* Whether the LENGTH bytes at WORD, blanks around them left out, are NAME. */
static bool word_is(const char *word, size_t length, const char *name)
{
	while (length > 0 && (*word == ' ' || *word == '\t')) {
		word++;
		length--;
	}
	while (length > 0 && (word[length - 1] == ' ' || word[length - 1] == '\t'))
		length--;
	return length == strlen(name) && strncasecmp(word, name, length) == 0;
}

static void exporters_read(struct lens_otel_environment *out, const struct reader *reader)
{
	struct variable variable = { .name = "OTEL_TRACES_EXPORTER" };
	bool none = false, unknown = false;

	variable.value = lens_env_get_nonempty(reader->env, variable.name);
	for (const char *word = variable.value; word != NULL && *word != '\0';) {
		size_t length = strcspn(word, ",");

		if (word_is(word, length, "otlp"))
			out->otlp = true;
		else if (word_is(word, length, "console"))
			out->console = true;
		else if (word_is(word, length, "none"))
			none = true;
		else
			unknown = true;
		word += length + (word[length] == ',');
	}
	if (unknown)
		ignore(reader, &variable, "otlp, console or none");
	out->otlp = out->otlp || (!out->console && !none);
}

int lens_otel_environment_read(struct lens_otel_environment *out, char *const *env,
			       lens_otel_problem_fn *problem, void *context)
{
	const struct reader reader = { env, problem, context };
	struct variable disabled = { .name = "OTEL_SDK_DISABLED" };
	struct variable headers = VARIABLE(&reader, "HEADERS");

	*out = (struct lens_otel_environment){ .headers = headers.value,
					       .headers_name = headers.name };
	disabled.value = lens_env_get_nonempty(env, disabled.name);
	out->disabled = is_true(&reader, &disabled);
	exporters_read(out, &reader);
	protocol_read(out, &reader);
	timeout_read(out, &reader);
	compression_read(out, &reader);
	path_read(&out->certificate, &out->certificate_name, VARIABLE(&reader, "CERTIFICATE"));
	path_read(&out->client_certificate, &out->client_certificate_name,
		  VARIABLE(&reader, "CLIENT_CERTIFICATE"));
	path_read(&out->client_key, &out->client_key_name, VARIABLE(&reader, "CLIENT_KEY"));
	return endpoint_read(out, &reader);
}

void lens_otel_environment_clear(struct lens_otel_environment *otel)
{
	int saved = errno;

	free(otel->endpoint);
	*otel = (struct lens_otel_environment){ 0 };
	errno = saved;
}

/* Whether a setting's name ends at END: what a receiver says may hold the same word. */
static bool name_ends(const char *word, const char *end)
{
	return *end == ':' || *end == '=' || (*end == ' ' && strstr(word, "File") != NULL);
}

/* The names of settings in TEXT become those of variables. */
static void names_replace(struct lens_text *out, const char *text, const char *const words[][2],
			  size_t count)
{
	while (*text != '\0') {
		size_t i, length = 0;

		for (i = 0; i < count; i++) {
			length = strlen(words[i][0]);
			if (strncmp(text, words[i][0], length) == 0 &&
			    name_ends(words[i][0], text + length))
				break;
		}
		if (i < count) {
			lens_text_adds(out, words[i][1]);
			text += length;
		} else {
			lens_text_add(out, text++, 1);
		}
	}
}

void lens_otel_environment_explain(const struct lens_otel_environment *otel, char *text,
				   size_t size)
{
	/* The variable has no lines. */
	const char *const words[][2] = {
		{ "HeadersFile: line 1", otel->headers_name },
		{ "HeadersFile", otel->headers_name },
		{ "ClientCertificateFile", otel->client_certificate_name },
		{ "ClientKeyFile", otel->client_key_name },
		{ "CertificateFile", otel->certificate_name },
		{ "Endpoint", otel->endpoint_name },
		{ "Protocol", otel->protocol_name },
	};
	struct lens_text out = LENS_TEXT_INIT;
	size_t length;

	names_replace(&out, text, words, sizeof(words) / sizeof(words[0]));
	if (out.data != NULL && !out.failed) {
		length = lens_utf8_cut(out.data, out.length, size - 1);
		memcpy(text, out.data, length);
		text[length] = '\0';
	}
	lens_text_clear(&out);
}
