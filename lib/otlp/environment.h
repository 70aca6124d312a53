/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_ENVIRONMENT_H
#define LENS_OTLP_ENVIRONMENT_H

#include "lib/core/error.h"
#include "lib/otlp/exporter.h"

#include <stdbool.h>

/*
 * What the variables of OpenTelemetry choose for traces (specification: protocol/exporter.md,
 * configuration/sdk-environment-variables.md): an empty value is none, the variable of the signal
 * (OTEL_EXPORTER_OTLP_TRACES_X) beats the general one (OTEL_EXPORTER_OTLP_X), what cannot be read
 * is told and ignored.
 */
struct lens_otel_environment {
	bool disabled; /* OTEL_SDK_DISABLED=true */
	bool otlp;     /* OTEL_TRACES_EXPORTER; otlp without it, neither for `none` */
	bool console;
	enum lens_exporter_kind kind; /* http/protobuf without one */
	char *endpoint;               /* owned; never NULL */
	bool endpoint_whole;          /* see lens_exporter_settings */
	bool endpoint_default;        /* no variable names one */
	enum lens_compression compression;
	unsigned int timeout_ms; /* 10000 without one; 0: no limit */
	/* Borrowed from the environment; NULL: none. */
	const char *headers;
	const char *certificate; /* these three: paths */
	const char *client_certificate;
	const char *client_key;
	/* The variables that chose, for messages; the general one where none did. */
	const char *endpoint_name, *protocol_name, *headers_name;
	const char *certificate_name, *client_certificate_name, *client_key_name;
};

typedef void lens_otel_problem_fn(void *context, const char *text);

/* Reads ENV, which OUT borrows from. What is ignored goes to PROBLEM (may be NULL), a line each. 0,
 * or -1: no memory. The caller clears OUT either way. */
int lens_otel_environment_read(struct lens_otel_environment *out, char *const *env,
			       lens_otel_problem_fn *problem, void *context);
void lens_otel_environment_clear(struct lens_otel_environment *otel);

/* TEXT of SIZE bytes, a message of the exporter's that names settings as lens.conf does, made to
 * name the variables. */
void lens_otel_environment_explain(const struct lens_otel_environment *otel, char *text,
				   size_t size);

#endif
