/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_SPANK_STEP_OPEN_H
#define LENS_SPANK_STEP_OPEN_H

#include "lib/core/cleaning.h"
#include "lib/core/journal.h"
#include "lib/core/launch.h"
#include "lib/core/note.h"
#include "lib/core/settings.h"
#include "spank/log.h"

#include <slurm/spank.h>

/* What slurmstepd keeps of its step, from init_post_opt to exit; its tasks have copies. */
struct lens_step {
	struct lens_settings settings;
	struct lens_launch launch;
	struct lens_note note;  /* backs the strings of launch */
	bool noted;             /* there was a note */
	struct lens_note word;  /* outer and in_outer as the submitter handed them on */
	bool guessed;           /* there was neither a note nor a mark: attempt is a guess */
	uint64_t oom_told;      /* kills of its cgroup that are ascribed to tasks */
	struct lens_mark *mark; /* the outer level's mark; NULL none */
	struct lens_cleaning *cleaning; /* how its values go out of the environment */
	struct lens_journal *journal;   /* NULL: no spans, or no state directory */
	bool append_failed;             /* said once */
	char host[256];
};

/*
 * The step, when it is lens's or when an outer level's values are to be taken out of it;
 * else NULL. Settings' problems are added to PROBLEMS. lens_step_destroy frees.
 */
struct lens_step *lens_step_create(spank_t sp, const struct lens_config *config,
				   const struct lens_options *options,
				   struct lens_problems *problems);
void lens_step_destroy(struct lens_step *step);

/*
 * In the task's process: where no note told, the task's environment knows better what the
 * attempt is (a batch step's has SLURM_RESTART_COUNT only from here on) and the SLUID. Whether the
 * attempt is known only now: what step_open says of it is to be amended.
 */
bool lens_step_refine(struct lens_step *step, char *const *env);

/* ENV, a task's, without what an outer level of lens left in it; the caller destroys. NULL when memory
 * ran out. */
struct lens_env *lens_step_clean(const struct lens_step *step, char *const *env);

/* Appends RECORD to the journal, if there is one; a failure is said once. */
void lens_step_append(struct lens_step *step, const struct lens_carrier *record);

#endif
