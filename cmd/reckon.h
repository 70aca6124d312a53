/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_RECKON_H
#define LENS_CMD_RECKON_H

#include "cmd/common_options.h"
#include "cmd/command.h"
#include "lib/core/config.h"
#include "lib/core/error.h"
#include "lib/job/account_value.h"
#include "lib/job/accounting.h"
#include "lib/otlp/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `slurm-lens reckon`: the spans of jobs from accounting. */

struct reckon_options {
	const char *from;    /* a saved output of sacct, `-` standard input; NULL: sacct is run */
	const char *cluster; /* NULL: this one */
	const char *realm;   /* NULL: lens.conf's */
	const char *file;    /* NULL: not into a file */
	bool send;
	uint32_t attempt;             /* LENS_RECORD_NONE: not given */
	struct common_options common; /* --config, --set, --help */
	const char *const *words;     /* the jobs as they were given */
	struct lens_account_wish *wishes;
	size_t wish_count;
};

/* 0, or -1 after a line on standard error. The caller clears either way. */
int reckon_options_parse(struct reckon_options *out, int argc, char **argv);
void reckon_options_clear(struct reckon_options *options);
/* What `--help` says. Static. */
const char *reckon_options_help(void);

/* Adds what sacct knows of the jobs in OPTIONS: all records of them, as far as it shows them to
 * this user. 0, or -1 with ERR. */
int reckon_sacct_read(struct lens_accounting *out, const struct reckon_options *options,
		      struct lens_error *err);

/* Adds what FROM has, a saved output of sacct's, `-` standard input. 0, or -1 with ERR. */
int reckon_saved_read(struct lens_accounting *out, const char *from, struct lens_error *err);

/* Since when (seconds) slurmdbd has all records that ended, as lens_reckon_wish has it. */
int64_t reckon_kept_since(void);

/* Where spans go: standard output, a file, or a receiver. */
struct reckon_output;

/* NULL with ERR. */
struct reckon_output *reckon_output_create(const struct reckon_options *options,
					   const struct lens_config *config,
					   struct lens_error *err);
void reckon_output_destroy(struct reckon_output *output);
/* Puts BATCH out, whole; nothing of an empty one. 0, or -1 with ERR. */
int reckon_output_put(struct reckon_output *output, const struct lens_batch *batch,
		      struct lens_error *err);

#endif
