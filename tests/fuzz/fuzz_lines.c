/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include "lib/core/encoding.h"
#include "lib/otlp/read.h"

/* All that `show` asks of a span. */
static int look(void *context, const struct lens_read_span *span)
{
	struct lens_text text = LENS_TEXT_INIT;

	++*(uint64_t *)context;
	must(span->end_ns >= span->start_ns);
	lens_read_name(span, &text);
	lens_read_attribute(span, "slurm.node.name", &text);
	lens_read_attribute(span, "purpose", &text);
	lens_read_resource(span, "slurm.job.id", &text);
	must(!text.failed);
	must(text.length == 0 || lens_utf8_valid(text.data, text.length));
	lens_text_clear(&text);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line = fuzz_string(data, size);
	struct lens_read_counts counts = { 0 };
	struct lens_error err = LENS_ERROR_INIT;
	uint64_t seen = 0;
	int rc = lens_read_line(line, size, look, &seen, &counts, &err);

	must(rc == 0 || (rc == -1 && *err.text != '\0'));
	must(counts.spans == seen);
	free(line);
	return 0;
}
