/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/reckon.h"

#include "lib/core/step_id.h"
#include "lib/core/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct lens_reckon {
	struct lens_reckon_attempt *attempts;
	size_t count;
};

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int record_compare(const struct lens_account_record *a, const struct lens_account_record *b)
{
	int order = strcmp(a->cluster, b->cluster);

	if (order == 0)
		order = compare(a->leader, b->leader);
	if (order == 0)
		order = compare(a->offset, b->offset);
	if (order == 0)
		order = compare(a->job, b->job);
	if (order == 0)
		order = compare((uint64_t)a->submit, (uint64_t)b->submit);
	if (order == 0)
		order = compare(a->index, b->index);
	return order;
}

static int attempt_compare(const void *a, const void *b)
{
	const struct lens_reckon_attempt *one = a, *other = b;

	return record_compare(one->first, other->first);
}

static int step_compare(const void *a, const void *b)
{
	const struct lens_reckon_step *one = a, *other = b;
	int order = compare((uint64_t)one->start, (uint64_t)other->start);

	return order != 0 ? order : compare(one->record->step, other->record->step);
}

static bool same_job(const struct lens_account_record *a, const struct lens_account_record *b)
{
	return a->job == b->job && strcmp(a->cluster, b->cluster) == 0;
}

static int step_add(struct lens_reckon_attempt *attempt, const struct lens_account_record *record)
{
	size_t count = attempt->step_count;
	struct lens_reckon_step *steps = attempt->steps;

	if ((count & (count - 1)) == 0) { /* grows by doubling */
		steps = reallocarray(steps, count == 0 ? 1 : count * 2, sizeof(*steps));
		if (steps == NULL)
			return -1;
		attempt->steps = steps;
	}
	steps[attempt->step_count++] = (struct lens_reckon_step){
		.record = record,
		.start = record->start,
		/* The row of a job that was resized then ends there, what ran in it does not. */
		.end = strcmp(record->state, "RESIZING") == 0 ? 0 : record->end,
		.tasks = record->tasks,
		.state = record->state,
		.exit_code = record->exit_code,
	};
	return 0;
}

/* Rows to attempts: a job's row, and the steps behind it. */
static int attempts_collect(struct lens_reckon *reckon, const struct lens_accounting *accounting)
{
	struct lens_reckon_attempt *attempt = NULL;

	for (size_t i = 0; i < lens_accounting_count(accounting); i++) {
		const struct lens_account_record *record = lens_accounting_at(accounting, i);

		if (!record->is_step) {
			attempt = &reckon->attempts[reckon->count++];
			attempt->first = record;
			attempt->last = record;
		} else if (attempt != NULL && same_job(attempt->first, record) &&
			   record->index == attempt->first->index && record->start > 0 &&
			   record->step != LENS_STEP_EXTERN && step_add(attempt, record) == -1) {
			return -1;
		}
	}
	return 0;
}

/* Moves the attempt at FROM to the COUNT kept ones, which FROM is not before. */
static void attempt_keep(struct lens_reckon *reckon, size_t from, size_t *count)
{
	reckon->attempts[*count] = reckon->attempts[from];
	if (*count != from)
		memset(&reckon->attempts[from], 0, sizeof(reckon->attempts[from]));
	(*count)++;
}

static void attempt_drop(struct lens_reckon_attempt *attempt)
{
	free(attempt->steps);
	memset(attempt, 0, sizeof(*attempt));
}

/* The same row twice: of outputs that were put together, or a job that was asked for twice. */
static void copies_drop(struct lens_reckon *reckon)
{
	size_t count = 0;

	for (size_t i = 0; i < reckon->count; i++) {
		const struct lens_account_record *record = reckon->attempts[i].first;
		const struct lens_account_record *before =
			count > 0 ? reckon->attempts[count - 1].first : NULL;

		if (before != NULL && record_compare(before, record) == 0)
			attempt_drop(&reckon->attempts[i]);
		else
			attempt_keep(reckon, i, &count);
	}
	reckon->count = count;
}

/* A job that is resized goes on in a new row, which is submitted and begins at that moment. */
static int resized_join(struct lens_reckon *reckon)
{
	size_t count = 0;

	for (size_t i = 0; i < reckon->count; i++) {
		struct lens_reckon_attempt *attempt = &reckon->attempts[i];
		struct lens_reckon_attempt *before =
			count > 0 ? &reckon->attempts[count - 1] : NULL;

		if (before == NULL || !same_job(before->last, attempt->first) ||
		    strcmp(before->last->state, "RESIZING") != 0) {
			attempt_keep(reckon, i, &count);
			continue;
		}
		before->last = attempt->last;
		for (size_t k = 0; k < attempt->step_count; k++) {
			if (step_add(before, attempt->steps[k].record) == -1)
				return -1;
		}
		attempt_drop(attempt);
	}
	reckon->count = count;
	return 0;
}

/* Whether LATER is a further attempt of EARLIER's job, not a job that has its number anew. */
static bool goes_on(const struct lens_account_record *earlier,
		    const struct lens_account_record *later)
{
	/* How an attempt ends that is requeued, if it had ended well before that too. */
	static const char *const ends[] = { "REQUEUED",     "REQUEUE_HOLD", "REQUEUE_FED",
					    "SPECIAL_EXIT", "NODE_FAIL",    "PREEMPTED",
					    "BOOT_FAIL" };

	if (strcmp(earlier->user, later->user) != 0)
		return false;
	if (earlier->restarts != LENS_RECORD_NONE && later->restarts != LENS_RECORD_NONE)
		return later->restarts > earlier->restarts;
	return lens_words_have(ends, sizeof(ends) / sizeof(ends[0]), earlier->state);
}

/*
 * Whether no attempt can have been before FIRST. A requeue makes a job wait: it is eligible
 * cred_expire, a second at least, and one more after it is submitted (measured on 22.05). And it
 * ends the attempt before at the moment that counts as the new submission.
 */
static bool nothing_before(const struct lens_account_record *first,
			   const struct lens_reckon_wish *wish)
{
	return (first->eligible > 0 && first->eligible <= first->submit + 1) ||
	       first->submit >= wish->kept_since;
}

/* Numbers the COUNT rows of one job, oldest first. */
static void job_number(struct lens_reckon_attempt *attempts, size_t count,
		       const struct lens_reckon_wish *wish)
{
	size_t begin = count - 1;
	bool known;
	uint32_t oldest = 0;

	while (begin > 0 && goes_on(attempts[begin - 1].last, attempts[begin].first))
		begin--;
	for (size_t i = 0; i < begin; i++)
		attempts[i].number = LENS_RECKON_REUSED;
	known = begin > 0 || nothing_before(attempts[begin].first, wish);
	if (wish->oldest_attempt != LENS_RECORD_NONE) {
		known = true;
		oldest = wish->oldest_attempt;
	}
	for (size_t i = begin; i < count; i++) {
		struct lens_reckon_attempt *attempt = &attempts[i];

		attempt->again = i + 1 < count;
		attempt->number = known ? LENS_RECKON_COUNTED : LENS_RECKON_UNKNOWN;
		attempt->attempt = oldest + (uint32_t)(i - begin);
		if (attempt->first->restarts != LENS_RECORD_NONE) {
			attempt->number = LENS_RECKON_TOLD;
			attempt->attempt = attempt->first->restarts;
		}
		if (i > begin && attempts[begin].number != LENS_RECKON_UNKNOWN &&
		    attempts[begin].attempt == 0)
			attempt->first_submit = attempts[begin].first->submit;
	}
}

static struct lens_reckon_step *step_find(struct lens_reckon_attempt *attempt, uint32_t step)
{
	for (size_t i = 0; i < attempt->step_count; i++) {
		if (attempt->steps[i].record->step == step)
			return &attempt->steps[i];
	}
	return NULL;
}

/* The step as all of it was: whole window, all tasks, any failure. */
static void step_join(struct lens_reckon_step *step, struct lens_reckon_step *part)
{
	part->elsewhere = true;
	if (part->start < step->start)
		step->start = part->start;
	if (part->end == 0 || (step->end != 0 && part->end > step->end))
		step->end = part->end;
	step->tasks += part->tasks;
	if (strcmp(step->state, "COMPLETED") == 0) {
		step->state = part->state;
		step->exit_code = part->exit_code;
	}
}

/* Steps over several components of a het job have one number in all of them. */
static void components_join(struct lens_reckon *reckon)
{
	for (size_t i = 0; i < reckon->count; i++) {
		struct lens_reckon_attempt *later = &reckon->attempts[i];

		for (size_t k = 0; k < i && later->first->het; k++) {
			struct lens_reckon_attempt *earlier = &reckon->attempts[i - 1 - k];

			if (earlier->first->leader != later->first->leader ||
			    strcmp(earlier->first->cluster, later->first->cluster) != 0)
				break;
			if (earlier->first->job == later->first->job ||
			    earlier->attempt != later->attempt)
				continue;
			for (size_t n = 0; n < later->step_count; n++) {
				struct lens_reckon_step *part = &later->steps[n];
				struct lens_reckon_step *step =
					part->elsewhere ? NULL
							: step_find(earlier, part->record->step);

				if (step != NULL && !step->elsewhere)
					step_join(step, part);
			}
		}
	}
}

/* Counts the steps that srun made and the times between them in which none ran. */
static void steps_count(struct lens_reckon_attempt *attempt)
{
	uint32_t number = 0, gap = 0;
	int64_t covered = 0;

	for (size_t i = 0; i < attempt->step_count; i++) {
		struct lens_reckon_step *step = &attempt->steps[i];
		int64_t end = lens_reckon_step_end(attempt, step);

		if (lens_reckon_is_shell(step))
			continue;
		step->number = number++;
		if (covered > 0 && step->start > covered) {
			step->idle_since = covered;
			step->gap = gap++;
		}
		if (end > covered)
			covered = end;
	}
}

static int reckon_fill(struct lens_reckon *reckon, const struct lens_accounting *accounting,
		       const struct lens_reckon_wish *wish)
{
	size_t from = 0;

	if (attempts_collect(reckon, accounting) == -1)
		return -1;
	qsort(reckon->attempts, reckon->count, sizeof(*reckon->attempts), attempt_compare);
	copies_drop(reckon);
	if (resized_join(reckon) == -1)
		return -1;
	for (size_t i = 0; i < reckon->count; i++) {
		struct lens_reckon_attempt *attempt = &reckon->attempts[i];

		if (attempt->step_count > 1)
			qsort(attempt->steps, attempt->step_count, sizeof(*attempt->steps),
			      step_compare);
	}
	for (size_t i = 1; i <= reckon->count; i++) {
		if (i < reckon->count &&
		    same_job(reckon->attempts[from].first, reckon->attempts[i].first))
			continue;
		job_number(&reckon->attempts[from], i - from, wish);
		from = i;
	}
	components_join(reckon);
	for (size_t i = 0; i < reckon->count; i++)
		steps_count(&reckon->attempts[i]);
	return 0;
}

struct lens_reckon *lens_reckon_create(const struct lens_accounting *accounting,
				       const struct lens_reckon_wish *wish)
{
	struct lens_reckon *reckon = calloc(1, sizeof(*reckon));
	size_t count = lens_accounting_count(accounting);

	if (reckon == NULL)
		return NULL;
	reckon->attempts = calloc(count > 0 ? count : 1, sizeof(*reckon->attempts));
	if (reckon->attempts != NULL && reckon_fill(reckon, accounting, wish) == 0)
		return reckon;
	lens_reckon_destroy(reckon);
	return NULL;
}

void lens_reckon_destroy(struct lens_reckon *reckon)
{
	int saved = errno;

	if (reckon == NULL)
		return;
	for (size_t i = 0; reckon->attempts != NULL && i < reckon->count; i++)
		free(reckon->attempts[i].steps);
	free(reckon->attempts);
	free(reckon);
	errno = saved;
}

size_t lens_reckon_count(const struct lens_reckon *reckon)
{
	return reckon->count;
}

const struct lens_reckon_attempt *lens_reckon_at(const struct lens_reckon *reckon, size_t index)
{
	return &reckon->attempts[index];
}

bool lens_reckon_is_shell(const struct lens_reckon_step *step)
{
	return step->record->step == LENS_STEP_BATCH || step->record->step == LENS_STEP_INTERACTIVE;
}

int64_t lens_reckon_step_end(const struct lens_reckon_attempt *attempt,
			     const struct lens_reckon_step *step)
{
	return step->end > 0 ? step->end : attempt->last->end;
}

bool lens_reckon_started(const struct lens_reckon_attempt *attempt)
{
	return *attempt->first->nodelist != '\0' && attempt->first->start > 0;
}

bool lens_reckon_ended(const struct lens_reckon_attempt *attempt)
{
	static const char *const open[] = { "PENDING", "RUNNING", "SUSPENDED" };

	return attempt->last->end > 0 &&
	       !lens_words_have(open, sizeof(open) / sizeof(open[0]), attempt->last->state);
}
