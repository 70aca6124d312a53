/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include "lib/job/accounting.h"
#include "lib/job/reckon.h"

#include <stdio.h>

/* Whatever stands in a saved output of sacct: it is refused, or there are spans of it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct lens_job_site site = { "", "slurm", "0" };
	const struct lens_reckon_wish wish = { LENS_RECORD_NONE, INT64_MIN };
	struct lens_accounting *accounting = lens_accounting_create();
	FILE *in = size > 0 ? fmemopen((void *)data, size, "r") : NULL;
	struct lens_reckon *reckon = NULL;
	struct lens_error err;

	must(accounting != NULL);
	if (in != NULL && lens_accounting_read(accounting, in, "fuzz", NULL, &err) == 0) {
		reckon = lens_reckon_create(accounting, &wish);
		must(reckon != NULL);
		for (size_t i = 0; i < lens_reckon_count(reckon); i++) {
			const struct lens_reckon_attempt *attempt = lens_reckon_at(reckon, i);
			struct lens_batch *batch = lens_batch_create("slurm-lens", "0");

			must(lens_reckon_job_spans_add(batch, &site, attempt) >= 0);
			must(lens_reckon_step_spans_add(batch, &site, attempt, 0, 64) >= 0);
			lens_batch_destroy(batch);
		}
	}
	if (in != NULL)
		fclose(in);
	lens_reckon_destroy(reckon);
	lens_accounting_destroy(accounting);
	return 0;
}
