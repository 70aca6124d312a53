/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include "lib/otlp/headers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size), message[512];
	const struct lens_blob blob = { .bytes = text, .length = size };
	struct curl_slist *list = NULL;
	struct lens_error err = LENS_ERROR_INIT;

	must(lens_headers_parse(&list, &blob, &err) == 0 || *err.text != '\0');
	snprintf(message, sizeof(message), "%s", text);
	lens_headers_redact(list, message);
	for (const struct curl_slist *one = list; one; one = one->next)
		must(!strpbrk(one->data, "\r\n"));
	lens_headers_free(list);
	free(text);
	return 0;
}
