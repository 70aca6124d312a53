/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/show_picture.h"

#include "lib/core/number.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* A home that stands deeper is none of lens's making. */
#define HOME_DEPTH_MAX 64

const char *show_span_text(const struct show_span *span, const char *key)
{
	const char *text = lens_kept_text(&span->kept->attributes, key);

	return text != NULL ? text : lens_kept_text(&span->kept->resource->attributes, key);
}

struct show_span *show_span_next(const struct show_span *span)
{
	if (span->first != NULL)
		return span->first;
	while (span->next == NULL && span->parent != NULL)
		span = span->parent;
	return span->next;
}

bool show_section_failed(const struct show_section *section)
{
	const struct show_span *span = section->whole != NULL ? section->whole : section->first;

	return span->kept->status == LENS_STATUS_ERROR;
}

void show_picture_destroy(struct show_picture *picture)
{
	int saved = errno;

	if (picture == NULL)
		return;
	free(picture->sections);
	free(picture->spans);
	free(picture);
	errno = saved;
}

/* Of two that begin together one without length comes first, then the longer; of two without
 * length what waited, then the start. */
static int start_compare(const void *left, const void *right)
{
	const struct show_span *one = left, *other = right;
	const struct lens_kept_span *a = one->kept, *b = other->kept;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if ((a->end_ns == a->start_ns) != (b->end_ns == b->start_ns))
		return a->end_ns == a->start_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	if (one->kind != other->kind)
		return one->kind < other->kind ? -1 : 1;
	return memcmp(&a->span, &b->span, sizeof(a->span));
}

static void spans_fill(struct show_picture *picture, const struct lens_kept *kept)
{
	const char *text;

	for (size_t i = 0; i < picture->span_count; i++) {
		struct show_span *span = &picture->spans[i];

		span->kept = lens_kept_at(kept, i);
		span->kind = show_kind_of(span->kept);
		span->attempt = -1;
		text = show_span_text(span, "slurm.attempt");
		if (text == NULL)
			text = show_span_text(span, "slurm.restart_count");
		lens_int64_parse(text, &span->attempt);
		text = lens_kept_text(&span->kept->attributes, "nemo.span.truncated");
		span->truncated = text != NULL && strcmp(text, "true") == 0;
	}
	if (picture->span_count > 0)
		qsort(picture->spans, picture->span_count, sizeof(*picture->spans), start_compare);
}

static int id_compare(const void *left, const void *right)
{
	const struct lens_kept_span *a = ((const struct show_span *)left)->kept;
	const struct lens_kept_span *b = ((const struct show_span *)right)->kept;
	int order = memcmp(&a->span, &b->span, sizeof(a->span));

	return order != 0 ? order : memcmp(&a->trace, &b->trace, sizeof(a->trace));
}

static void span_keep(void *span)
{
	(void)span; /* the picture's */
}

/* Sets the parents as the spans name them. -1: no memory. */
static int parents_find(struct show_picture *picture)
{
	void *known = NULL;
	int rc = 0;

	for (size_t i = 0; i < picture->span_count && rc == 0; i++)
		rc = tsearch(&picture->spans[i], &known, id_compare) != NULL ? 0 : -1;
	for (size_t i = 0; i < picture->span_count && rc == 0; i++) {
		struct show_span *span = &picture->spans[i], **found;
		const struct lens_kept_span wanted = {
			.trace = span->kept->trace,
			.span = span->kept->parent,
		};
		const struct show_span key = { .kept = &wanted };

		if (!span->kept->has_parent)
			continue;
		found = tfind(&key, &known, id_compare);
		if (found != NULL && *found != span)
			span->parent = *found;
		else
			span->orphan = true;
	}
	tdestroy(known, span_keep);
	return rc;
}

/*
 * Parents that go round in a ring are cut at one of them, which is an orphan then. DEPTH is
 * lent for it: the walk that passed a span, plus one.
 */
static void rings_cut(struct show_picture *picture)
{
	for (size_t i = 0; i < picture->span_count; i++) {
		struct show_span *span = &picture->spans[i];

		for (; span != NULL && span->depth == 0; span = span->parent) {
			span->depth = i + 1;
			if (span->parent != NULL && span->parent->depth == i + 1) {
				span->parent = NULL;
				span->orphan = true;
			}
		}
	}
}

/* Whether SPAN stands below OTHER, or so deep that it is no home. */
static bool is_below(const struct show_span *span, const struct show_span *other)
{
	for (int steps = 0; span != NULL; span = span->parent)
		if (span == other || ++steps > HOME_DEPTH_MAX)
			return true;
	return false;
}

/* -1: no memory. */
static int orphans_place(struct show_picture *picture)
{
	struct show_span **homes = calloc(picture->span_count + 1, sizeof(struct show_span *));
	size_t count = 0;

	if (homes == NULL)
		return -1;
	for (size_t i = 0; i < picture->span_count; i++)
		if (picture->spans[i].kind == SHOW_JOB || picture->spans[i].kind == SHOW_ATTEMPT)
			homes[count++] = &picture->spans[i];
	for (size_t i = 0; i < picture->span_count; i++) {
		struct show_span *span = &picture->spans[i], *home;

		if (!span->orphan)
			continue;
		home = show_place_find(span, homes, count);
		if (home != NULL && !is_below(home, span))
			span->parent = home;
		else if (span->kind == SHOW_ATTEMPT)
			span->orphan = false; /* its parent is the submitter's span */
	}
	free(homes);
	return 0;
}

static bool in_section(const struct show_section *section, const struct show_span *span, bool split)
{
	return memcmp(&section->trace, &span->kept->trace, sizeof(section->trace)) == 0 &&
	       (!split || span->attempt == -1 || section->attempt == span->attempt ||
		section->attempt == -1);
}

static struct show_section *section_of(struct show_picture *picture, const struct show_span *root,
				       bool split)
{
	struct show_section *sections;

	for (size_t i = picture->section_count; i > 0; i--)
		if (in_section(&picture->sections[i - 1], root, split))
			return &picture->sections[i - 1];
	sections = reallocarray(picture->sections, picture->section_count + 1, sizeof(*sections));
	if (sections == NULL)
		return NULL;
	picture->sections = sections;
	sections[picture->section_count] = (struct show_section){
		.trace = root->kept->trace,
		.attempt = root->attempt,
		.start_ns = UINT64_MAX,
		.run_ns = UINT64_MAX,
	};
	return &sections[picture->section_count++];
}

/* SPAN is one of SECTION: what that makes of the section. */
static void section_note(struct show_section *section, const struct show_span *span)
{
	if (span->kept->start_ns < section->start_ns)
		section->start_ns = span->kept->start_ns;
	if (span->kept->end_ns > section->end_ns)
		section->end_ns = span->kept->end_ns;
	section->spans++;
	section->errors += span->kept->status == LENS_STATUS_ERROR;
	if (section->attempt == -1)
		section->attempt = span->attempt;
	if (span->kind == SHOW_ATTEMPT)
		section->whole = span;
	if (span->kind != SHOW_WAIT && span->kind != SHOW_ATTEMPT &&
	    span->kept->start_ns < section->run_ns)
		section->run_ns = span->kept->start_ns;
}

/* Spans come by start, so lists of children are in that order when each is added at the end. */
static int lists_link(struct show_picture *picture, bool split)
{
	for (size_t i = 0; i < picture->span_count; i++) {
		struct show_span *span = &picture->spans[i];

		span->depth = 0;
		if (span->parent == NULL)
			continue;
		if (span->parent->last != NULL)
			span->parent->last->next = span;
		else
			span->parent->first = span;
		span->parent->last = span;
	}
	for (size_t i = 0; i < picture->span_count; i++) {
		struct show_span *span = &picture->spans[i];
		struct show_section *section;

		if (span->parent != NULL)
			continue;
		section = section_of(picture, span, split);
		if (section == NULL)
			return -1;
		section_note(section, span);
		if (section->last != NULL)
			section->last->next = span;
		else
			section->first = span;
		section->last = span;
	}
	return 0;
}

/* Walks down from the roots: depths, attempts that only a parent says, counts. -1: no memory. */
static int tree_count(struct show_picture *picture)
{
	struct show_span **order = calloc(picture->span_count + 1, sizeof(struct show_span *));
	size_t count = 0;

	if (order == NULL)
		return -1;
	for (size_t i = 0; i < picture->section_count; i++) {
		struct show_section *section = &picture->sections[i];

		for (struct show_span *span = section->first; span != NULL;
		     span = show_span_next(span)) {
			order[count++] = span;
			if (span->parent == NULL)
				continue;
			span->depth = span->parent->depth + 1;
			if (span->attempt == -1)
				span->attempt = span->parent->attempt;
			section_note(section, span);
		}
	}
	/* While an attempt is not over its spans' parents are still to come. */
	for (size_t i = 0; i < picture->section_count; i++)
		for (struct show_span *span = picture->sections[i].first;
		     span != NULL && picture->sections[i].whole == NULL &&
		     picture->sections[i].attempt >= 0;
		     span = show_span_next(span))
			span->orphan = false;
	while (count-- > 0)
		if (order[count]->parent != NULL)
			order[count]->parent->below += order[count]->below + 1;
	free(order);
	return 0;
}

static int section_compare(const void *left, const void *right)
{
	const struct show_section *a = left, *b = right;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->attempt < b->attempt ? -1 : a->attempt > b->attempt;
}

static bool is_over(const struct show_picture *picture)
{
	const struct show_section *last = NULL;
	const char *state;

	for (size_t i = 0; i < picture->section_count; i++)
		if (last == NULL || picture->sections[i].attempt >= last->attempt)
			last = &picture->sections[i];
	if (last == NULL || last->whole == NULL)
		return false;
	state = lens_kept_text(&last->whole->kept->attributes, "slurm.state");
	return state == NULL || strcmp(state, "REQUEUED") != 0;
}

struct show_picture *show_picture_create(const struct lens_kept *kept, bool split)
{
	struct show_picture *picture = calloc(1, sizeof(*picture));

	if (picture == NULL)
		return NULL;
	picture->span_count = lens_kept_count(kept);
	picture->spans = calloc(picture->span_count + 1, sizeof(*picture->spans));
	if (picture->spans == NULL)
		goto failed;
	spans_fill(picture, kept);
	if (parents_find(picture) == -1)
		goto failed;
	rings_cut(picture);
	if (orphans_place(picture) == -1 || lists_link(picture, split) == -1 ||
	    tree_count(picture) == -1)
		goto failed;
	if (picture->section_count > 0)
		qsort(picture->sections, picture->section_count, sizeof(*picture->sections),
		      section_compare);
	picture->over = is_over(picture);
	return picture;
failed:
	show_picture_destroy(picture);
	return NULL;
}
