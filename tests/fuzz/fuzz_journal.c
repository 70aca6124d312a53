/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include "lib/job/spans.h"
#include "lib/core/record.h"
#include "lib/job/step.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lens_records *records = lens_records_read(fuzz_file(data, size));
	const struct lens_job_site site = { .version = "0" };
	struct lens_job_step step;
	size_t position = 0;

	must(records);
	while (lens_job_step_read(&step, records, &position) == 1) {
		struct lens_batch *batch = lens_batch_create("slurm-lens", "0");

		must(batch);
		must(lens_step_spans_add(batch, &site, &step, 0, 512) >= 0);
		lens_batch_destroy(batch);
		lens_job_step_clear(&step);
	}
	lens_records_destroy(records);
	return 0;
}
