/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/nodelist.h"

#include "lib/core/text.h"

#include <stdlib.h>
#include <string.h>

/*
 * The notation of Slurm's src/common/hostlist.c: names between commas, each of which is
 * plain text and any number of `[...]`, in them numbers and ranges between commas. The
 * readers below move *TEXT behind what they read and return -1 where it is something else.
 */

static int number_read(const char **text, uint64_t *out)
{
	const char *p = *text;
	uint64_t value = 0;

	for (; *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return -1;
	}
	if (p == *text)
		return -1;
	*text = p;
	*out = value;
	return 0;
}

/* `7` or `07-15`; adds how many numbers that is to *COUNT. */
static int range_read(const char **text, uint64_t *count)
{
	uint64_t low, high;

	if (number_read(text, &low) < 0)
		return -1;
	high = low;
	if (**text == '-') {
		(*text)++;
		if (number_read(text, &high) < 0 || high < low)
			return -1;
	}
	if (__builtin_add_overflow(*count, high - low, count) ||
	    __builtin_add_overflow(*count, (uint64_t)1, count))
		return -1;
	return 0;
}

/* From behind a `[` to behind its `]`; adds the first number, padded as it stands, to
 * FIRST. */
static int bracket_read(const char **text, struct lens_text *first, uint64_t *count)
{
	lens_text_add(first, *text, strspn(*text, "0123456789"));
	*count = 0;
	for (;;) {
		if (range_read(text, count) < 0)
			return -1;
		if (**text != ',')
			break;
		(*text)++;
	}
	if (**text != ']')
		return -1;
	(*text)++;
	return 0;
}

/* A name up to its `,` or the end; adds the first that it stands for to FIRST. */
static int name_read(const char **text, struct lens_text *first, uint64_t *count)
{
	const char *start = *text;

	*count = 1;
	while (**text != '\0' && **text != ',') {
		uint64_t numbers;

		if ((unsigned char)**text <= ' ' || **text == ']')
			return -1;
		if (**text != '[') {
			lens_text_add(first, (*text)++, 1);
			continue;
		}
		(*text)++;
		if (bracket_read(text, first, &numbers) < 0 ||
		    __builtin_mul_overflow(*count, numbers, count))
			return -1;
	}
	return *text == start ? -1 : 0;
}

/* Reads LIST to its end: the first name into FIRST, the number of names into *COUNT. */
static int list_read(const char *list, struct lens_text *first, uint64_t *count)
{
	struct lens_text other = LENS_TEXT_INIT;
	struct lens_text *name = first;
	int rc = -1;

	*count = 0;
	while (list) {
		uint64_t names;

		if (name_read(&list, name, &names) < 0 ||
		    __builtin_add_overflow(*count, names, count))
			goto out;
		if (*list == '\0') {
			rc = 0;
			goto out;
		}
		list++;
		lens_text_clear(&other);
		name = &other;
	}
out:
	lens_text_clear(&other);
	return rc;
}

char *lens_nodelist_first(const char *list)
{
	struct lens_text first = LENS_TEXT_INIT;
	uint64_t count;

	if (list_read(list, &first, &count) < 0) {
		lens_text_clear(&first);
		return NULL;
	}
	return lens_text_take(&first);
}

uint64_t lens_nodelist_count(const char *list)
{
	struct lens_text first = LENS_TEXT_INIT;
	uint64_t count;
	int rc = list_read(list, &first, &count);

	lens_text_clear(&first);
	return rc < 0 ? 0 : count;
}
