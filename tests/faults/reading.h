/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_FAULTS_READING_H
#define LENS_TESTS_FAULTS_READING_H

#include "tests/spankhost/jobs.h"

#include "lib/core/record.h"
#include "lib/core/statedir.h"
#include "tests/faults/plan.h"

#include <fcntl.h>
#include <sys/mman.h>

/* What hooks leave in the state directory, and whether the agent would read what was meant. */

/* --- the state directory, taken down and put back */

#define FILES 16
struct saved {
	size_t count;
	struct {
		char name[256];
		char *bytes;
		size_t length;
	} files[FILES];
};

static inline void state_path(const struct scene *scene, char out[520], const char *name)
{
	snprintf(out, 520, "%s/state/%s", scene->path, name);
}

static inline char *file_read(const char *path, size_t *length)
{
	FILE *file = fopen(path, "r");
	char *bytes = calloc(1, 1 << 16);

	assert_non_null(file);
	assert_non_null(bytes);
	*length = fread(bytes, 1, (1 << 16) - 1, file);
	fclose(file);
	return bytes;
}

/* Calls VISIT for each file's path and name. */
static inline void state_each(const struct scene *scene,
			      void (*visit)(void *context, const char *path, const char *name),
			      void *context)
{
	struct dirent *entry;
	char path[520];
	DIR *directory;

	state_path(scene, path, "");
	directory = opendir(path);
	if (!directory) /* what made it fail may be what makes it */
		return;
	while ((entry = readdir(directory))) {
		if (entry->d_name[0] == '.')
			continue;
		state_path(scene, path, entry->d_name);
		visit(context, path, entry->d_name);
	}
	closedir(directory);
}

static inline void save_one(void *context, const char *path, const char *name)
{
	struct saved *saved = context;

	assert_true(saved->count < FILES);
	snprintf(saved->files[saved->count].name, sizeof(saved->files->name), "%s", name);
	saved->files[saved->count].bytes = file_read(path, &saved->files[saved->count].length);
	saved->count++;
}

static inline void state_restore(const struct scene *scene, const struct saved *saved)
{
	scene_state_empty(scene);
	for (size_t i = 0; i < saved->count; i++) {
		char path[520];
		FILE *file;

		state_path(scene, path, saved->files[i].name);
		file = fopen(path, "w");
		assert_non_null(file);
		assert_int_equal(fwrite(saved->files[i].bytes, 1, saved->files[i].length, file),
				 saved->files[i].length);
		fclose(file);
		assert_int_equal(chmod(path, 0600), 0);
	}
}

static inline void saved_clear(struct saved *saved)
{
	for (size_t i = 0; i < saved->count; i++)
		free(saved->files[i].bytes);
}

/* --- what the agent would read */

/* The keys of a record, and which it is: its file, event and rank. */
struct known {
	char file[32]; /* of a journal job and step, else "" */
	char event[32];
	uint64_t rank;
	char keys[1024]; /* "job leader attempt " */
};

/* What a run without a fault writes; every other may write less, never half. */
struct knowledge {
	struct known records[32];
	size_t count;
};

struct reading {
	struct knowledge *knowledge; /* to add to, or to check by */
	const struct saved *before;
	const struct fault_plan *plan;
	bool learn;
	char file[32];
};

/* Whether LINE is what was to be written in one piece, or was there before. */
static inline bool is_meant(const struct reading *reading, const char *line, size_t length)
{
	size_t end = reading->plan->lines_length;

	for (size_t at = 0; at < end; at += strlen(reading->plan->lines + at) + 1) {
		const char *meant = reading->plan->lines + at;

		meant += strncmp(meant, ",\n", 2) == 0 ? 2 : 0;
		if (strncmp(meant, line, length) == 0 && meant[length] == '\n')
			return true;
	}
	for (size_t i = 0; i < reading->before->count; i++) {
		const char *found = memmem(reading->before->files[i].bytes,
					   reading->before->files[i].length, line, length);

		if (found && found[length] == '\n')
			return true;
	}
	return false;
}

/* What a record may lack: `boot` where /proc does not tell, `first` where the node could not make sure
 * (the spans of the start then wait for the epilog). */
static inline bool is_optional(const char *key)
{
	return strcmp(key, "boot") == 0 || strcmp(key, "first") == 0;
}

static inline void keys_check(struct reading *reading, const struct lens_carrier *record,
			      const char *line)
{
	uint64_t rank = lens_record_number(record, "rank", 0);
	struct known *known = NULL;

	for (size_t i = 0; i < reading->knowledge->count; i++) {
		struct known *one = &reading->knowledge->records[i];

		if (strcmp(one->file, reading->file) == 0 &&
		    strcmp(one->event, lens_record_event(record)) == 0 && one->rank == rank)
			known = one;
	}
	if (reading->learn && !known) {
		assert_true(reading->knowledge->count < 32);
		known = &reading->knowledge->records[reading->knowledge->count++];
		snprintf(known->file, sizeof(known->file), "%s", reading->file);
		snprintf(known->event, sizeof(known->event), "%s", lens_record_event(record));
		known->rank = rank;
		for (size_t i = 0; i < lens_carrier_count(record); i++)
			if (!is_optional(lens_carrier_key(record, i)))
				snprintf(known->keys + strlen(known->keys),
					 sizeof(known->keys) - strlen(known->keys), "%s ",
					 lens_carrier_key(record, i));
		return;
	}
	/* An event that comes of a fault alone is told by its own tests. */
	for (const char *at = known ? known->keys : ""; *at; at += strcspn(at, " ") + 1) {
		char key[64];

		snprintf(key, sizeof(key), "%.*s", (int)strcspn(at, " "), at);
		if (!lens_carrier_get(record, key))
			fail_msg("half a record, without %s, is read as a whole one: %s", key,
				 line);
	}
}

/* A line as the agent reads it: alone in a file. */
static inline void line_check(struct reading *reading, const char *line, size_t length)
{
	int fd = memfd_create("line", MFD_CLOEXEC);
	struct lens_records *records;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, line, length), length);
	assert_int_equal(write(fd, "\n", 1), 1);
	records = lens_records_read(fd);
	assert_non_null(records);
	if (lens_records_count(records) == 1) {
		if (!is_meant(reading, line, length))
			fail_msg("half a line is read as a whole one: %s", line);
		keys_check(reading, lens_records_at(records, 0), line);
	}
	lens_records_destroy(records);
	close(fd);
}

static inline void file_check(void *context, const char *path, const char *name)
{
	struct reading *reading = context;
	struct lens_state_name parsed;
	size_t length;
	char *bytes, *line, *end;

	if (lens_state_name_parse(&parsed, name) != 0)
		return;
	reading->file[0] = '\0';
	if (parsed.kind == LENS_STATE_JOURNAL)
		snprintf(reading->file, sizeof(reading->file), "%u.%u", parsed.job, parsed.step);
	bytes = file_read(path, &length);
	for (line = bytes; (end = memchr(line, '\n', length - (size_t)(line - bytes)));
	     line = end + 1) {
		*end = '\0';
		line_check(reading, line, (size_t)(end - line));
	}
	free(bytes);
}

#endif
