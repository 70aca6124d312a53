/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/record.h"
#include "lib/core/clock.h"
#include "lib/core/number.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct lens_carrier *lens_record_create(const char *event)
{
	struct lens_carrier *record = lens_carrier_create();

	if (record == NULL)
		return NULL;
	if (lens_carrier_set(record, "v", "1") != 0 ||
	    lens_carrier_set_number(record, "t", lens_clock_ns(CLOCK_REALTIME)) != 0 ||
	    lens_carrier_set_number(record, "m", lens_clock_ns(CLOCK_MONOTONIC)) != 0 ||
	    lens_carrier_set(record, "e", event) != 0) {
		lens_carrier_destroy(record);
		return NULL;
	}
	return record;
}

/*
 * One write. A task child writes under its user's `ulimit -f` already: beyond it the
 * kernel would send SIGXFSZ, which ends the task. So the signal waits, and is taken away.
 */
static ssize_t write_once(int fd, const char *bytes, size_t length)
{
	static const struct timespec at_once = { 0 };
	sigset_t limit, before, pending;
	bool ours;
	ssize_t count;
	int saved;

	sigemptyset(&limit);
	sigaddset(&limit, SIGXFSZ);
	sigemptyset(&pending);
	pthread_sigmask(SIG_BLOCK, &limit, &before);
	sigpending(&pending);
	ours = sigismember(&pending, SIGXFSZ) == 0;
	do
		count = write(fd, bytes, length);
	while (count < 0 && errno == EINTR);
	saved = errno;
	if (count < 0 && saved == EFBIG && ours)
		sigtimedwait(&limit, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = saved;
	return count;
}

int lens_record_append(int fd, const struct lens_carrier *record, int *torn)
{
	struct lens_text line = LENS_TEXT_INIT;
	struct lens_carrier_report report = { 0 };
	ssize_t count;
	int result = -1;

	/* The comma makes sure that the cut line is foreign: `rank=1` of `rank=12` is not. */
	if (*torn != 0)
		lens_text_adds(&line, ",\n");
	lens_carrier_format(record, &line, &report);
	lens_text_adds(&line, "\n");
	if (line.failed) {
		errno = ENOMEM;
		goto out;
	}
	if (line.length > LENS_RECORD_MAX || report.dropped > 0) {
		errno = report.dropped > 0 ? EINVAL : EMSGSIZE;
		goto out;
	}
	count = write_once(fd, line.data, line.length);
	if (count == (ssize_t)line.length) {
		*torn = 0;
		result = 0;
	} else if (count > 0) {
		*torn = 1;
		errno = ENOSPC;
	} else if (count == 0) {
		errno = EIO;
	}
out:
	lens_text_clear(&line);
	return result;
}

int lens_record_torn(int fd)
{
	struct stat status;
	char last;

	if (fstat(fd, &status) != 0 || status.st_size == 0)
		return 0;
	return pread(fd, &last, 1, status.st_size - 1) == 1 && last != '\n';
}

uint64_t lens_record_number(const struct lens_carrier *record, const char *key, uint64_t fallback)
{
	uint64_t number = fallback;

	lens_uint64_parse(lens_carrier_get(record, key), &number);
	return number;
}

bool lens_record_flag(const struct lens_carrier *record, const char *key)
{
	return lens_record_number(record, key, 0) == 1;
}

static int64_t record_clock(const struct lens_carrier *record, const char *key)
{
	int64_t time = 0;

	lens_int64_parse(lens_carrier_get(record, key), &time);
	return time >= 0 && time < LENS_RECORD_TIME_END ? time : 0;
}

int64_t lens_record_time(const struct lens_carrier *record)
{
	return record_clock(record, "t");
}

int64_t lens_record_monotonic(const struct lens_carrier *record)
{
	return record_clock(record, "m");
}

const char *lens_record_event(const struct lens_carrier *record)
{
	const char *event = lens_carrier_get(record, "e");

	return event != NULL ? event : "";
}
