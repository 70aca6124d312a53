/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_JUDGE_H
#define LENS_OTLP_JUDGE_H

#include "lib/otlp/answer.h"

/*
 * Make ANSWER, of a request to ENDPOINT that could take TIMEOUT_MS, into RESULT, which
 * comes with its defaults: what the server meant by it, in the words of the table of retry.h.
 */
void lens_http_judge(const struct lens_answer *answer, const struct lens_endpoint *endpoint,
		     bool json, unsigned int timeout_ms, struct lens_export_result *result);
void lens_grpc_judge(const struct lens_answer *answer, const struct lens_endpoint *endpoint,
		     unsigned int timeout_ms, struct lens_export_result *result);

#endif
