/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include "lib/core/config.h"
#include "lib/core/config_file.h"

static void count(void *context, const char *text)
{
	must(*text != '\0');
	++*(size_t *)context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lens_config *config = lens_config_create();
	char path[64];
	size_t problems = 0;

	must(config);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fuzz_file(data, size));
	lens_config_file_read(config, path, true, count, &problems);
	must(problems <= LENS_CONFIG_PROBLEMS + 1);
	must(config->state_dir && config->endpoint && config->file && !config->incomplete);
	must(config->strategy.rate >= 0.0 && config->strategy.rate <= 1.0);
	lens_config_destroy(config);
	return 0;
}
