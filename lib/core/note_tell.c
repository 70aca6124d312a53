/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/fd.h"
#include "lib/core/hash.h"
#include "lib/core/note.h"
#include "lib/core/statedir.h"

#include <fcntl.h>
#include <unistd.h>

/* Adds RECORD to the file NAME below DIRECTORY. 0, or -1 with errno. */
static int add_to_file(int directory, const char *name, const struct lens_carrier *record)
{
	int fd = openat(directory, name, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int rc, torn;

	fd = lens_fd_raise(fd, F_DUPFD_CLOEXEC);
	if (fd < 0)
		return -1;
	torn = lens_record_torn(fd);
	rc = lens_record_append(fd, record, &torn);
	lens_fd_close(fd);
	return rc;
}

struct tell {
	int directory;
	uint32_t job, node;
	const struct lens_carrier *record;
	int told;
};

static int tell_one(void *context, const struct lens_state_name *name, const char *text)
{
	struct tell *tell = context;

	if (name->kind == LENS_STATE_JOURNAL && name->job == tell->job &&
	    name->node == tell->node && add_to_file(tell->directory, text, tell->record) == 0)
		tell->told++;
	return 0;
}

int lens_note_tell_journals(int directory, uint32_t job, const char *node,
			    const struct lens_carrier *record)
{
	struct tell tell = {
		.directory = directory, .job = job, .node = lens_name_number(node), .record = record
	};

	lens_statedir_each(directory, tell_one, &tell);
	return tell.told;
}

/* Adds RECORD to the current note, when it is an adopted one. 1, or 0. */
static int tell_note(int directory, uint32_t job, const char *node,
		     const struct lens_carrier *record)
{
	struct lens_state_name name = { .kind = LENS_STATE_NOTE,
					.job = job,
					.node = lens_name_number(node) };
	struct lens_note note = { 0 };
	char text[LENS_STATE_NAME];
	int told = 0;

	lens_state_name_format(text, &name);
	if (lens_note_read(directory, job, node, &note, NULL) == 0 && note.journal)
		told = add_to_file(directory, text, record) == 0;
	lens_note_clear(&note);
	return told;
}

bool lens_note_tell(int directory, uint32_t job, const char *node,
		    const struct lens_carrier *record)
{
	/* The agent may be making the note of a journal at this moment: it is there before
	 * the journal is gone. */
	return tell_note(directory, job, node, record) ||
	       lens_note_tell_journals(directory, job, node, record) > 0 ||
	       tell_note(directory, job, node, record);
}
