/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_OPTIONS_H
#define LENS_CORE_OPTIONS_H

#include "lib/core/choice.h"
#include "lib/core/error.h"
#include "lib/core/ranks.h"
#include "lib/core/strategy.h"

#include <stdbool.h>
#include <stddef.h>

/* What a user chose with --lens options; a later call of the same option wins. */
struct lens_options {
	enum { LENS_OPTION_UNSET, LENS_OPTION_ON, LENS_OPTION_OFF } lens;
	bool any; /* an option other than --lens was given */
	/* NULL: not given */
	char *run_id;
	char *user;
	char *service;
	char *span_groups;
	char *attributes; /* a carrier */
	char *endpoint;
	bool strategy_set, rank_set, rate_set;
	struct lens_strategy_choice strategy;
	bool ranks_set, outer_set;
	enum lens_ranks ranks;
	enum lens_outer outer;
};

/* One row per option, for registration, help and the readers of the environment. */
struct lens_option_spec {
	const char *name;     /* "lens-run-id" */
	const char *argument; /* how help names its argument; NULL: none */
	const char *help;     /* one line */
	bool argument_optional;
};

extern const struct lens_option_spec lens_option_specs[];
extern const size_t lens_option_count;

void lens_options_init(struct lens_options *options);
void lens_options_clear(struct lens_options *options); /* frees what it holds */

/*
 * Sets the option NAME ("lens", "lens-run-id", ...) to VALUE. A flag's value by Slurm
 * is NULL, "" or "(null)" (measured on 22.05 to 26.05): it counts as on. A run id is
 * 1 to 255 bytes of UTF-8 without control characters; a URL, which may hold a
 * password, is never repeated in a message. 0, or -1 with
 * ERR as a line for the user: the option, the value, what it takes; OPTIONS unchanged.
 */
int lens_options_set(struct lens_options *options, const char *name, const char *value,
		     struct lens_error *err);

#endif
