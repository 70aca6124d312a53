/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/status.h"

#include "lib/core/fd.h"
#include "lib/core/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATUS_NAME "agent.status"
#define PART_NAME   "agent.status.part"

#define FIELD(f) offsetof(struct lens_status, f)

static const struct {
	const char *key;
	size_t offset;
	size_t size; /* of a text; 0: a number */
} fields[] = {
	{ "version", FIELD(version), sizeof(((struct lens_status *)0)->version) },
	{ "protocol", FIELD(protocol), sizeof(((struct lens_status *)0)->protocol) },
	{ "receiver", FIELD(receiver), sizeof(((struct lens_status *)0)->receiver) },
	{ "dropped_why", FIELD(dropped_why), sizeof(((struct lens_status *)0)->dropped_why) },
	{ "error", FIELD(error), sizeof(((struct lens_status *)0)->error) },
	{ "started", FIELD(started), 0 },
	{ "sent", FIELD(sent), 0 },
	{ "retried", FIELD(retried), 0 },
	{ "dropped", FIELD(dropped), 0 },
	{ "dropped_at", FIELD(dropped_at), 0 },
	{ "sent_at", FIELD(sent_at), 0 },
	{ "failing_since", FIELD(failing_since), 0 },
	{ "error_at", FIELD(error_at), 0 },
};

#define FIELD_COUNT (sizeof(fields) / sizeof(fields[0]))

static struct lens_carrier *record_create(const struct lens_status *status)
{
	struct lens_carrier *record = lens_record_create("status");
	bool failed = record == NULL || lens_carrier_set_number(record, "pid", status->pid) != 0 ||
		      lens_carrier_set_number(record, "sender", status->sender) != 0;

	for (size_t i = 0; !failed && i < FIELD_COUNT; i++) {
		const char *at = (const char *)status + fields[i].offset;
		uint64_t number;

		memcpy(&number, at, sizeof(number));
		if (fields[i].size > 0)
			failed = lens_carrier_set(record, fields[i].key, at) != 0;
		else
			failed = lens_carrier_setf(record, fields[i].key, "%" PRIu64, number) != 0;
	}
	if (!failed)
		return record;
	lens_carrier_destroy(record);
	return NULL;
}

int lens_status_write(int directory, const struct lens_status *status, struct lens_error *err)
{
	struct lens_carrier *record = record_create(status);
	int fd, torn = 0, result = -1;

	if (record == NULL)
		return lens_error_set(err, "no memory");
	fd = openat(directory, PART_NAME,
		    O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
		    0600);
	if (fd < 0 || lens_record_append(fd, record, &torn) != 0 ||
	    renameat(directory, PART_NAME, directory, STATUS_NAME) != 0)
		lens_error_set(err, "%s in the StateDir cannot be written: %m", STATUS_NAME);
	else
		result = 0;
	lens_fd_close(fd);
	lens_carrier_destroy(record);
	return result;
}

static void record_read(struct lens_status *out, const struct lens_carrier *record)
{
	out->pid = (uint32_t)lens_record_number(record, "pid", 0);
	out->sender = (uint32_t)lens_record_number(record, "sender", 0);
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		char *at = (char *)out + fields[i].offset;
		const char *text = lens_carrier_get(record, fields[i].key);
		uint64_t number = lens_record_number(record, fields[i].key, 0);

		if (fields[i].size > 0)
			snprintf(at, fields[i].size, "%s", text != NULL ? text : "");
		else
			memcpy(at, &number, sizeof(number));
	}
}

int lens_status_read(int directory, struct lens_status *out, struct lens_error *err)
{
	int fd = openat(directory, STATUS_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct lens_records *records = NULL;
	const struct lens_carrier *record = NULL;
	struct stat status;
	int result = -1;

	memset(out, 0, sizeof(*out));
	if (fd < 0 && errno == ENOENT)
		return 1;
	if (fd < 0)
		return lens_error_set(err, "%s in the StateDir: %m", STATUS_NAME);
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= LENS_RECORD_MAX)
		records = lens_records_read(fd);
	if (records != NULL)
		record = lens_records_last(records, "status");
	if (record == NULL) {
		lens_error_set(err, "%s in the StateDir holds nothing that can be read",
			       STATUS_NAME);
	} else {
		record_read(out, record);
		result = 0;
	}
	lens_records_destroy(records);
	lens_fd_close(fd);
	return result;
}
