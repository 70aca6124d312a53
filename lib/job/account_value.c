/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/account_value.h"

#include "lib/core/number.h"
#include "lib/core/step_id.h"
#include "lib/core/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What sacct writes where there is no time; a job that was never begun has `Unknown`. */
static const char *const no_times[] = { "", "Unknown", "None", "N/A" };

static int local_time(const char *text, int64_t *out)
{
	struct tm broken = { .tm_isdst = -1 };
	int length = 0;
	time_t seconds;

	if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &broken.tm_year, &broken.tm_mon,
		   &broken.tm_mday, &broken.tm_hour, &broken.tm_min, &broken.tm_sec,
		   &length) != 6 ||
	    text[length] != '\0')
		return -1;
	if (broken.tm_mon < 1 || broken.tm_mon > 12 || broken.tm_mday < 1 || broken.tm_mday > 31 ||
	    broken.tm_hour < 0 || broken.tm_hour > 23 || broken.tm_min < 0 || broken.tm_min > 59 ||
	    broken.tm_sec < 0 || broken.tm_sec > 60)
		return -1;
	broken.tm_year -= 1900;
	broken.tm_mon -= 1;
	seconds = mktime(&broken);
	if (seconds < 0)
		return -1;
	*out = seconds;
	return 0;
}

/* Nothing in Slurm is later than 32 bits of seconds; times a thousand million it fits an int64. */
int lens_account_time(const char *text, int64_t *out)
{
	uint32_t seconds;

	if (lens_words_have(no_times, sizeof(no_times) / sizeof(no_times[0]), text)) {
		*out = 0;
		return 0;
	}
	if (lens_uint32_parse(text, &seconds) == -1)
		return local_time(text, out);
	*out = seconds;
	return 0;
}

int lens_account_duration(const char *text, int64_t *out)
{
	unsigned int days = 0, hours, minutes, seconds;
	const char *dash = strchr(text, '-');
	char *end;

	if (*text == '\0') {
		*out = 0;
		return 0;
	}
	if (dash != NULL) {
		days = (unsigned int)strtoul(text, &end, 10);
		if (end != dash || days > 100000)
			return -1;
		text = dash + 1;
	}
	if (sscanf(text, "%4u:%2u:%2u", &hours, &minutes, &seconds) != 3)
		return -1;
	*out = (int64_t)days * 86400 + (int64_t)hours * 3600 + minutes * 60 + seconds;
	return 0;
}

/* The digits at *TEXT, which moves behind them. */
static int digits_take(const char **text, uint32_t *out)
{
	char digits[16];
	size_t length = strspn(*text, "0123456789");

	if (length == 0 || length >= sizeof(digits))
		return -1;
	memcpy(digits, *text, length);
	digits[length] = '\0';
	*text += length;
	return lens_uint32_parse(digits, out);
}

/* `batch`, `0`, `0+1` of a het job's step in older releases. What is not known (`TBD`: a step
 * that waits) counts as the extern step, which has no span either. */
static uint32_t step_read(const char *text)
{
	static const struct {
		const char *name;
		uint32_t step;
	} names[] = {
		{ "batch", LENS_STEP_BATCH },
		{ "interactive", LENS_STEP_INTERACTIVE },
	};
	uint32_t step;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = strlen(names[i].name);

		if (strncmp(text, names[i].name, length) == 0 &&
		    (text[length] == '\0' || text[length] == '+'))
			return names[i].step;
	}
	if (digits_take(&text, &step) == -1 || (*text != '\0' && *text != '+'))
		return LENS_STEP_EXTERN;
	return step;
}

/* Behind the number of JobID: `_3`, `_[4-7%2]` of elements that wait, `+1`. */
static int part_read(const char **text, struct lens_account_record *out)
{
	if (**text == '+') {
		(*text)++;
		out->het = true;
		return digits_take(text, &out->offset);
	}
	if (**text != '_')
		return 0;
	(*text)++;
	out->array_job = out->leader;
	if (**text != '[')
		return digits_take(text, &out->array_task);
	*text += strcspn(*text, ".");
	return 0;
}

int lens_account_id(const char *text, const char *raw, struct lens_account_record *out)
{
	out->array_task = LENS_RECORD_NONE;
	out->het = false;
	out->offset = 0;
	if (digits_take(&text, &out->leader) == -1 || part_read(&text, out) == -1 ||
	    (*text != '\0' && *text != '.'))
		return -1;
	out->is_step = *text == '.';
	if (out->is_step)
		out->step = step_read(text + 1);
	if (raw != NULL) {
		if (digits_take(&raw, &out->job) == -1)
			return -1;
	} else if (out->het || out->array_task != LENS_RECORD_NONE) {
		return -1;
	} else {
		out->job = out->leader;
	}
	if (!out->het)
		out->leader = out->job;
	return 0;
}

int lens_account_wish_parse(struct lens_account_wish *out, const char *text)
{
	*out = (struct lens_account_wish){ .array_task = LENS_RECORD_NONE,
					   .offset = LENS_RECORD_NONE };
	if (digits_take(&text, &out->job) == -1 || out->job == 0)
		return -1;
	if (*text == '_') {
		text++;
		if (digits_take(&text, &out->array_task) == -1)
			return -1;
	} else if (*text == '+') {
		text++;
		if (digits_take(&text, &out->offset) == -1)
			return -1;
	}
	return *text == '\0' ? 0 : -1;
}

bool lens_account_wish_matches(const struct lens_account_wish *wish,
			       const struct lens_account_record *record)
{
	if (wish->array_task != LENS_RECORD_NONE)
		return record->array_task == wish->array_task && record->array_job == wish->job;
	if (wish->offset != LENS_RECORD_NONE)
		return record->het && record->leader == wish->job && record->offset == wish->offset;
	return record->job == wish->job || record->leader == wish->job ||
	       (record->array_task != LENS_RECORD_NONE && record->array_job == wish->job);
}
