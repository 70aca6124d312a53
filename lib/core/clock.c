/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/clock.h"

#include <time.h>

int64_t lens_clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
