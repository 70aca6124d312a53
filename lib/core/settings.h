/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_SETTINGS_H
#define LENS_CORE_SETTINGS_H

#include "lib/core/config.h"
#include "lib/core/options.h"

/*
 * What holds for one submission or step: option > job environment > lens.conf >
 * plugstack argument > built-in default.
 */
struct lens_settings {
	bool inject; /* tasks get their identity */
	bool spans;  /* lifecycle spans are made */
	/* Each NULL where nobody chose. */
	char *run_id;      /* option or NEMO_LENS_RUN_ID; NULL: derived */
	char *user;        /* option or NEMO_LENS_USER_ID */
	char *service;     /* the option alone: nothing else overwrites the user's */
	char *attributes;  /* the option, a carrier */
	char *endpoint;    /* the option */
	char *span_groups; /* option, NEMO_LENS_SPAN_GROUPS, SpanGroups */
	enum lens_ranks ranks;
	enum lens_outer outer;
	struct lens_strategy_choice strategy;
};

/*
 * Resolves OPTIONS, the user's ENV (lens's own values already taken out of it) and
 * CONFIG. Opted in: --lens, --lens=on or any other --lens-* option, a true
 * NEMO_LENS_ENABLED, or Inject=always. Never: Inject=never; then a false
 * NEMO_LENS_ENABLED or --lens=off. A bad value in ENV goes to PROBLEM (may be NULL), the
 * next source down is used. 0, or -1 when memory ran out.
 */
int lens_settings_resolve(struct lens_settings *out, const struct lens_options *options,
			  char *const *env, const struct lens_config *config,
			  lens_config_problem_fn *problem, void *context);

void lens_settings_clear(struct lens_settings *settings);

#endif
