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

/* SLICE without the ASCII white space around it. */
struct lens_slice lens_slice_trim(struct lens_slice slice);

/* Sets KEY (trimmed) to a copy of VALUE. 0, or -1 when memory ran out. */
int lens_carrier_put(struct lens_carrier *carrier, struct lens_slice key, struct lens_slice value);

/* Room for what TEXT may hold, at once instead of bit by bit. 0, or -1 when memory ran out. */
int lens_carrier_reserve(struct lens_carrier *carrier, const char *text);

#endif
