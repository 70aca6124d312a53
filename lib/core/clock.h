/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_CLOCK_H
#define LENS_CORE_CLOCK_H

#include <stdint.h>

/* The monotonic clock, in milliseconds. */
int64_t lens_clock_ms(void);

#endif
