/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/backlog_memory.h"

#include "lib/core/clock.h"

#include <stdlib.h>
#include <string.h>

struct done {
	char *node; /* NULL: a free place */
	uint32_t job, attempt;
	int64_t first_submit;
};

/* A note that was there. By name: what the agent appends makes the file a new one. */
struct inherited {
	struct lens_state_name name;
	bool settled; /* it needs no question */
};

struct lens_memory {
	char boot[LENS_BOOT_ID];
	int64_t begin_ns; /* what was written before may have ended unseen */
	struct done done[LENS_MEMORY_DONE];
	size_t next;
	struct inherited *inherited;
	size_t inherited_count;
};

struct lens_memory *lens_memory_create(void)
{
	struct lens_memory *memory = calloc(1, sizeof(*memory));

	if (memory == NULL)
		return NULL;
	lens_boot_id_get(memory->boot);
	lens_memory_begin(memory);
	return memory;
}

void lens_memory_destroy(struct lens_memory *memory)
{
	if (memory == NULL)
		return;
	for (size_t i = 0; i < LENS_MEMORY_DONE; i++)
		free(memory->done[i].node);
	free(memory->inherited);
	free(memory);
}

const char *lens_memory_boot(const struct lens_memory *memory)
{
	return memory->boot;
}

int64_t lens_job_attempt_first_submit(const struct lens_job_attempt *attempt)
{
	const struct lens_job_answer *started = lens_job_attempt_started(attempt);

	if (attempt->first_submit > 0 || started == NULL)
		return attempt->first_submit;
	/* After a requeue Slurm's own time is that of the requeue. */
	return attempt->note.attempt == 0 ? started->submit : 0;
}

void lens_memory_done_add(struct lens_memory *memory, const struct lens_job_attempt *attempt)
{
	struct done *done = &memory->done[memory->next];
	char *node = strdup(attempt->note.node);

	if (node == NULL)
		return;
	free(done->node);
	*done = (struct done){ .node = node,
			       .job = attempt->note.job,
			       .attempt = attempt->note.attempt,
			       .first_submit = lens_job_attempt_first_submit(attempt) };
	memory->next = (memory->next + 1) % LENS_MEMORY_DONE;
}

bool lens_memory_done_has(const struct lens_memory *memory, const struct lens_job_attempt *attempt)
{
	for (size_t i = 0; i < LENS_MEMORY_DONE; i++) {
		const struct done *done = &memory->done[i];

		if (done->node != NULL && done->job == attempt->note.job &&
		    done->attempt == attempt->note.attempt &&
		    strcmp(done->node, attempt->note.node) == 0)
			return true;
	}
	return false;
}

int64_t lens_memory_first_submit(const struct lens_memory *memory, uint32_t job, uint32_t attempt)
{
	for (size_t i = 0; i < LENS_MEMORY_DONE; i++) {
		const struct done *done = &memory->done[i];

		if (done->node != NULL && done->job == job && done->attempt < attempt &&
		    done->first_submit > 0)
			return done->first_submit;
	}
	return 0;
}

void lens_memory_begin(struct lens_memory *memory)
{
	/* The clock that files are stamped by. */
	memory->begin_ns = lens_clock_ns(CLOCK_REALTIME_COARSE);
	memory->inherited_count = 0;
}

static struct inherited *inherited_find(const struct lens_memory *memory,
					const struct lens_state_name *name)
{
	for (size_t i = 0; i < memory->inherited_count; i++) {
		if (memory->inherited[i].name.job == name->job &&
		    memory->inherited[i].name.node == name->node)
			return &memory->inherited[i];
	}
	return NULL;
}

bool lens_memory_inherited(struct lens_memory *memory, const struct lens_state_name *name,
			   const struct timespec *written)
{
	const int64_t written_ns = (int64_t)written->tv_sec * 1000000000 + written->tv_nsec;
	const struct inherited *known = inherited_find(memory, name);
	struct inherited *inherited = memory->inherited;
	size_t count = memory->inherited_count;

	if (known != NULL)
		return !known->settled;
	if (written_ns >= memory->begin_ns)
		return false;
	inherited = reallocarray(inherited, count + 1, sizeof(*inherited));
	if (inherited != NULL) { /* else it is when it is seen the next time */
		inherited[count] = (struct inherited){ .name = *name };
		memory->inherited = inherited;
		memory->inherited_count = count + 1;
	}
	return true;
}

void lens_memory_inherited_settle(struct lens_memory *memory, const struct lens_state_name *name)
{
	struct inherited *known = inherited_find(memory, name);

	if (known != NULL)
		known->settled = true;
}
