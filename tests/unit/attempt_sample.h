/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_UNIT_ATTEMPT_SAMPLE_H
#define LENS_TESTS_UNIT_ATTEMPT_SAMPLE_H

#include "lib/job/attempt.h"
#include "lib/job/spans.h"
#include "tests/unit/job_sample.h"

typedef int spans_fn(struct lens_batch *, const struct lens_job_site *,
		     const struct lens_job_attempt *, size_t, size_t);

/* What NOTE, the text of a note, tells; the caller clears ATTEMPT, then destroys RECORDS. */
static inline void attempt_of(const char *note, struct lens_records **records,
			      struct lens_job_attempt *attempt)
{
	*records = sample_records(note);
	assert_int_equal(lens_job_attempt_read(attempt, *records), 0);
}

/* What ADD makes of NOTE, as the list of resourceSpans. */
static inline struct json_object *spans_of(spans_fn *add, const char *note)
{
	struct lens_batch *batch = lens_batch_create("slurm-lens", "9.9");
	struct lens_records *records;
	struct lens_job_attempt attempt;
	struct json_object *groups;
	int count;

	attempt_of(note, &records, &attempt);
	count = add(batch, &sample_site, &attempt, 0, 512);
	assert_int_equal(count, lens_batch_span_count(batch));
	groups = sample_groups(batch);
	lens_job_attempt_clear(&attempt);
	lens_batch_destroy(batch);
	lens_records_destroy(records);
	return groups;
}

#endif
