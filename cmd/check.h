/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CMD_CHECK_H
#define LENS_CMD_CHECK_H

#include "cmd/common_options.h"
#include "lib/core/config.h"
#include "lib/job/ask_site.h"
#include "lib/site/plugstack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What `slurm-lens check` finds, a row each. */
enum check_level {
	CHECK_OK,
	CHECK_WARNING, /* it works, but was perhaps not meant so; or it cannot be seen from here */
	CHECK_FAIL,
};

struct check_row {
	enum check_level level;
	const char *name; /* what is looked at, `agent` */
	char *text;
	char *remedy; /* what to do; NULL: nothing */
};

struct check_rows {
	struct check_row *rows;
	size_t count;
	bool failed; /* memory ran out: a row lacks */
};

struct check {
	struct common_options options; /* --config, --set, --state-dir, --format */
	const char *plugstack;         /* --plugstack; NULL: Slurm's */
	const char *job;               /* --job; NULL: none */
	bool root;
	bool compute; /* a slurmd runs on this machine */

	uint32_t slurm; /* the Slurm that is installed here, 0x160508 for 22.05.8 */
	bool site_known;
	struct lens_site site; /* empty strings when it is not known */
	struct lens_plugstack stack;
	const struct lens_plugstack_line *line; /* lens's own in STACK; NULL: none */
	struct lens_config *config;             /* as the plugin has it here */
	bool receiver_date;                     /* a receiver told its time */
	int64_t receiver_skew;                  /* how far its clock is ahead, seconds */
	struct check_rows rows;
};

/* check_rows.c */
void check_add(struct check *check, enum check_level level, const char *name, const char *format,
	       ...) __attribute__((format(printf, 4, 5)));
/* What to do about the row added last. */
void check_remedy(struct check *check, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
size_t check_count(const struct check_rows *rows, enum check_level level);
void check_rows_show(const struct check_rows *rows);
int check_rows_show_json(const struct check_rows *rows); /* -1: no memory */
void check_rows_clear(struct check_rows *rows);

/* Each adds the rows of its part, in this order; a later one uses what an earlier one found. */
void check_environment(struct check *check); /* check_slurm.c */
void check_slurm(struct check *check);       /* check_slurm.c: slurmctld, PrologFlags */
void check_plugin(struct check *check);      /* check_plugin.c: plugstack.conf, lens.so */
int check_settings(struct check *check);     /* check_settings.c: CONFIG; -1: no memory */
void check_choices(struct check *check);     /* check_settings.c: strategy, run id */
void check_state(struct check *check);       /* check_state.c: StateDir, agent */
void check_receiver(struct check *check);    /* check_receiver.c: Endpoint, TaskEndpoint */
void check_clock(struct check *check);       /* check_slurm.c */
void check_job(struct check *check);         /* check_job.c: --job */

#endif
