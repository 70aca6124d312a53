/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/answer.h"

#include "lib/core/number.h"
#include "lib/core/record.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define STATE_BASE 0xffU /* slurm.h: JOB_STATE_BASE */

/* The text keys of the record and where each is kept. */
static const struct {
	const char *key;
	size_t offset;
} text_fields[] = {
	{ "state", offsetof(struct lens_job_answer, state) },
	{ "reason", offsetof(struct lens_job_answer, reason) },
	{ "exit", offsetof(struct lens_job_answer, exit_code) },
	{ "derived", offsetof(struct lens_job_answer, derived) },
	{ "name", offsetof(struct lens_job_answer, name) },
	{ "user", offsetof(struct lens_job_answer, user) },
	{ "partition", offsetof(struct lens_job_answer, partition) },
	{ "account", offsetof(struct lens_job_answer, account) },
	{ "qos", offsetof(struct lens_job_answer, qos) },
	{ "reservation", offsetof(struct lens_job_answer, reservation) },
	{ "nodelist", offsetof(struct lens_job_answer, nodelist) },
};

/* The small numbers, with what stands for "not known". */
static const struct {
	const char *key;
	size_t offset;
	uint32_t unknown;
} number_fields[] = {
	{ "job", offsetof(struct lens_job_answer, job), 0 },
	{ "raw", offsetof(struct lens_job_answer, raw_state), LENS_ANSWER_NONE },
	{ "uid", offsetof(struct lens_job_answer, uid), LENS_ANSWER_NONE },
	{ "nodes", offsetof(struct lens_job_answer, nodes), 0 },
	{ "tasks", offsetof(struct lens_job_answer, tasks), 0 },
	{ "cpus", offsetof(struct lens_job_answer, cpus), 0 },
	{ "array_job", offsetof(struct lens_job_answer, array_job), 0 },
	{ "array_task", offsetof(struct lens_job_answer, array_task), LENS_ANSWER_NONE },
	{ "het", offsetof(struct lens_job_answer, het_leader), 0 },
	{ "het_offset", offsetof(struct lens_job_answer, het_offset), 0 },
};

static const struct {
	const char *key;
	size_t offset;
} time_fields[] = {
	{ "submit", offsetof(struct lens_job_answer, submit) },
	{ "eligible", offsetof(struct lens_job_answer, eligible) },
	{ "start", offsetof(struct lens_job_answer, start) },
	{ "end", offsetof(struct lens_job_answer, end) },
	{ "suspended", offsetof(struct lens_job_answer, suspended) },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char **text_at(struct lens_job_answer *answer, size_t index)
{
	return (char **)((char *)answer + text_fields[index].offset);
}

static uint32_t *number_at(struct lens_job_answer *answer, size_t index)
{
	return (uint32_t *)((char *)answer + number_fields[index].offset);
}

static int64_t *time_at(struct lens_job_answer *answer, size_t index)
{
	return (int64_t *)((char *)answer + time_fields[index].offset);
}

void lens_job_answer_init(struct lens_job_answer *answer)
{
	memset(answer, 0, sizeof(*answer));
	answer->array_task = LENS_ANSWER_NONE;
	answer->uid = LENS_ANSWER_NONE;
	answer->raw_state = LENS_ANSWER_NONE;
}

void lens_job_answer_clear(struct lens_job_answer *answer)
{
	int saved = errno;

	for (size_t i = 0; i < COUNT(text_fields); i++)
		free(*text_at(answer, i));
	lens_job_answer_init(answer);
	errno = saved;
}

static bool flag_read(const struct lens_carrier *record, const char *key)
{
	bool value = false;

	lens_bool_parse(lens_carrier_get(record, key), &value);
	return value;
}

/* Seconds that are nanoseconds, too; others are none. */
static void time_read(const char *text, int64_t *out)
{
	lens_int64_parse(text, out);
	if (*out < 0 || *out > INT64_MAX / 1000000000)
		*out = 0;
}

int lens_job_answer_read(struct lens_job_answer *answer, const struct lens_carrier *record)
{
	lens_job_answer_init(answer);
	answer->found = flag_read(record, "found");
	answer->completing = flag_read(record, "completing");
	answer->cron = flag_read(record, "cron");
	lens_uint32_parse(lens_carrier_get(record, "attempt"), &answer->attempt);
	for (size_t i = 0; i < COUNT(number_fields); i++)
		lens_uint32_parse(lens_carrier_get(record, number_fields[i].key),
				  number_at(answer, i));
	for (size_t i = 0; i < COUNT(time_fields); i++)
		time_read(lens_carrier_get(record, time_fields[i].key), time_at(answer, i));
	for (size_t i = 0; i < COUNT(text_fields); i++) {
		const char *value = lens_carrier_get(record, text_fields[i].key);

		if (value == NULL || *value == '\0')
			continue;
		*text_at(answer, i) = strdup(value);
		if (*text_at(answer, i) == NULL) {
			lens_job_answer_clear(answer);
			return -1;
		}
	}
	return 0;
}

static int flags_write(const struct lens_job_answer *answer, struct lens_carrier *record)
{
	if (lens_carrier_set(record, "found", answer->found ? "1" : "0") == -1)
		return -1;
	if (!answer->found)
		return 0;
	if (lens_carrier_set_number(record, "attempt", answer->attempt) == -1)
		return -1;
	if (answer->completing && lens_carrier_set(record, "completing", "1") == -1)
		return -1;
	return answer->cron ? lens_carrier_set(record, "cron", "1") : 0;
}

int lens_job_answer_write(const struct lens_job_answer *answer, struct lens_carrier *record)
{
	/* The accessors are shared with the reader; nothing is changed through them here. */
	struct lens_job_answer copy = *answer;

	if (flags_write(answer, record) == -1)
		return -1;
	for (size_t i = 0; i < COUNT(number_fields); i++) {
		uint32_t value = *number_at(&copy, i);

		if (value != number_fields[i].unknown &&
		    lens_carrier_set_number(record, number_fields[i].key, value) == -1)
			return -1;
	}
	for (size_t i = 0; i < COUNT(time_fields); i++) {
		int64_t value = *time_at(&copy, i);

		if (value != 0 && lens_carrier_set_number(record, time_fields[i].key, value) == -1)
			return -1;
	}
	for (size_t i = 0; i < COUNT(text_fields); i++) {
		if (lens_carrier_set(record, text_fields[i].key, *text_at(&copy, i)) == -1)
			return -1;
	}
	return 0;
}

bool lens_job_answer_pending(const struct lens_job_answer *answer)
{
	return answer->state != NULL && strcmp(answer->state, "PENDING") == 0;
}

bool lens_job_answer_running(const struct lens_job_answer *answer)
{
	if (answer->state == NULL || answer->completing)
		return false;
	return strcmp(answer->state, "RUNNING") == 0 || strcmp(answer->state, "SUSPENDED") == 0;
}

const char *lens_job_state_name(uint32_t raw)
{
	static const char *const names[] = {
		"PENDING", "RUNNING",   "SUSPENDED", "COMPLETED", "CANCELLED", "FAILED",
		"TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE",  "OUT_OF_MEMORY",
	};
	uint32_t base = raw & STATE_BASE;

	return base < COUNT(names) ? names[base] : "UNKNOWN";
}
