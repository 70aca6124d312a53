/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_RANDOM_ID_H
#define LENS_CORE_RANDOM_ID_H

#include "lib/core/identity.h"

/*
 * Ids of what nobody could derive again: spans of a user's own making. All bytes are random
 * (the kernel's generator), never all zero. 0, or -1 with errno.
 */
int lens_trace_id_random(struct lens_trace_id *out);
int lens_span_id_random(struct lens_span_id *out);

#endif
