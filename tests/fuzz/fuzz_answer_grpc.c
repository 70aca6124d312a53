/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include "lib/otlp/judge.h"
#include "tests/fuzz/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct lens_endpoint endpoint = { .url = (char *)"http://c/Export",
						 .shown = (char *)"http://c" };
	struct lens_export_result result = { .verdict = LENS_VERDICT_RETRY, .retry_after_ms = -1 };
	struct lens_answer answer;

	answer.http2 = answer_fill(&answer, data, size);
	lens_grpc_judge(&answer, &endpoint, 1000, &result);
	answer_check(&result);
	lens_answer_clear(&answer);
	return 0;
}
