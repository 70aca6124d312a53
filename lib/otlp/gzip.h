/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_OTLP_GZIP_H
#define LENS_OTLP_GZIP_H

#include "lib/core/text.h"

#include <stddef.h>

/* Adds LENGTH BYTES to OUT as one gzip member (RFC 1952). 0, or -1 when memory ran out. */
int lens_gzip_add(struct lens_text *out, const void *bytes, size_t length);

#endif
