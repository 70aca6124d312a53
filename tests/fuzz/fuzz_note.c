/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include "lib/core/note.h"
#include "lib/job/attempt.h"
#include "lib/job/spans.h"

static void spans_make(const struct lens_job_attempt *attempt)
{
	const struct lens_job_site site = { .version = "0" };
	struct lens_batch *batch = lens_batch_create("slurm-lens", "0");

	must(batch);
	must(lens_start_spans_add(batch, &site, attempt, 0, 512) >= 0);
	must(lens_job_spans_add(batch, &site, attempt, 0, 512) >= 0);
	lens_batch_destroy(batch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lens_records *records = lens_records_read(fuzz_file(data, size));
	struct lens_job_attempt attempt;
	struct lens_note note;

	must(records);
	if (lens_note_parse(&note, records) == 0)
		must(note.cluster && note.node && note.sluid && note.outer);
	lens_note_clear(&note);
	if (lens_job_attempt_read(&attempt, records) == 0) {
		spans_make(&attempt);
		lens_job_attempt_clear(&attempt);
	}
	lens_records_destroy(records);
	return 0;
}
