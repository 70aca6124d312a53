/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/clock.h"

int64_t lens_clock_ns(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t lens_clock_ms(void)
{
	return lens_clock_ns(CLOCK_MONOTONIC) / 1000000;
}
