/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include "lib/core/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size), *value = strchr(text, '=');
	struct lens_options options;
	struct lens_error err = LENS_ERROR_INIT;
	int rc;

	/* Twice: the later one wins, Slurm 22.05 calls so. */
	lens_options_init(&options);
	if (value)
		*value++ = '\0';
	rc = lens_options_set(&options, text, value, &err);
	must(rc == 0 || *err.text != '\0');
	must(lens_options_set(&options, text, value, &err) == rc);
	lens_options_clear(&options);
	free(text);
	return 0;
}
