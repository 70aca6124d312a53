/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_WORDS_H
#define LENS_CORE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Whether WORD is, exactly, one of the COUNT WORDS. */
static inline bool lens_words_have(const char *const *words, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

#endif
