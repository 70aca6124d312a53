/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/show_picture.h"

#include <string.h>

enum show_kind show_kind_of(const struct lens_kept_span *kept)
{
	static const struct {
		const char *name;
		enum show_kind kind;
	} names[] = {
		{ "slurm.job_attempt", SHOW_ATTEMPT },
		{ "slurm.phase.deferred", SHOW_WAIT },
		{ "slurm.phase.queued", SHOW_WAIT },
		{ "slurm.inter_attempt_gap", SHOW_WAIT },
		{ "slurm.inter_step_gap", SHOW_WAIT },
		{ "slurm.job_start", SHOW_INSTANT },
		{ "slurm.job", SHOW_JOB },
		{ "slurm.job_setup", SHOW_EDGE },
		{ "slurm.job_teardown", SHOW_EDGE },
		{ "slurm.batch", SHOW_BATCH },
		{ "slurm.step", SHOW_STEP },
		{ "slurm.step.node", SHOW_STEP_NODE },
		{ "slurm.task", SHOW_TASK },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(kept->name, names[i].name) == 0)
			return names[i].kind;
	return SHOW_OTHER;
}

struct show_span *show_place_find(const struct show_span *orphan, struct show_span *const *homes,
				  size_t count)
{
	struct show_span *best = NULL;

	if (orphan->kind == SHOW_ATTEMPT)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		struct show_span *home = homes[i];

		if (home == orphan ||
		    memcmp(&home->kept->trace, &orphan->kept->trace, sizeof(home->kept->trace)) !=
			    0 ||
		    (orphan->attempt != -1 && home->attempt != orphan->attempt))
			continue;
		if (home->kind == SHOW_ATTEMPT) {
			best = best == NULL ? home : best;
			continue;
		}
		/* Of the components of a het job one that ran at its start. */
		if (orphan->kind != SHOW_WAIT && orphan->kind != SHOW_INSTANT &&
		    orphan->kind != SHOW_JOB && home->kept->start_ns <= orphan->kept->start_ns &&
		    home->kept->end_ns >= orphan->kept->start_ns)
			best = home;
	}
	return best;
}
