/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include "lib/core/nodelist.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size), *first = lens_nodelist_first(text);

	must((first != NULL) == (lens_nodelist_count(text) > 0));
	must(!first || *first != '\0');
	/* In a text this short no number has too many digits. */
	must(!first || strlen(text) > 19 || lens_nodelist_has(text, first));
	free(first);
	free(text);
	return 0;
}
