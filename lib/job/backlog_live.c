/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/backlog_parts.h"

#include <stdlib.h>
#include <string.h>

/* The list is sorted as the names are: they are visited in that order. */

/* The first that is not before NAME. */
static size_t live_search(const struct lens_backlog *backlog, const struct lens_state_name *name)
{
	size_t low = 0, high = backlog->live_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (backlog_name_order(&backlog->live[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool live_is(const struct lens_backlog *backlog, size_t index,
		    const struct lens_state_name *name)
{
	return index < backlog->live_count &&
	       backlog_name_order(&backlog->live[index].name, name) == 0;
}

/* Without memory a note may be settled before its journal, which costs a wider window, no
 * span. */
void backlog_live_add(struct lens_backlog *backlog, const struct lens_state_name *name,
		      const struct lens_job_step *step)
{
	size_t index = live_search(backlog, name), count = backlog->live_count;
	struct backlog_live *live = backlog->live;

	if (!live_is(backlog, index, name)) {
		if ((count & (count - 1)) == 0) { /* grows by doubling */
			live = reallocarray(live, count == 0 ? 1 : count * 2, sizeof(*live));
			if (live == NULL)
				return;
			backlog->live = live;
		}
		memmove(live + index + 1, live + index, (count - index) * sizeof(*live));
		backlog->live_count++;
	}
	live[index] = (struct backlog_live){
		.name = *name,
		.known = step != NULL,
		.attempt = step != NULL ? step->attempt : 0,
	};
}

void backlog_live_remove(struct lens_backlog *backlog, const struct lens_state_name *name)
{
	size_t index = live_search(backlog, name);

	/* It stays in its place: a long backlog would be moved once for each journal. */
	if (live_is(backlog, index, name))
		backlog->live[index].gone = true;
}

const struct backlog_live *backlog_live_of(const struct lens_backlog *backlog,
					   const struct lens_state_name *note, uint32_t attempt,
					   bool batch)
{
	const struct lens_state_name first = { .kind = LENS_STATE_JOURNAL, .job = note->job };

	for (size_t i = live_search(backlog, &first); i < backlog->live_count; i++) {
		const struct backlog_live *live = &backlog->live[i];

		if (live->name.job != note->job)
			break;
		if (!live->gone && live->name.node == note->node &&
		    (live->known ? live->attempt == attempt : !batch) &&
		    (!batch || live->name.step == LENS_STEP_BATCH))
			return live;
	}
	return NULL;
}
