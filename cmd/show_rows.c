/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/show_rows.h"

#include <stdlib.h>
#include <string.h>

/* Siblings while it is decided which of them are seen. */
struct choice {
	const struct show_span **spans;
	size_t count;
};

static uint64_t length_of(const struct show_span *span)
{
	return span->kept->end_ns - span->kept->start_ns;
}

static bool failed(const struct show_span *span)
{
	return span->kept->status == LENS_STATUS_ERROR;
}

/* Failed ones first, then the longest; else the order of time, in which they lie. */
static int worth_compare(const struct show_span *a, const struct show_span *b)
{
	if (failed(a) != failed(b))
		return failed(a) ? -1 : 1;
	if (length_of(a) != length_of(b))
		return length_of(a) > length_of(b) ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int name_worth_compare(const void *left, const void *right)
{
	const struct show_span *a = *(const struct show_span *const *)left;
	const struct show_span *b = *(const struct show_span *const *)right;
	int order = strcmp(a->kept->name, b->kept->name);

	return order != 0 ? order : worth_compare(a, b);
}

static int any_worth_compare(const void *left, const void *right)
{
	return worth_compare(*(const struct show_span *const *)left,
			     *(const struct show_span *const *)right);
}

static int place_compare(const void *left, const void *right)
{
	const struct show_span *a = *(const struct show_span *const *)left;
	const struct show_span *b = *(const struct show_span *const *)right;

	return a < b ? -1 : a > b; /* the picture's spans lie by start */
}

/* Cuts the choice down to at most SHOW_SIBLINGS of a name, and SHOW_CHILDREN. */
static void choice_cut(struct choice *choice)
{
	const char *name = NULL;
	size_t kept = 0, same = 0;

	qsort(choice->spans, choice->count, sizeof(*choice->spans), name_worth_compare);
	for (size_t i = 0; i < choice->count; i++) {
		const struct show_span *span = choice->spans[i];

		if (name == NULL || strcmp(span->kept->name, name) != 0)
			same = 0;
		name = span->kept->name;
		if (same++ < SHOW_SIBLINGS)
			choice->spans[kept++] = span;
	}
	if (kept > SHOW_CHILDREN) {
		qsort(choice->spans, kept, sizeof(*choice->spans), any_worth_compare);
		kept = SHOW_CHILDREN;
	}
	choice->count = kept;
}

static struct show_row *row_add(struct show_rows *rows, size_t *capacity)
{
	struct show_row *grown;

	if (rows->count == *capacity) {
		size_t wanted = *capacity > 0 ? 2 * *capacity : 64;

		grown = reallocarray(rows->rows, wanted, sizeof(*grown));
		if (grown == NULL)
			return NULL;
		rows->rows = grown;
		*capacity = wanted;
	}
	rows->rows[rows->count] = (struct show_row){ 0 };
	return &rows->rows[rows->count++];
}

static void left_out_add(struct show_row *row, const struct show_span *span)
{
	if (row->count == 0) {
		row->start_ns = span->kept->start_ns;
		row->name = span->kept->name;
	} else if (row->name != NULL && strcmp(row->name, span->kept->name) != 0) {
		row->name = NULL;
	}
	if (span->kept->end_ns > row->end_ns)
		row->end_ns = span->kept->end_ns;
	row->count++;
	row->below += span->below;
	row->errors += failed(span);
}

/* Whether SPAN is among the choice, which is by place. */
static bool is_chosen(const struct choice *choice, const struct show_span *span)
{
	return bsearch(&span, choice->spans, choice->count, sizeof(*choice->spans),
		       place_compare) != NULL;
}

static void rows_turn(struct show_row *rows, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		struct show_row row = rows[i];

		rows[i] = rows[count - 1 - i];
		rows[count - 1 - i] = row;
	}
}

/* Adds the rows of FIRST and its siblings, the last of them first. -1: no memory. */
static int siblings_add(struct show_rows *rows, size_t *capacity, const struct show_span *first,
			bool all)
{
	struct choice choice = { 0 };
	struct show_row left = { 0 }, *row;
	size_t count = 0, begin = rows->count;
	int rc = -1;

	if (first == NULL)
		return 0;
	for (const struct show_span *span = first; span != NULL; span = span->next)
		count++;
	choice.spans = calloc(count, sizeof(*choice.spans));
	if (choice.spans == NULL)
		return -1;
	for (const struct show_span *span = first; span != NULL; span = span->next)
		choice.spans[choice.count++] = span;
	if (!all && count > SHOW_SIBLINGS)
		choice_cut(&choice);
	qsort(choice.spans, choice.count, sizeof(*choice.spans), place_compare);
	for (const struct show_span *span = first; span != NULL; span = span->next) {
		if (!is_chosen(&choice, span)) {
			left_out_add(&left, span);
			continue;
		}
		row = row_add(rows, capacity);
		if (row == NULL)
			goto out;
		row->span = span;
		row->parent = span->parent;
		row->depth = span->depth;
	}
	if (left.count > 0) {
		row = row_add(rows, capacity);
		if (row == NULL)
			goto out;
		left.parent = first->parent;
		left.depth = first->depth;
		*row = left;
	}
	rows->rows[rows->count - 1].last = true;
	rows_turn(rows->rows + begin, rows->count - begin);
	rc = 0;
out:
	free(choice.spans);
	return rc;
}

/* A stack in place of recursion: a trace may be as deep as it likes. */
int show_rows_make(struct show_rows *rows, const struct show_section *section,
		   const struct show_limits *limits)
{
	struct show_rows stack = { 0 };
	size_t stack_capacity = 0, capacity = 0;
	int rc = siblings_add(&stack, &stack_capacity, section->first, limits->all);

	while (rc == 0 && stack.count > 0) {
		const struct show_row top = stack.rows[--stack.count];
		struct show_row *row = row_add(rows, &capacity);

		if (row == NULL) {
			rc = -1;
			break;
		}
		*row = top;
		if (top.span == NULL || top.span->first == NULL)
			continue;
		if (limits->depth > 0 && top.depth + 1 >= limits->depth)
			row->hidden = top.span->below;
		else
			rc = siblings_add(&stack, &stack_capacity, top.span->first, limits->all);
	}
	show_rows_clear(&stack);
	return rc;
}

void show_rows_clear(struct show_rows *rows)
{
	free(rows->rows);
	*rows = (struct show_rows){ 0 };
}
