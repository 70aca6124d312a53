/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include "lib/core/encoding.h"
#include "lib/otlp/relay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lens_exporter_settings settings;
	struct lens_export_result result = { 0 };
	struct lens_error err = LENS_ERROR_INIT;
	char *body = fuzz_string(data, size), shown[64];
	uint32_t number;

	lens_relay_settings_read(&settings, body, size, &err);
	if (lens_relay_result_read(&result, &number, body, size) == 0) {
		must(result.rejected <= LENS_RELAY_REJECTED_MAX);
		must(memchr(result.message, '\0', sizeof(result.message)));
	}
	lens_relay_text_read(shown, sizeof(shown), body, size);
	must(strlen(shown) < sizeof(shown) && lens_utf8_valid(shown, strlen(shown)));
	free(body);
	return 0;
}
