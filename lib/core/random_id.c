/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/random_id.h"

#include <errno.h>
#include <stddef.h>
#include <sys/random.h>

static int fill(uint8_t *bytes, size_t length)
{
	uint8_t any;

	do {
		ssize_t got = getrandom(bytes, length, 0);

		if (got != (ssize_t)length) {
			if (got >= 0 || errno == EINTR)
				continue;
			return -1;
		}
		any = 0;
		for (size_t i = 0; i < length; i++)
			any |= bytes[i];
		if (any != 0)
			return 0;
	} while (true);
}

int lens_trace_id_random(struct lens_trace_id *out)
{
	return fill(out->bytes, sizeof(out->bytes));
}

int lens_span_id_random(struct lens_span_id *out)
{
	return fill(out->bytes, sizeof(out->bytes));
}
