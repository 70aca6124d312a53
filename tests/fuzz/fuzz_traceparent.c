/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include "lib/core/traceparent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size), line[LENS_TRACEPARENT_TEXT];
	struct lens_traceparent value, again;

	if (lens_traceparent_parse(&value, text) == 0) {
		lens_traceparent_format(line, &value);
		must(lens_traceparent_parse(&again, line) == 0);
		must(memcmp(&again.trace, &value.trace, sizeof(again.trace)) == 0);
		must(memcmp(&again.span, &value.span, sizeof(again.span)) == 0);
	}
	free(text);
	return 0;
}
