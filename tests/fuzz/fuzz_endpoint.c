/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include "lib/otlp/endpoint.h"

/* What comes before an @ may be a password. */
static void check(const struct lens_endpoint *endpoint)
{
	const char *at;

	must(endpoint->url && endpoint->shown);
	at = strrchr(endpoint->shown, '@');
	must(!at || strncasecmp(endpoint->shown, "http", strlen("http")) == 0);
	must(!at || (at - endpoint->shown >= 3 && strncmp(at - 3, "***", 3) == 0));
	must(!at || strchr(endpoint->shown, '@') == at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size), *shown = lens_endpoint_redact(text);
	struct lens_endpoint endpoint;
	struct lens_error err = LENS_ERROR_INIT;

	must(shown);
	if (lens_endpoint_resolve(&endpoint, text, &err) == 0)
		check(&endpoint);
	lens_endpoint_clear(&endpoint);
	if (lens_endpoint_resolve_grpc(&endpoint, text, &err) == 0)
		check(&endpoint);
	lens_endpoint_clear(&endpoint);
	free(shown);
	free(text);
	return 0;
}
