/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/note_files.h"

#include "lib/core/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
	struct lens_note_names names;
	struct lens_note other;
	bool damaged = false, same;
	int fd, result = 0;

	fd = lens_note_open(directory, note->job, note->node, O_RDONLY, &other, &damaged, err);
	if (fd < 0)
		return fd == -2 ? 0 : -1;
	lens_fd_close(fd);
	if (damaged) /* as a power cut leaves it; the rename replaces it */
		return 0;
	same = is_same_attempt(&other, note);
	lens_note_names_format(&names, other.job, other.node, other.attempt);
	if (!same && (other.lens ? lens_note_move(directory, names.now, names.ended)
				 : unlinkat(directory, names.now, 0)) != 0)
		result = lens_note_error(err, names.now, "cannot be retired");
	lens_note_clear(&other);
	return same ? 1 : result;
}

int lens_note_write(int directory, const struct lens_note *note, uint64_t max_notes,
		    struct lens_error *err)
{
	struct limit limit = { .most = max_notes };
	struct lens_note_names names;
	int found = retire_other(directory, note, err);

	if (found != 0)
		return found < 0 ? -1 : 0;
	lens_note_names_format(&names, note->job, note->node, note->attempt);
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
	if (lens_note_write_temporary(directory, &names, note, NULL, err) != 0)
		return -1;
	if (renameat(directory, names.temporary, directory, names.now) == 0)
		return 0;
	lens_note_error(err, names.now, "cannot be named");
	unlinkat(directory, names.temporary, 0);
	return -1;
}

int lens_note_read(int directory, uint32_t job, const char *node, struct lens_note *out,
		   struct lens_error *err)
{
	bool damaged = false;
	int fd = lens_note_open(directory, job, node, O_RDONLY, out, &damaged, err);

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
	int result = record != NULL ? lens_note_add(fd, record) : -1;

	lens_carrier_destroy(record);
	return result;
}

int lens_note_optin(int directory, uint32_t job, const char *node, struct lens_error *err)
{
	struct lens_note note;
	bool damaged = false;
	int fd, result = 0;

	fd = lens_note_open(directory, job, node, O_RDWR | O_APPEND, &note, &damaged, err);
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
	struct lens_note_names names;
	int result = 0;

	lens_note_names_format(&names, note->job, note->node, note->attempt);
	if (!note->lens && !lens) {
		if (unlinkat(directory, names.now, 0) != 0 && errno != ENOENT)
			return lens_note_error(err, names.now, "cannot be removed");
		return 0;
	}
	/* Renamed even when the disk is full: the next attempt must not find it. */
	if ((!note->lens && add_optin(fd) != 0) || lens_note_add(fd, epilog) != 0)
		result = lens_note_error(err, names.now, "cannot be added to");
	if (lens_note_move(directory, names.now, names.ended) != 0)
		result = lens_note_error(err, names.now, "cannot be retired");
	return result;
}

/* Whether an ended note of NOTE's attempt is there, or of the one before: a requeue counts on. */
static bool is_waiting(int directory, const struct lens_note *note)
{
	struct lens_note_names names;

	for (uint32_t back = 0; back <= 1 && back <= note->attempt; back++) {
		lens_note_names_format(&names, note->job, note->node, note->attempt - back);
		if (faccessat(directory, names.ended, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return true;
	}
	return false;
}

static int end_inferred(int directory, const struct lens_note *fallback,
			const struct lens_carrier *epilog, struct lens_error *err)
{
	struct lens_note note = *fallback;
	struct lens_note_names names;

	note.lens = true;
	lens_note_names_format(&names, note.job, note.node, note.attempt);
	if (lens_note_write_temporary(directory, &names, &note, epilog, err) != 0)
		return -1;
	if (lens_note_move(directory, names.temporary, names.ended) == 0)
		return 0;
	lens_note_error(err, names.ended, "cannot be named");
	unlinkat(directory, names.temporary, 0);
	return -1;
}

int lens_note_end(int directory, const struct lens_note *fallback, bool lens,
		  const struct lens_carrier *epilog, struct lens_error *err)
{
	struct lens_note_names names;
	struct lens_note note;
	bool damaged = false;
	int fd, result = 0;

	fd = lens_note_open(directory, fallback->job, fallback->node, O_RDWR | O_APPEND, &note,
			    &damaged, err);
	if (fd == -1)
		return -1;
	if (fd >= 0 && !damaged) {
		result = end_found(directory, fd, &note, lens, epilog, err);
		goto out;
	}
	if (fd >= 0) {
		lens_note_names_format(&names, fallback->job, fallback->node, 0);
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
