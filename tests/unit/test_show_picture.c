/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "cmd/show_picture.h"
#include "cmd/show_rows.h"
#include "tests/unit/read_sample.h"

#define ATTEMPT(n) SAMPLE_INT("slurm.attempt", n)

/* The tree as text: `a(b c(d))`, a section behind the other, `?` for an orphan. */
static char *picture_text(const struct show_picture *picture)
{
	struct lens_text text = LENS_TEXT_INIT;

	for (size_t i = 0; i < picture->section_count; i++) {
		size_t depth = 0;

		lens_text_adds(&text, i > 0 ? " | " : "");
		for (const struct show_span *span = picture->sections[i].first; span != NULL;
		     span = show_span_next(span)) {
			for (; depth > span->depth; depth--)
				lens_text_adds(&text, ")");
			if (span->parent != NULL && span->parent->first == span)
				lens_text_adds(&text, "(");
			else if (span != picture->sections[i].first)
				lens_text_adds(&text, " ");
			depth = span->depth;
			lens_text_addf(&text, "%s%s", span->kept->name, span->orphan ? "?" : "");
		}
		for (; depth > 0; depth--)
			lens_text_adds(&text, ")");
	}
	return lens_text_take(&text);
}

/* Draws KEPT, and takes it. */
static void expect_picture(struct lens_kept *kept, bool split, const char *expected)
{
	struct show_picture *picture = show_picture_create(kept, split);
	char *text;

	assert_non_null(picture);
	text = picture_text(picture);
	assert_string_equal(text, expected);
	free(text);
	show_picture_destroy(picture);
	lens_kept_destroy(kept);
}

/* Children by start; of two that begin together an instant first, then the longer. */
static void test_order(void **state)
{
	struct lens_kept *kept = lens_kept_create();

	(void)state;
	sample_add(kept, sample_line(5, 1, "later", 5, 6, "", "", ""));
	sample_add(kept, sample_line(4, 1, "short", 0, 1, "", "", ""));
	sample_add(kept, sample_line(3, 1, "long", 0, 5, "", "", ""));
	sample_add(kept, sample_line(6, 3, "below", 1, 2, "", "", ""));
	sample_add(kept, sample_line(2, 1, "instant", 0, 0, "", "", ""));
	sample_add(kept, sample_line(1, 0, "root", 0, 9, "", "", ""));
	expect_picture(kept, true, "root(instant long(below) short later)");
}

/* Without their parent, lens's spans stand where they belong, the job's own in what ran then. */
static void test_orphans(void **state)
{
	struct lens_kept *kept = lens_kept_create();

	(void)state;
	sample_add(kept, sample_line(1, 0, "slurm.job_attempt", 0, 9, ATTEMPT("0"), "", ""));
	sample_add(kept, sample_line(2, 1, "slurm.job", 2, 9, ATTEMPT("0"), "", ""));
	sample_add(kept, sample_line(3, 99, "slurm.phase.queued", 0, 2, ATTEMPT("0"), "", ""));
	sample_add(kept, sample_line(4, 98, "slurm.task", 3, 4, ATTEMPT("0"), "", ""));
	sample_add(kept, sample_line(5, 97, "lost", 4, 5, "", "", ""));
	sample_add(kept, sample_line(6, 5, "with it", 4, 5, "", "", ""));
	sample_add(kept, sample_line(7, 97, "too early", 1, 2, "", "", ""));
	expect_picture(kept, true,
		       "slurm.job_attempt(slurm.phase.queued? too early? "
		       "slurm.job(slurm.task? lost?(with it)))");
}

/* While the attempt is not over its parents are not missing, they are to come. */
static void test_not_over(void **state)
{
	struct lens_kept *kept = lens_kept_create();

	(void)state;
	sample_add(kept, sample_line(3, 1, "slurm.phase.queued", 0, 2, ATTEMPT("0"), "", ""));
	sample_add(kept, sample_line(4, 9, "slurm.task", 3, 4, ATTEMPT("0"), "", ""));
	expect_picture(kept, true, "slurm.phase.queued slurm.task");
}

/* Parents in a ring, and a span that is its own parent, are shown all the same. */
static void test_rings(void **state)
{
	struct lens_kept *kept = lens_kept_create();
	struct show_picture *picture;
	size_t seen = 0;

	(void)state;
	sample_add(kept, sample_line(1, 2, "a", 0, 9, "", "", ""));
	sample_add(kept, sample_line(2, 3, "b", 1, 9, "", "", ""));
	sample_add(kept, sample_line(3, 1, "c", 2, 9, "", "", ""));
	sample_add(kept, sample_line(4, 4, "self", 3, 9, "", "", ""));
	sample_add(kept, sample_line(5, 3, "tail", 4, 9, "", "", ""));
	picture = show_picture_create(kept, true);
	assert_int_equal(picture->section_count, 1);
	for (const struct show_span *span = picture->sections[0].first; span != NULL;
	     span = show_span_next(span))
		assert_true(++seen <= 5);
	assert_int_equal(seen, 5);
	assert_int_equal(picture->sections[0].spans, 5);
	show_picture_destroy(picture);
	lens_kept_destroy(kept);
}

/* A trace as deep as it likes needs no stack of ours. */
static void test_deep(void **state)
{
	struct lens_kept *kept = lens_kept_create();
	const struct show_limits limits = { 0 };
	struct show_rows rows = { 0 };
	struct show_picture *picture;

	(void)state;
	for (unsigned int i = 1; i <= 30000; i++)
		sample_add(kept, sample_line(i, i - 1, "s", 0, 1, "", "", ""));
	picture = show_picture_create(kept, true);
	assert_int_equal(picture->sections[0].first->below, 29999);
	assert_int_equal(show_rows_make(&rows, &picture->sections[0], &limits), 0);
	assert_int_equal(rows.count, 30000);
	assert_int_equal(rows.rows[29999].depth, 29999);
	show_rows_clear(&rows);
	show_picture_destroy(picture);
	lens_kept_destroy(kept);
}

/* In an outer trace the attempts are told apart, and the task's own spans go with their parent. */
static void test_sections(void **state)
{
	struct lens_kept *kept = lens_kept_create();
	struct show_picture *picture;

	(void)state;
	sample_add(kept,
		   sample_line(1, 99, "slurm.job_attempt", 10, 19,
			       ATTEMPT("1") "," SAMPLE_STRING("slurm.state", "COMPLETED"), "", ""));
	sample_add(kept,
		   sample_line(2, 99, "slurm.job_attempt", 0, 9,
			       ATTEMPT("0") "," SAMPLE_STRING("slurm.state", "REQUEUED"), "", ""));
	sample_add(kept, sample_line(3, 1, "own", 12, 13, "", ",\"status\":{\"code\":2}", ""));
	sample_add(kept, sample_line(4, 2, "slurm.job", 4, 9, ATTEMPT("0"), "", ""));
	picture = show_picture_create(kept, true);
	assert_int_equal(picture->section_count, 2);
	assert_int_equal(picture->sections[0].attempt, 0);
	assert_int_equal(picture->sections[0].run_ns, 1004000000000);
	assert_int_equal(picture->sections[1].attempt, 1);
	assert_int_equal(picture->sections[1].errors, 1);
	assert_int_equal(picture->sections[1].spans, 2);
	assert_false(show_section_failed(&picture->sections[1]));
	assert_true(picture->over);
	show_picture_destroy(picture);
	/* All of a trace, whatever the attempt. */
	expect_picture(kept, false, "slurm.job_attempt(slurm.job) slurm.job_attempt(own)");
}

/* Over when the last attempt is, and no other follows. */
static void test_over(void **state)
{
	static const struct {
		const char *attributes;
		bool over;
	} cases[] = {
		{ ATTEMPT("0") "," SAMPLE_STRING("slurm.state", "REQUEUED"), false },
		{ ATTEMPT("0") "," SAMPLE_STRING("slurm.state", "NODE_FAIL"), true },
		{ ATTEMPT("0"), true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_kept *kept = lens_kept_create();
		struct show_picture *picture;

		sample_add(kept, sample_line(1, 0, "slurm.job_attempt", 0, 9, cases[i].attributes,
					     "", ""));
		picture = show_picture_create(kept, true);
		assert_int_equal(picture->over, cases[i].over);
		show_picture_destroy(picture);
		/* The next attempt has begun. */
		sample_add(kept,
			   sample_line(2, 0, "slurm.phase.queued", 9, 9, ATTEMPT("1"), "", ""));
		picture = show_picture_create(kept, true);
		assert_false(picture->over);
		show_picture_destroy(picture);
		lens_kept_destroy(kept);
	}
}

static char *rows_text(const struct show_picture *picture, const struct show_limits *limits)
{
	struct lens_text text = LENS_TEXT_INIT;
	struct show_rows rows = { 0 };

	assert_int_equal(show_rows_make(&rows, &picture->sections[0], limits), 0);
	for (size_t i = 0; i < rows.count; i++) {
		const struct show_row *row = &rows.rows[i];

		if (row->span != NULL)
			lens_text_adds(&text, row->span->kept->name);
		else
			lens_text_addf(&text, "[%zu %s +%zu !%zu]", row->count,
				       row->name != NULL ? row->name : "any", row->below,
				       row->errors);
		if (row->hidden > 0)
			lens_text_addf(&text, "+%zu", row->hidden);
		lens_text_adds(&text, row->last ? ". " : " ");
	}
	show_rows_clear(&rows);
	return lens_text_take(&text);
}

static size_t count_of(const char *text, const char *word)
{
	size_t count = 0;

	while ((text = strstr(text, word)) != NULL) {
		count++;
		text++;
	}
	return count;
}

/* Of many alike the failed and the longest are seen; of others beside them, all. */
static void test_masses(void **state)
{
	const struct show_limits some = { 0 }, all = { .all = true };
	struct lens_kept *kept = lens_kept_create();
	struct show_picture *picture;
	char *text;

	(void)state;
	sample_add(kept, sample_line(1, 0, "root", 0, 99, "", "", ""));
	sample_add(kept, sample_line(2, 1, "other", 0, 1, "", "", ""));
	for (unsigned int i = 0; i < 40; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%s", "t");
		sample_add(kept,
			   sample_line(100 + i, 1, name, i, i + (i == 7 ? 0.001 : 1 + i * 0.01),
				       SAMPLE_INT("i", "1"),
				       i == 7 ? ",\"status\":{\"code\":2}" : "", ""));
		sample_add(kept, sample_line(200 + i, 100 + i, "u", i, i, "", "", ""));
	}
	picture = show_picture_create(kept, true);
	text = rows_text(picture, &some);
	assert_int_equal(count_of(text, "t u."), 16);
	assert_non_null(strstr(text, "[24 t +24 !0]. "));
	assert_int_equal(count_of(text, "other"), 1);
	free(text);
	text = rows_text(picture, &all);
	assert_int_equal(count_of(text, "u."), 40);
	assert_null(strchr(text, '['));
	free(text);
	show_picture_destroy(picture);
	lens_kept_destroy(kept);
}

/* Very many of different names as well; and no more than there are levels asked for. */
static void test_crowds_and_depth(void **state)
{
	const struct show_limits some = { 0 }, one = { .depth = 1 };
	struct lens_kept *kept = lens_kept_create();
	struct show_picture *picture;
	char *text;

	(void)state;
	sample_add(kept, sample_line(1, 0, "root", 0, 99, "", "", ""));
	for (unsigned int i = 0; i < 100; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%u", i);
		sample_add(kept, sample_line(100 + i, 1, name, 1, 2, "",
					     i > 97 ? ",\"status\":{\"code\":2}" : "", ""));
	}
	picture = show_picture_create(kept, true);
	text = rows_text(picture, &some);
	assert_int_equal(count_of(text, "n"), 64 + 1); /* and that of `any` */
	assert_non_null(strstr(text, "[36 any +0 !0]. "));
	assert_non_null(strstr(text, "n98 "));
	assert_non_null(strstr(text, "n99 "));
	free(text);
	text = rows_text(picture, &one);
	assert_string_equal(text, "root+100. ");
	free(text);
	show_picture_destroy(picture);
	lens_kept_destroy(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_orphans),
		cmocka_unit_test(test_not_over),
		cmocka_unit_test(test_rings),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_over),
		cmocka_unit_test(test_masses),
		cmocka_unit_test(test_crowds_and_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
