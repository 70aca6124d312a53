/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_CLOCK_H
#define LENS_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK in nanoseconds; 0 where there is none. */
int64_t lens_clock_ns(clockid_t clock);

/* The monotonic clock, in milliseconds. */
int64_t lens_clock_ms(void);

#endif
