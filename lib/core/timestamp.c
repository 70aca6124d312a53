/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/timestamp.h"

#include "lib/core/number.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define NS_DIGITS 9
#define NS_PER_S  INT64_C(1000000000)

/* More digits than int64 has do not change the outcome. */
#define DIGITS_MAX 40

/* No exponent beyond it makes a difference either. */
#define EXPONENT_MAX 9999

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A decimal taken apart: DIGITS (without zeros in front) times ten to the POWER. */
struct decimal {
	char digits[DIGITS_MAX + 1];
	size_t count;
	long power;
};

static void decimal_digit(struct decimal *decimal, char digit, bool fraction)
{
	if (decimal->count == DIGITS_MAX) {
		decimal->power += !fraction;
		return;
	}
	if (digit != '0' || decimal->count > 0)
		decimal->digits[decimal->count++] = digit;
	decimal->power -= fraction;
}

/* Moves *TEXT behind `e` and its number. -1: there is none. */
static int exponent_read(const char **text, long *out)
{
	const char *p = *text + 1;
	bool negative = *p == '-';
	long value = 0;

	if (*p == '-' || *p == '+')
		p++;
	if (!is_digit(*p))
		return -1;
	for (; is_digit(*p); p++)
		if (value < EXPONENT_MAX)
			value = value * 10 + (*p - '0');
	*text = p;
	*out = negative ? -value : value;
	return 0;
}

/* 0; -1: TEXT is no decimal. */
static int decimal_read(struct decimal *out, const char *text)
{
	bool any = false, fraction = false;
	long exponent = 0;

	*out = (struct decimal){ 0 };
	for (; is_digit(*text) || (*text == '.' && !fraction); text++) {
		if (*text == '.') {
			fraction = true;
			continue;
		}
		any = true;
		decimal_digit(out, *text, fraction);
	}
	if (any && (*text == 'e' || *text == 'E') && exponent_read(&text, &exponent) == -1)
		return -1;
	out->power += exponent;
	return any && *text == '\0' ? 0 : -1;
}

/* DECIMAL seconds in nanoseconds; -1: too many. */
static int decimal_ns(struct decimal *decimal, int64_t *out)
{
	char text[DIGITS_MAX + NS_DIGITS + 1];
	long shift = decimal->power + NS_DIGITS;
	size_t count = decimal->count;
	uint64_t value;

	if (count == 0 || shift + (long)count <= 0) {
		*out = 0;
		return 0;
	}
	if (shift + (long)count > (long)DIGITS_MAX)
		return -1;
	memcpy(text, decimal->digits, count);
	for (; shift > 0; shift--)
		text[count++] = '0';
	count = (size_t)((long)count + shift);
	text[count] = '\0';
	if (lens_uint64_parse(text, &value) == -1 || value > INT64_MAX)
		return -1;
	*out = (int64_t)value;
	return 0;
}

static int seconds_parse(const char *text, int64_t *out, struct lens_error *err)
{
	const char *body = *text == '-' || *text == '+' ? text + 1 : text;
	struct decimal decimal;
	int64_t ns;

	if (strcasecmp(body, "nan") == 0 || strcasecmp(body, "inf") == 0 ||
	    strcasecmp(body, "infinity") == 0)
		return lens_error_set(err, "it is not finite");
	if (decimal_read(&decimal, body) == -1)
		return lens_error_set(err, "it is not " LENS_TAKES_TIME);
	if (decimal_ns(&decimal, &ns) == -1)
		return lens_error_set(err, "it is after the year 2262; seconds are taken, not "
					   "milliseconds or nanoseconds");
	if (*text == '-' && decimal.count > 0)
		return lens_error_set(err, "it is before 1970");
	*out = ns;
	return 0;
}

/* Reads COUNT digits at *TEXT and then AFTER ('\0': whatever follows). -1: they are not there. */
static int field_read(const char **text, int count, char after, int *out)
{
	const char *p = *text;
	int value = 0;

	for (; count > 0; count--, p++) {
		if (!is_digit(*p))
			return -1;
		value = value * 10 + (*p - '0');
	}
	if (after != '\0' && *p++ != after)
		return -1;
	*text = p;
	*out = value;
	return 0;
}

static int date_read(const char **text, struct tm *out)
{
	if (field_read(text, 4, '-', &out->tm_year) == -1 ||
	    field_read(text, 2, '-', &out->tm_mon) == -1 ||
	    field_read(text, 2, '\0', &out->tm_mday) == -1)
		return -1;
	out->tm_year -= 1900;
	out->tm_mon -= 1;
	if (**text != 'T' && **text != 't' && **text != ' ')
		return -1;
	(*text)++;
	return field_read(text, 2, ':', &out->tm_hour) == -1 ||
			       field_read(text, 2, ':', &out->tm_min) == -1 ||
			       field_read(text, 2, '\0', &out->tm_sec) == -1
		       ? -1
		       : 0;
}

/* Whether there is such a day and such a time of day. */
static bool date_valid(const struct tm *date)
{
	struct tm normal = *date;

	/* A leap second may be anywhere: which minutes had one is not known here. */
	if (date->tm_hour > 23 || date->tm_min > 59 || date->tm_sec > 60)
		return false;
	normal.tm_sec = 0;
	timegm(&normal);
	return normal.tm_mday == date->tm_mday && normal.tm_mon == date->tm_mon;
}

static int fraction_read(const char **text, int64_t *ns)
{
	const char *p = *text;
	int64_t unit = NS_PER_S / 10;

	*ns = 0;
	if (*p != '.')
		return 0;
	for (p++; is_digit(*p); p++, unit /= 10)
		*ns += (*p - '0') * unit;
	if (p == *text + 1)
		return -1;
	*text = p;
	return 0;
}

/* `Z` or `+hh:mm`, to the end of TEXT, as seconds east of Greenwich. */
static int zone_read(const char *text, int *out)
{
	int sign = *text == '-' ? -1 : 1, hours, minutes;

	*out = 0;
	if ((*text == 'Z' || *text == 'z') && text[1] == '\0')
		return 0;
	if (*text != '+' && *text != '-')
		return -1;
	text++;
	if (field_read(&text, 2, ':', &hours) == -1 || field_read(&text, 2, '\0', &minutes) == -1 ||
	    *text != '\0' || hours > 23 || minutes > 59)
		return -1;
	*out = sign * (hours * 3600 + minutes * 60);
	return 0;
}

static int date_parse(const char *text, int64_t *out, struct lens_error *err)
{
	struct tm date = { 0 };
	int64_t ns, seconds;
	int zone;

	if (date_read(&text, &date) == -1 || fraction_read(&text, &ns) == -1)
		return lens_error_set(err, "it is not " LENS_TAKES_TIME);
	if (*text == '\0')
		return lens_error_set(err, "its zone is missing: write `Z` or `+01:00` at its end");
	if (zone_read(text, &zone) == -1)
		return lens_error_set(err, "its zone is neither `Z` nor like `+01:00`");
	if (!date_valid(&date))
		return lens_error_set(err, "there is no such day or time");
	seconds = (int64_t)timegm(&date) - zone;
	if (seconds < 0)
		return lens_error_set(err, "it is before 1970");
	if (seconds > INT64_MAX / NS_PER_S - 1)
		return lens_error_set(err, "it is after the year 2262");
	*out = seconds * NS_PER_S + ns;
	return 0;
}

int lens_timestamp_parse(const char *text, int64_t now_ns, int64_t *out, struct lens_error *err)
{
	if (strcasecmp(text, "now") == 0) {
		*out = now_ns;
		return 0;
	}
	if (strlen(text) > 4 && strspn(text, "0123456789") == 4 && text[4] == '-')
		return date_parse(text, out, err);
	return seconds_parse(text, out, err);
}
