/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/interval.h"

#include "lib/core/show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS INT64_C(1000000)

struct check {
	struct lens_intervals *list;
	const struct lens_interval **by_name; /* sorted */
	lens_interval_problem_fn *problem;
	void *context;
	int fatal;
};

/* What is wrong is the text WHY, or with OTHER: WHY `OTHER`. */
static void problem(struct check *check, bool fatal, const struct lens_interval *interval,
		    const char *why, const char *other)
{
	struct lens_shown name, shown;
	struct lens_error text;

	if (other == NULL)
		lens_error_set(&text, "span `%s`: %s", lens_shown_value(&name, interval->name),
			       why);
	else
		lens_error_set(&text, "span `%s`: %s `%s`", lens_shown_value(&name, interval->name),
			       why, lens_shown_value(&shown, other));
	check->fatal += fatal;
	check->problem(check->context, fatal, text.text);
}

static int name_compare(const void *left, const void *right)
{
	const struct lens_interval *a = *(const struct lens_interval *const *)left;
	const struct lens_interval *b = *(const struct lens_interval *const *)right;
	int order = strcmp(a->name, b->name);

	/* By place where names are the same, so that the first stays the first. */
	return order != 0 ? order : a < b ? -1 : a > b;
}

static int find_compare(const void *key, const void *item)
{
	return strcmp(key, (*(const struct lens_interval *const *)item)->name);
}

static int names_sort(struct check *check)
{
	check->by_name = calloc(check->list->count + 1, sizeof(*check->by_name));
	if (check->by_name == NULL)
		return -1;
	for (size_t i = 0; i < check->list->count; i++)
		check->by_name[i] = &check->list->items[i];
	qsort(check->by_name, check->list->count, sizeof(*check->by_name), name_compare);
	return 0;
}

/* Each name that is there more than once is told once. */
static void names_check(struct check *check)
{
	for (size_t i = 1; i < check->list->count; i++) {
		bool same = strcmp(check->by_name[i - 1]->name, check->by_name[i]->name) == 0;

		if (same &&
		    (i < 2 || strcmp(check->by_name[i - 2]->name, check->by_name[i]->name) != 0))
			problem(check, true, check->by_name[i], "its name is there more than once",
				NULL);
	}
}

static void parents_find(struct check *check)
{
	for (size_t i = 0; i < check->list->count; i++) {
		struct lens_interval *interval = &check->list->items[i];
		const struct lens_interval **found;

		if (interval->parent == NULL)
			continue;
		found = bsearch(interval->parent, check->by_name, check->list->count,
				sizeof(*check->by_name), find_compare);
		if (found == NULL)
			problem(check, true, interval, "no span has the name of its parent,",
				interval->parent);
		else
			interval->parent_at = (size_t)(*found - check->list->items);
	}
}

enum mark { MARK_NEW, MARK_UNDER_WAY, MARK_DONE };

/* Each span has one parent at most: a walk up from each ends at a root, at what is known already,
 * or where it came by before. */
static int cycles_check(struct check *check)
{
	const struct lens_intervals *list = check->list;
	uint8_t *marks = calloc(list->count + 1, sizeof(*marks));

	if (marks == NULL)
		return -1;
	for (size_t start = 0; start < list->count; start++) {
		size_t at = start;

		while (marks[at] == MARK_NEW && list->items[at].parent != NULL) {
			marks[at] = MARK_UNDER_WAY;
			at = list->items[at].parent_at;
		}
		if (marks[at] == MARK_UNDER_WAY)
			problem(check, true, &list->items[at], "it is its own ancestor, by",
				list->items[at].parent);
		for (at = start; marks[at] == MARK_UNDER_WAY; at = list->items[at].parent_at)
			marks[at] = MARK_DONE;
	}
	free(marks);
	return 0;
}

static void windows_check(struct check *check)
{
	for (size_t i = 0; i < check->list->count; i++) {
		struct lens_interval *interval = &check->list->items[i];
		int64_t inversion = interval->start_ns - interval->end_ns;
		bool fatal = inversion > LENS_INVERSION_MAX_NS;
		struct lens_error why;

		if (inversion <= 0)
			continue;
		lens_error_set(&why, "its end is %" PRId64 ".%06" PRId64 " ms before its start%s",
			       inversion / NS_PER_MS, inversion % NS_PER_MS,
			       fatal ? ", more than clocks differ by" : ": set to the start");
		problem(check, fatal, interval, why.text, NULL);
		if (!fatal)
			interval->end_ns = interval->start_ns;
	}
}

int lens_intervals_check(struct lens_intervals *list, lens_interval_problem_fn *problem_told,
			 void *context)
{
	struct check check = { .list = list, .problem = problem_told, .context = context };
	int rc = names_sort(&check);

	if (rc == 0) {
		names_check(&check);
		parents_find(&check);
		windows_check(&check);
		/* Only names that are clear say who is whose ancestor. */
		if (check.fatal == 0)
			rc = cycles_check(&check);
	}
	free(check.by_name);
	return rc == -1 ? -1 : check.fatal;
}
