/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_EMIT_H
#define LENS_CMD_EMIT_H

#include "cmd/common_options.h"
#include "lib/core/carrier.h"
#include "lib/core/error.h"
#include "lib/core/identity.h"
#include "lib/otlp/environment.h"
#include "lib/otlp/interval.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* `slurm-lens emit`: a user's own spans. It reads no setting of the site's. */

/* Values of an option that may be given more than once; borrowed from the command line. */
struct emit_words {
	const char **items;
	size_t count;
};

struct emit_options {
	const char *service, *name;
	struct emit_words spans, files, attributes, span_attributes, span_statuses;
	const char *kind, *status; /* valid ones, or NULL */
	bool timeout_set;
	unsigned int timeout_ms; /* 0: no limit */
	bool command_args, dry_run, verbose;
	struct common_options common; /* --help */
	char **command;               /* NULL: none */
};

/* 0, or -1 after a line on standard error. The caller clears either way. */
int emit_options_parse(struct emit_options *out, int argc, char **argv);
void emit_options_clear(struct emit_options *options);

/* `KEY=VALUE` to INTERVAL; with REPLACE also where the key has a value. 0; -1: TEXT is none, or no
 * memory. */
int emit_attribute_set(struct lens_interval *interval, const char *text, bool replace);

/* What the environment chooses. */
struct emit_settings {
	struct lens_otel_environment otel;
	char off[128]; /* why nothing is to come out; "": something is */
	bool console, otlp;
	unsigned int timeout_ms; /* 0: no limit */
	struct lens_trace_id trace;
	struct lens_span_id parent;
	bool has_parent; /* a TRACEPARENT is in force */
	uint8_t flags;
	struct lens_carrier *resource;
};

/* Says on standard error what is ignored. 0, or -1 with ERR. The caller clears either way. */
int emit_settings_read(struct emit_settings *out, const struct emit_options *options,
		       char *const *env, struct lens_error *err);
void emit_settings_clear(struct emit_settings *settings);

/* An id for each of COUNT spans; the caller frees. NULL after a line on standard error. */
struct lens_span_id *emit_ids(size_t count);

/*
 * Sends LIST, which is checked, and prints it to CONSOLE where the settings want that. Gives up
 * when STOP (NULL: none) says so. What went wrong is said on standard error. LENS_EXIT_OK: all was
 * taken; _NO: not all; _ENVIRONMENT: it could not be tried.
 */
int emit_send(const struct emit_settings *settings, bool verbose, const struct lens_intervals *list,
	      const struct lens_span_id *ids, bool (*stop)(void), FILE *console);

/* The two forms. What they return is the exit status. */
int emit_spans(const struct emit_options *options);
int emit_command(const struct emit_options *options);

void emit_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
