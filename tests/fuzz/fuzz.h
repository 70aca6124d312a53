/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_FUZZ_FUZZ_H
#define LENS_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What libFuzzer, or replay.c, calls for each input. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What has to hold for every input. */
#define must(condition)                                                                         \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                \
		}                                                                               \
	} while (0)

/* The input as a string of its own length, so that a byte read beyond it is seen; cut at a NUL by
 * whoever reads it as one. The caller frees. */
static inline char *fuzz_string(const uint8_t *data, size_t size)
{
	char *string = malloc(size + 1);

	must(string != NULL);
	if (size > 0)
		memcpy(string, data, size);
	string[size] = '\0';
	return string;
}

/* The input as a file that is open for reading. */
int fuzz_file(const uint8_t *data, size_t size);

#endif
