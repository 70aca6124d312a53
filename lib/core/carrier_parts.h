/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_CARRIER_PARTS_H
#define LENS_CORE_CARRIER_PARTS_H

#include "lib/core/carrier.h"

/* What the files of the carrier share. */

/* A part of a text that somebody else owns. */
struct lens_slice {
	const char *bytes;
	size_t length;
};

static inline bool lens_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* SLICE without the ASCII white space around it. */
static inline struct lens_slice lens_slice_trim(struct lens_slice slice)
{
	while (slice.length > 0 && lens_is_space(slice.bytes[0])) {
		slice.bytes++;
		slice.length--;
	}
	while (slice.length > 0 && lens_is_space(slice.bytes[slice.length - 1]))
		slice.length--;
	return slice;
}

/* Sets KEY (trimmed) to a copy of VALUE. 0, or -1 when memory ran out. */
int lens_carrier_put(struct lens_carrier *carrier, struct lens_slice key, struct lens_slice value);

/* Room for what TEXT may hold, at once instead of bit by bit. 0, or -1 when memory ran out. */
int lens_carrier_reserve(struct lens_carrier *carrier, const char *text);

#endif
