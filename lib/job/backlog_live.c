/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/backlog_parts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The list is sorted as the names are: they are visited in that order. */

/* The first of the COUNT at LIVE that is not before NAME. */
static size_t live_search(const struct backlog_live *live, size_t count,
			  const struct lens_state_name *name)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (backlog_name_order(&live[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* That of NAME among the COUNT at LIVE, or NULL. */
static struct backlog_live *live_find(struct backlog_live *live, size_t count,
				      const struct lens_state_name *name)
{
	size_t index = live_search(live, count, name);

	return index < count && backlog_name_order(&live[index].name, name) == 0 ? &live[index]
										 : NULL;
}

/* Without memory a note may be settled before its journal, which costs a wider window, no
 * span. */
static void live_put(struct lens_backlog *backlog, const struct backlog_live *item)
{
	size_t count = backlog->live_count;
	size_t index = live_search(backlog->live, count, &item->name);
	struct backlog_live *live = live_find(backlog->live, count, &item->name);

	if (live != NULL) {
		*live = *item;
		return;
	}
	live = backlog->live;
	if ((count & (count - 1)) == 0) { /* grows by doubling */
		live = reallocarray(live, count == 0 ? 1 : count * 2, sizeof(*live));
		if (live == NULL)
			return;
		backlog->live = live;
	}
	/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): with none there count is 0 */
	memmove(live + index + 1, live + index, (count - index) * sizeof(*live));
	live[index] = *item;
	backlog->live_count++;
}

void backlog_live_add(struct lens_backlog *backlog, const struct lens_state_name *name,
		      const struct lens_job_step *step)
{
	live_put(backlog, &(struct backlog_live){ .name = *name,
						  .known = step != NULL,
						  .attempt = step != NULL ? step->attempt : 0 });
}

void backlog_live_finished(struct lens_backlog *backlog, const struct lens_state_name *name,
			   uint32_t attempt, off_t size)
{
	live_put(backlog,
		 &(struct backlog_live){
			 .name = *name, .known = true, .attempt = attempt, .finished = size });
}

void backlog_live_turn(struct lens_backlog *backlog)
{
	free(backlog->before);
	backlog->before = backlog->live;
	backlog->before_count = backlog->live_count;
	backlog->live = NULL;
	backlog->live_count = 0;
}

const struct backlog_live *backlog_live_before(const struct lens_backlog *backlog,
					       const struct lens_state_name *name)
{
	const struct backlog_live *live = live_find(backlog->before, backlog->before_count, name);
	char text[LENS_STATE_NAME];
	struct stat status;

	if (live == NULL || live->gone || live->finished == 0)
		return NULL;
	lens_state_name_format(text, name);
	/* One that is finished may still be told of the end of its job. */
	return fstatat(backlog->directory, text, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
			       status.st_size == live->finished
		       ? live
		       : NULL;
}

void backlog_live_remove(struct lens_backlog *backlog, const struct lens_state_name *name)
{
	struct backlog_live *live = live_find(backlog->live, backlog->live_count, name);

	/* It stays in its place: a long backlog would be moved once for each journal. */
	if (live != NULL)
		live->gone = true;
}

const struct backlog_live *backlog_live_of(const struct lens_backlog *backlog,
					   const struct lens_state_name *note, uint32_t attempt,
					   bool batch)
{
	const struct lens_state_name first = { .kind = LENS_STATE_JOURNAL, .job = note->job };

	for (size_t i = live_search(backlog->live, backlog->live_count, &first);
	     i < backlog->live_count; i++) {
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
