/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/clock.h"
#include "lib/core/fd.h"
#include "lib/core/number.h"
#include "lib/core/record.h"
#include "lib/core/statedir.h"

#include <fcntl.h>
#include <sys/stat.h>

#define BLOCK 512 /* st_blocks counts these, whatever the file system has */

struct sum {
	int directory;
	uint64_t *bytes;
};

uint64_t lens_state_file_size(const struct stat *status)
{
	return (uint64_t)status->st_blocks * BLOCK;
}

static int add(void *context, const struct lens_state_name *name, const char *text)
{
	const struct sum *sum = context;
	struct stat status;

	(void)name;
	if (fstatat(sum->directory, text, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(status.st_mode))
		*sum->bytes += lens_state_file_size(&status);
	return 0;
}

int lens_statedir_size(int directory, uint64_t *out)
{
	struct sum sum = { .directory = directory, .bytes = out };

	*out = 0;
	return lens_statedir_each(directory, add, &sum);
}

#define COUNT_NAME "spool.size"
#define COUNT_REST 100 /* times as long as it took, nobody counts again */

/* The bytes that were counted last, if that was not too long ago. 0, or -1. */
static int count_recall(int directory, uint64_t *bytes)
{
	int fd = openat(directory, COUNT_NAME, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	struct lens_records *records = fd < 0 ? NULL : lens_records_read(fd);
	const struct lens_carrier *count = records ? lens_records_last(records, "size") : NULL;
	int64_t age = count ? lens_clock_ns(CLOCK_REALTIME) - lens_record_time(count) : -1;
	int rc = -1;

	if (age >= 0 && (uint64_t)age / COUNT_REST < lens_record_number(count, "took", 0) &&
	    lens_uint64_parse(lens_carrier_get(count, "bytes"), bytes) == 0)
		rc = 0;
	lens_records_destroy(records);
	lens_fd_close(fd);
	return rc;
}

/* Where it cannot be kept all count, as before. */
static void count_keep(int directory, uint64_t bytes, int64_t took)
{
	struct lens_carrier *count = lens_record_create("size");
	int fd = openat(directory, COUNT_NAME,
			O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	int torn = 0;

	if (count && fd >= 0 && lens_carrier_set_number(count, "bytes", (int64_t)bytes) == 0 &&
	    lens_carrier_set_number(count, "took", took) == 0)
		lens_record_append(fd, count, &torn);
	lens_fd_close(fd);
	lens_carrier_destroy(count);
}

int lens_statedir_size_recent(int directory, uint64_t *out)
{
	int64_t began;

	if (count_recall(directory, out) == 0)
		return 0;
	began = lens_clock_ns(CLOCK_MONOTONIC);
	if (lens_statedir_size(directory, out) < 0)
		return -1;
	count_keep(directory, *out, lens_clock_ns(CLOCK_MONOTONIC) - began);
	return 0;
}
