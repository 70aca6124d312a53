/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/otlp/http_date.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

struct fields {
	int year, month, day, hour, minute, second;
	bool short_year;
};

/* The number of the month (0 to 11) that begins TEXT; -1 for none. */
static int month_of(const char *text)
{
	static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

	for (int month = 0; month < 12; month++)
		if (memcmp(text, names + 3 * month, 3) == 0)
			return month;
	return -1;
}

static int *field_of(struct fields *fields, char letter)
{
	switch (letter) {
	case 'Y':
		return &fields->year;
	case 'D':
		return &fields->day;
	case 'h':
		return &fields->hour;
	case 'm':
		return &fields->minute;
	case 's':
		return &fields->second;
	default:
		return NULL;
	}
}

/*
 * Matches TEXT against PATTERN of the same length: Y, D, h, m and s are digits of their
 * fields, BBB is a month's name, `_` a digit of the day or a blank, `.` any character; the rest
 * stands for itself.
 */
static bool pattern_match(struct fields *fields, const char *pattern, const char *text,
			  size_t length)
{
	if (strlen(pattern) != length)
		return false;
	for (size_t i = 0; i < length; i++) {
		char letter = pattern[i];
		int *field;

		if (letter == '.' || (letter == '_' && text[i] == ' '))
			continue;
		if (letter == 'B') {
			fields->month = month_of(text + i);
			if (fields->month < 0)
				return false;
			i += 2;
			continue;
		}
		field = field_of(fields, letter == '_' ? 'D' : letter);
		if (!field && text[i] != letter)
			return false;
		if (!field)
			continue;
		if (text[i] < '0' || text[i] > '9')
			return false;
		*field = *field * 10 + (text[i] - '0');
	}
	return true;
}

static bool fields_read(struct fields *fields, const char *text, size_t length)
{
	const char *comma = memchr(text, ',', length);

	*fields = (struct fields){ 0 };
	if (!comma)
		return pattern_match(fields, "... BBB _D hh:mm:ss YYYY", text, length);
	length -= (size_t)(comma - text);
	if (pattern_match(fields, ", DD BBB YYYY hh:mm:ss GMT", comma, length))
		return true;
	*fields = (struct fields){ .short_year = true };
	return pattern_match(fields, ", DD-BBB-YY hh:mm:ss GMT", comma, length);
}

static int64_t fields_seconds(const struct fields *fields, int year)
{
	struct tm tm = {
		.tm_year = year - 1900,
		.tm_mon = fields->month,
		.tm_mday = fields->day,
		.tm_hour = fields->hour,
		.tm_min = fields->minute,
		.tm_sec = fields->second,
	};

	return timegm(&tm);
}

int lens_http_date_parse(int64_t *out, const char *text, size_t length, int64_t now)
{
	const int64_t fifty_years = INT64_C(50) * 365 * 86400 + INT64_C(12) * 86400;
	struct fields fields;
	int64_t seconds;

	if (!fields_read(&fields, text, length))
		return -1;
	/* Second 60 is a leap second. */
	if (fields.day < 1 || fields.day > 31 || fields.hour > 23 || fields.minute > 59 ||
	    fields.second > 60)
		return -1;
	seconds = fields_seconds(&fields, fields.short_year ? 2000 + fields.year : fields.year);
	if (fields.short_year && seconds > now + fifty_years)
		seconds = fields_seconds(&fields, 1900 + fields.year);
	*out = seconds;
	return 0;
}
