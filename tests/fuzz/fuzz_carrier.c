/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include "lib/core/carrier.h"

static int same(const struct lens_text *a, const struct lens_text *b)
{
	return a->length == b->length &&
	       (a->length == 0 || memcmp(a->data, b->data, a->length) == 0);
}

/* What is written is read as the same: merging twice is merging once. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size);
	struct lens_carrier *first = lens_carrier_create(), *second = lens_carrier_create();
	struct lens_text once = LENS_TEXT_INIT, twice = LENS_TEXT_INIT;

	must(first && second);
	must(lens_carrier_parse(first, text, NULL) == 0);
	lens_carrier_format(first, &once, NULL);
	must(lens_carrier_parse(second, once.data, NULL) == 0);
	lens_carrier_format(second, &twice, NULL);
	must(same(&once, &twice));
	lens_text_clear(&once);
	lens_text_clear(&twice);
	lens_carrier_destroy(first);
	lens_carrier_destroy(second);
	free(text);
	return 0;
}
