/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include "lib/otlp/judge.h"
#include "tests/fuzz/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct lens_endpoint endpoint = { .url = (char *)"http://c/v1/traces",
						 .shown = (char *)"http://c/v1/traces" };
	struct lens_export_result result = { .verdict = LENS_VERDICT_RETRY, .retry_after_ms = -1 };
	struct lens_answer answer;
	bool json = answer_fill(&answer, data, size);

	lens_http_judge(&answer, &endpoint, json, 1000, &result);
	answer_check(&result);
	lens_answer_clear(&answer);
	return 0;
}
