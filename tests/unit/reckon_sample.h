/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_UNIT_RECKON_SAMPLE_H
#define LENS_TESTS_UNIT_RECKON_SAMPLE_H

#include "lib/job/reckon.h"

#include "tests/unit/job_sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Accounting and its attempts. Include cmocka.h first. */
struct reckon_sample {
	struct lens_accounting *accounting;
	struct lens_reckon *reckon;
};

static const struct lens_reckon_wish reckon_all_kept = {
	.oldest_attempt = LENS_RECORD_NONE,
	.kept_since = INT64_MIN,
};
static const struct lens_reckon_wish reckon_nothing_known = {
	.oldest_attempt = LENS_RECORD_NONE,
	.kept_since = INT64_MAX,
};

static inline struct reckon_sample reckon_sample_read(FILE *in, const struct lens_reckon_wish *wish)
{
	struct reckon_sample sample = { .accounting = lens_accounting_create() };
	struct lens_error err = LENS_ERROR_INIT;

	assert_non_null(in);
	assert_non_null(sample.accounting);
	if (lens_accounting_read(sample.accounting, in, "sample", NULL, &err) == -1)
		fail_msg("%s", err.text);
	fclose(in);
	sample.reckon = lens_reckon_create(sample.accounting, wish);
	assert_non_null(sample.reckon);
	return sample;
}

/* What the sacct of RELEASE printed: tests/unit/sacct/RELEASE.txt. */
static inline struct reckon_sample reckon_sample_file(const char *release,
						      const struct lens_reckon_wish *wish)
{
	const char *root = getenv("LENS_TEST_SRCDIR");
	char path[4096];

	snprintf(path, sizeof(path), "%s/tests/unit/sacct/%s.txt", root != NULL ? root : ".",
		 release);
	return reckon_sample_read(fopen(path, "re"), wish);
}

static inline struct reckon_sample reckon_sample_text(const char *text,
						      const struct lens_reckon_wish *wish)
{
	return reckon_sample_read(fmemopen((void *)text, strlen(text), "r"), wish);
}

static inline void reckon_sample_clear(struct reckon_sample *sample)
{
	lens_reckon_destroy(sample->reckon);
	lens_accounting_destroy(sample->accounting);
}

/* The NTH attempt of JOB, a raw id; NULL when there are fewer. */
static inline const struct lens_reckon_attempt *
reckon_sample_attempt(const struct reckon_sample *sample, uint32_t job, size_t nth)
{
	for (size_t i = 0; i < lens_reckon_count(sample->reckon); i++) {
		const struct lens_reckon_attempt *attempt = lens_reckon_at(sample->reckon, i);

		if (attempt->first->job == job && nth-- == 0)
			return attempt;
	}
	return NULL;
}

/* Its spans: a list of resourceSpans, which the caller puts. */
static inline struct json_object *reckon_sample_spans(const struct lens_reckon_attempt *attempt)
{
	struct lens_batch *batch = lens_batch_create("slurm-lens", "9.9");
	struct json_object *groups;
	int job, steps;

	assert_non_null(attempt);
	job = lens_reckon_job_spans_add(batch, &sample_site, attempt);
	steps = lens_reckon_step_spans_add(batch, &sample_site, attempt, 0, 512);
	assert_true(job >= 0 && job <= 10 && steps >= 0);
	assert_int_equal(lens_batch_span_count(batch), job + steps);
	groups = sample_groups(batch);
	lens_batch_destroy(batch);
	return groups;
}

#endif
