/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_TROUBLE_H
#define LENS_OTLP_TROUBLE_H

#include "lib/otlp/answer.h"

#include <stdbool.h>

/* What kind of trouble ANSWER, of GRPC or of HTTP and over TLS or not, tells; LENS_TROUBLE_NONE for
 * one that took the request. */
enum lens_trouble lens_trouble_of(const struct lens_answer *answer, bool grpc, bool tls);

#endif
