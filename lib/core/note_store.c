/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/fd.h"
#include "lib/core/hash.h"
#include "lib/core/note.h"
#include "lib/core/statedir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TEMPORARY   "tmp."
#define TEMPORARY_S 60 /* no process takes that long to write one */

#define FILE_FLAGS (O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

/* The names that a note has in its life. */
struct note_names {
	char now[LENS_STATE_NAME];   /* while its attempt is on the node */
	char ended[LENS_STATE_NAME]; /* once it is over */
	/* While this process writes it: never a name of the above, nor of another process. */
	char temporary[LENS_STATE_NAME + 16];
};

static void names_format(struct note_names *names, uint32_t job, const char *node, uint32_t attempt)
{
	struct lens_state_name name = { .kind = LENS_STATE_NOTE,
					.job = job,
					.node = lens_name_number(node),
					.attempt = attempt };

	lens_state_name_format(names->now, &name);
	snprintf(names->temporary, sizeof(names->temporary), TEMPORARY "%s.%u", names->now,
		 (unsigned int)getpid());
	name.kind = LENS_STATE_ENDED;
	lens_state_name_format(names->ended, &name);
}

static int note_error(struct lens_error *err, const char *name, const char *what)
{
	return lens_error_set(err, "note %s in the StateDir %s: %m", name, what);
}

/* The current note of JOB on NODE, opened with FLAGS and read. The descriptor, which the
 * caller closes; -1 with ERR; -2 when there is none. The caller clears OUT. A file that
 * holds no note of this job and node has DAMAGED set and OUT empty. */
static int open_note(int directory, uint32_t job, const char *node, int flags,
		     struct lens_note *out, bool *damaged, struct lens_error *err)
{
	struct lens_records *records;
	struct note_names names;
	int fd;

	*out = (struct lens_note){ 0 };
	names_format(&names, job, node, 0);
	fd = lens_fd_raise(openat(directory, names.now, flags | FILE_FLAGS), F_DUPFD_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return -2;
	if (fd < 0)
		return note_error(err, names.now, "cannot be opened");
	records = lens_records_read(fd);
	if (records == NULL) {
		note_error(err, names.now, "cannot be read");
		lens_fd_close(fd);
		return -1;
	}
	*damaged = lens_note_parse(out, records) != 0 || out->job != job ||
		   strcmp(out->node, node) != 0;
	if (*damaged && out->node == NULL && errno == ENOMEM) {
		note_error(err, names.now, "cannot be read");
		lens_fd_close(fd);
		fd = -1;
	}
	if (*damaged)
		lens_note_clear(out);
	lens_records_destroy(records);
	return fd;
}

/* Adds RECORD to a note's file at FD, behind whatever somebody else left there. */
static int add_record(int fd, const struct lens_carrier *record)
{
	int torn = lens_record_torn(fd);

	return lens_record_append(fd, record, &torn);
}

/* Adds the records of the file FROM to the file TO. */
static int add_file(int directory, const char *from, const char *to)
{
	struct lens_records *records = NULL;
	int source, target = -1, result = -1, torn;
	struct stat status;

	source = openat(directory, from, O_RDONLY | FILE_FLAGS);
	if (source >= 0)
		records = lens_records_read(source);
	if (records != NULL)
		target = openat(directory, to, O_RDWR | O_APPEND | FILE_FLAGS);
	if (target < 0)
		goto out;
	torn = lens_record_torn(target);
	for (size_t i = 0; i < lens_records_count(records); i++)
		if (lens_record_append(target, lens_records_at(records, i), &torn) != 0)
			goto out;
	/* Unlinked meanwhile: nobody will read it. */
	if (fstat(target, &status) == 0 && status.st_nlink == 0)
		errno = ENOENT;
	else
		result = 0;
out:
	lens_records_destroy(records);
	lens_fd_close(source);
	lens_fd_close(target);
	return result;
}

static int rename_new(int directory, const char *from, const char *to)
{
	struct stat status;

	if (renameat2(directory, from, directory, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	/* A file system that cannot do it at once. */
	if (fstatat(directory, to, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return renameat(directory, from, directory, to);
	errno = EEXIST;
	return -1;
}

/*
 * Gives the file FROM the name TO. When TO is there already (the agent is slow, and the
 * same attempt ends a second time) its records go behind those: none is ever lost.
 */
static int move_note(int directory, const char *from, const char *to)
{
	for (int tries = 0; tries < 2; tries++) {
		if (rename_new(directory, from, to) == 0)
			return 0;
		if (errno != EEXIST)
			return -1;
		if (add_file(directory, from, to) == 0)
			return unlinkat(directory, from, 0);
		if (errno != ENOENT) /* else the agent was done with TO at this moment */
			return -1;
	}
	return -1;
}

/* A new file of NOTE and, when there is one, EPILOG under the temporary name. */
static int write_temporary(int directory, const struct note_names *names,
			   const struct lens_note *note, const struct lens_carrier *epilog,
			   struct lens_error *err)
{
	struct lens_carrier *record = lens_note_record(note, epilog != NULL);
	int fd = -1, torn = 0, result = -1;

	if (record == NULL) {
		errno = ENOMEM;
		goto out;
	}
	/* What a killed process left: O_EXCL makes sure that it is nobody else's file. */
	unlinkat(directory, names->temporary, 0);
	fd = openat(directory, names->temporary,
		    O_WRONLY | O_APPEND | O_CREAT | O_EXCL | FILE_FLAGS, 0600);
	fd = lens_fd_raise(fd, F_DUPFD_CLOEXEC);
	if (fd < 0 || lens_record_append(fd, record, &torn) != 0)
		goto out;
	if (epilog != NULL && lens_record_append(fd, epilog, &torn) != 0)
		goto out;
	result = 0;
out:
	if (result != 0) {
		note_error(err, names->now, "cannot be written");
		unlinkat(directory, names->temporary, 0);
	}
	lens_carrier_destroy(record);
	lens_fd_close(fd);
	return result;
}

struct limit {
	uint64_t count, most;
};

static int count_note(void *context, const struct lens_state_name *name, const char *text)
{
	struct limit *limit = context;

	(void)text;
	limit->count += name->kind != LENS_STATE_JOURNAL;
	return limit->count >= limit->most;
}

/* A rebuilt cluster counts its jobs from 1 again: the id and the attempt are not all. */
static bool is_same_attempt(const struct lens_note *a, const struct lens_note *b)
{
	return a->attempt == b->attempt && strcmp(a->cluster, b->cluster) == 0 &&
	       (*a->sluid == '\0' || *b->sluid == '\0' || strcmp(a->sluid, b->sluid) == 0);
}

/* Clears the way for NOTE: 0, 1 when its own note is there already, -1 with ERR. */
static int retire_other(int directory, const struct lens_note *note, struct lens_error *err)
{
	struct note_names names;
	struct lens_note other;
	bool damaged = false, same;
	int fd, result = 0;

	fd = open_note(directory, note->job, note->node, O_RDONLY, &other, &damaged, err);
	if (fd < 0)
		return fd == -2 ? 0 : -1;
	lens_fd_close(fd);
	if (damaged) /* as a power cut leaves it; the rename replaces it */
		return 0;
	same = is_same_attempt(&other, note);
	names_format(&names, other.job, other.node, other.attempt);
	if (!same && (other.lens ? move_note(directory, names.now, names.ended)
				 : unlinkat(directory, names.now, 0)) != 0)
		result = note_error(err, names.now, "cannot be retired");
	lens_note_clear(&other);
	return same ? 1 : result;
}

int lens_note_write(int directory, const struct lens_note *note, uint64_t max_notes,
		    struct lens_error *err)
{
	struct limit limit = { .most = max_notes };
	struct note_names names;
	int found = retire_other(directory, note, err);

	if (found != 0)
		return found < 0 ? -1 : 0;
	names_format(&names, note->job, note->node, note->attempt);
	switch (lens_statedir_each(directory, count_note, &limit)) {
	case 0:
		break;
	case 1:
		return lens_error_set(err,
				      "no note of job %" PRIu32 ": MaxNotes=%" PRIu64
				      " notes are in the StateDir: see in its agent.log whether "
				      "the agent runs",
				      note->job, max_notes);
	default:
		return lens_error_set(err, "the StateDir cannot be listed: %m");
	}
	if (write_temporary(directory, &names, note, NULL, err) != 0)
		return -1;
	if (renameat(directory, names.temporary, directory, names.now) == 0)
		return 0;
	note_error(err, names.now, "cannot be named");
	unlinkat(directory, names.temporary, 0);
	return -1;
}

int lens_note_read(int directory, uint32_t job, const char *node, struct lens_note *out,
		   struct lens_error *err)
{
	bool damaged = false;
	int fd = open_note(directory, job, node, O_RDONLY, out, &damaged, err);

	if (fd < 0)
		return fd == -2 ? 1 : -1;
	lens_fd_close(fd);
	if (damaged)
		return lens_error_set(err, "the note of job %" PRIu32 " on %s is damaged", job,
				      node);
	return 0;
}

/* Adds to a note at FD that its job is lens's. */
static int add_optin(int fd)
{
	struct lens_carrier *record = lens_record_create("optin");
	int result = record != NULL ? add_record(fd, record) : -1;

	lens_carrier_destroy(record);
	return result;
}

int lens_note_optin(int directory, uint32_t job, const char *node, struct lens_error *err)
{
	struct lens_note note;
	bool damaged = false;
	int fd, result = 0;

	fd = open_note(directory, job, node, O_RDWR | O_APPEND, &note, &damaged, err);
	if (fd < 0)
		return fd == -2 ? 0 : -1;
	if (damaged || note.lens)
		goto out;
	if (add_optin(fd) != 0)
		result = lens_error_set(err, "job %" PRIu32 " cannot be marked as lens's: %m", job);
out:
	lens_note_clear(&note);
	lens_fd_close(fd);
	return result;
}

static int end_found(int directory, int fd, const struct lens_note *note, bool lens,
		     const struct lens_carrier *epilog, struct lens_error *err)
{
	struct note_names names;
	int result = 0;

	names_format(&names, note->job, note->node, note->attempt);
	if (!note->lens && !lens) {
		if (unlinkat(directory, names.now, 0) != 0 && errno != ENOENT)
			return note_error(err, names.now, "cannot be removed");
		return 0;
	}
	/* Renamed even when the disk is full: the next attempt must not find it. */
	if ((!note->lens && add_optin(fd) != 0) || add_record(fd, epilog) != 0)
		result = note_error(err, names.now, "cannot be added to");
	if (move_note(directory, names.now, names.ended) != 0)
		result = note_error(err, names.now, "cannot be retired");
	return result;
}

/* Whether an ended note of NOTE's attempt is there, or of the one before: a requeue counts on. */
static bool is_waiting(int directory, const struct lens_note *note)
{
	struct note_names names;

	for (uint32_t back = 0; back <= 1 && back <= note->attempt; back++) {
		names_format(&names, note->job, note->node, note->attempt - back);
		if (faccessat(directory, names.ended, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return true;
	}
	return false;
}

static int end_inferred(int directory, const struct lens_note *fallback,
			const struct lens_carrier *epilog, struct lens_error *err)
{
	struct lens_note note = *fallback;
	struct note_names names;

	note.lens = true;
	names_format(&names, note.job, note.node, note.attempt);
	if (write_temporary(directory, &names, &note, epilog, err) != 0)
		return -1;
	if (move_note(directory, names.temporary, names.ended) == 0)
		return 0;
	note_error(err, names.ended, "cannot be named");
	unlinkat(directory, names.temporary, 0);
	return -1;
}

int lens_note_end(int directory, const struct lens_note *fallback, bool lens,
		  const struct lens_carrier *epilog, struct lens_error *err)
{
	struct note_names names;
	struct lens_note note;
	bool damaged = false;
	int fd, result = 0;

	fd = open_note(directory, fallback->job, fallback->node, O_RDWR | O_APPEND, &note, &damaged,
		       err);
	if (fd == -1)
		return -1;
	if (fd >= 0 && !damaged) {
		result = end_found(directory, fd, &note, lens, epilog, err);
		goto out;
	}
	if (fd >= 0) {
		names_format(&names, fallback->job, fallback->node, 0);
		unlinkat(directory, names.now, 0);
	}
	if (lens_note_tell_journals(directory, fallback->job, fallback->node, epilog) == 0 &&
	    lens && !is_waiting(directory, fallback))
		result = end_inferred(directory, fallback, epilog, err);
out:
	lens_note_clear(&note);
	lens_fd_close(fd);
	return result;
}

void lens_note_sweep(int directory)
{
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	struct stat status;

	if (list == NULL) {
		lens_fd_close(fd);
		return;
	}
	while ((entry = readdir(list)) != NULL) {
		if (strncmp(entry->d_name, TEMPORARY, strlen(TEMPORARY)) == 0 &&
		    fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    status.st_mtime + TEMPORARY_S < time(NULL))
			unlinkat(directory, entry->d_name, 0);
	}
	closedir(list);
}
