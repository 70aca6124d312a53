/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include "lib/core/note.h"
#include "lib/job/attempt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lens_records *records = lens_records_read(fuzz_file(data, size));
	struct lens_job_attempt attempt;
	struct lens_note note;

	must(records);
	if (lens_note_parse(&note, records) == 0)
		must(note.cluster && note.node && note.sluid && note.outer);
	lens_note_clear(&note);
	if (lens_job_attempt_read(&attempt, records) == 0)
		lens_job_attempt_clear(&attempt);
	lens_records_destroy(records);
	return 0;
}
