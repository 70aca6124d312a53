/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/number.h"

#include <locale.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads the digits at *TEXT, moves it behind them. -1 without any or beyond uint64. */
static int digits_read(const char **text, uint64_t *out)
{
	const char *p = *text;
	uint64_t value = 0;

	if (!is_digit(*p))
		return -1;
	for (; is_digit(*p); p++) {
		if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return -1;
	}
	*text = p;
	*out = value;
	return 0;
}

void lens_int64_format(char out[LENS_INT64_TEXT], int64_t number)
{
	uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
	char digits[LENS_INT64_TEXT];
	size_t count = 0;

	do {
		digits[count++] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest > 0);
	if (number < 0)
		*out++ = '-';
	while (count > 0)
		*out++ = digits[--count];
	*out = '\0';
}

int lens_uint64_parse(const char *text, uint64_t *out)
{
	uint64_t value;

	if (!text || digits_read(&text, &value) < 0 || *text != '\0')
		return -1;
	*out = value;
	return 0;
}

int lens_uint32_parse(const char *text, uint32_t *out)
{
	uint64_t value;

	if (lens_uint64_parse(text, &value) < 0 || value > UINT32_MAX)
		return -1;
	*out = (uint32_t)value;
	return 0;
}

int lens_int64_parse(const char *text, int64_t *out)
{
	bool negative;
	uint64_t value;

	if (!text)
		return -1;
	negative = *text == '-';
	if (*text == '-' || *text == '+')
		text++;
	if (lens_uint64_parse(text, &value) < 0 || value > (uint64_t)INT64_MAX + negative)
		return -1;
	/* In two steps, so that INT64_MIN is never the negation of what int64 cannot hold. */
	*out = negative && value > 0 ? -(int64_t)(value - 1) - 1 : (int64_t)value;
	return 0;
}

/* Whether TEXT is digits with at most one point among them, then maybe an exponent. */
static bool is_decimal(const char *text)
{
	bool digits = is_digit(*text);

	while (is_digit(*text))
		text++;
	if (*text == '.') {
		text++;
		digits = digits || is_digit(*text);
		while (is_digit(*text))
			text++;
	}
	if (!digits)
		return false;
	if (*text == 'e' || *text == 'E') {
		text++;
		if (*text == '+' || *text == '-')
			text++;
		if (!is_digit(*text))
			return false;
		while (is_digit(*text))
			text++;
	}
	return *text == '\0';
}

int lens_rate_parse(const char *text, double *out)
{
	locale_t plain;
	double value;

	if (!text || !is_decimal(text))
		return -1;
	/* srun runs in the user's locale, where the point may be a comma. */
	plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!plain)
		return -1;
	value = strtod_l(text, NULL, plain);
	freelocale(plain);
	if (!(value >= 0.0 && value <= 1.0))
		return -1;
	*out = value;
	return 0;
}

int lens_bool_parse(const char *text, bool *out)
{
	static const struct {
		const char *word;
		bool value;
	} words[] = {
		{ "1", true },  { "true", true },   { "yes", true }, { "on", true },
		{ "0", false }, { "false", false }, { "no", false }, { "off", false },
	};

	if (!text)
		return -1;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasecmp(text, words[i].word) == 0) {
			*out = words[i].value;
			return 0;
		}
	}
	return -1;
}

int lens_size_parse(const char *text, uint64_t *out)
{
	uint64_t value, unit = 1;

	if (!text || digits_read(&text, &value) < 0)
		return -1;
	switch (*text) {
	case 'G':
	case 'g':
		unit *= 1024;
		/* fall through */
	case 'M':
	case 'm':
		unit *= 1024;
		/* fall through */
	case 'K':
	case 'k':
		unit *= 1024;
		text++;
		break;
	default:
		break;
	}
	if (*text != '\0' || __builtin_mul_overflow(value, unit, &value))
		return -1;
	*out = value;
	return 0;
}

void lens_rate_format(char out[LENS_RATE_TEXT], double rate)
{
	double back = -1.0;

	for (int digits = 1; digits <= 17 && back != rate; digits++) {
		snprintf(out, LENS_RATE_TEXT, "%.*g", digits, rate);
		for (char *c = out; *c != '\0'; c++)
			if (*c == ',')
				*c = '.';
		if (lens_rate_parse(out, &back) != 0)
			back = -1.0;
	}
}
