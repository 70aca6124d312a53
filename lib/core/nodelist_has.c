/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/nodelist.h"

#include "lib/core/number.h"

#include <stdint.h>
#include <string.h>

#define NAME_BYTES   255
#define NUMBER_BYTES 19 /* digits that always fit a uint64 */

static const char digits[] = "0123456789";

/* Up to which byte of a name the part of an element that was read so far may reach. */
struct places {
	bool at[NAME_BYTES + 1];
	bool any;
};

/* LENGTH digits at TEXT. -1 when they are too many. */
static int number_read(const char *text, size_t length, uint64_t *out)
{
	char number[NUMBER_BYTES + 1];

	if (length > NUMBER_BYTES)
		return -1;
	memcpy(number, text, length);
	number[length] = '\0';
	return lens_uint64_parse(number, out);
}

/* Whether the numbers from LOW on, of the width of its text, to HIGH have the one of LENGTH digits
 * at TEXT. */
static bool range_has(const char *low, size_t width, const char *high, size_t high_width,
		      const char *text, size_t length)
{
	uint64_t from, to, value;

	if (number_read(low, width, &from) == -1 || number_read(high, high_width, &to) == -1 ||
	    number_read(text, length, &value) == -1)
		return false;
	/* Zeros before a number fill the width, and no more than that. */
	if (length < width || (length > width && *text == '0'))
		return false;
	return from <= value && value <= to;
}

/* RANGES: what stands behind a `[`. */
static bool bracket_has(const char *ranges, const char *text, size_t length)
{
	while (*ranges != ']') {
		const char *low = ranges, *high = ranges;
		size_t width = strspn(low, digits), high_width = width;

		ranges += width;
		if (*ranges == '-') {
			high = ranges + 1;
			high_width = strspn(high, digits);
			ranges = high + high_width;
		}
		if (range_has(low, width, high, high_width, text, length))
			return true;
		ranges += *ranges == ',';
	}
	return false;
}

static void bracket_match(struct places *places, const char *ranges, const char *name)
{
	struct places next = { 0 };

	for (size_t i = 0; name[i] != '\0'; i++) {
		size_t most = places->at[i] ? strspn(name + i, digits) : 0;

		for (size_t length = 1; length <= most && length <= NUMBER_BYTES; length++) {
			if (bracket_has(ranges, name + i, length)) {
				next.at[i + length] = true;
				next.any = true;
			}
		}
	}
	*places = next;
}

static void byte_match(struct places *places, char byte, const char *name, size_t length)
{
	struct places next = { 0 };

	for (size_t i = 0; i < length; i++) {
		next.at[i + 1] = places->at[i] && name[i] == byte;
		next.any = next.any || next.at[i + 1];
	}
	*places = next;
}

/* Whether the element at *LIST, which moves behind it, stands for NAME. */
static bool element_has(const char **list, const char *name, size_t length)
{
	struct places places = { .at = { true }, .any = true };

	for (; **list != '\0' && **list != ','; (*list)++) {
		if (**list == '[') {
			if (places.any)
				bracket_match(&places, *list + 1, name);
			*list += strcspn(*list, "]");
		} else if (places.any) {
			byte_match(&places, **list, name, length);
		}
	}
	return places.at[length];
}

bool lens_nodelist_has(const char *list, const char *name)
{
	size_t length = strlen(name);

	/* From here on the list is known to be well formed. */
	if (length == 0 || length > NAME_BYTES || lens_nodelist_count(list) == 0)
		return false;
	for (;;) {
		if (element_has(&list, name, length))
			return true;
		if (*list == '\0')
			return false;
		list++;
	}
}
