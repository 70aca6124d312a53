/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/note.h"
#include "lib/core/hash.h"
#include "lib/core/statedir.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <cmocka.h>

#include "tests/unit/scratch.h"

#define NOW   LENS_STATE_NOTE
#define ENDED LENS_STATE_ENDED

static struct lens_note make_note(uint32_t job, uint32_t attempt, bool lens)
{
	return (struct lens_note){ .job = job,
				   .leader = job,
				   .attempt = attempt,
				   .cluster = (char *)"mini",
				   .node = (char *)"n1",
				   .sluid = (char *)"",
				   .lens = lens };
}

/* The file name of a note on n1; valid until the next call. */
static const char *file_name(enum lens_state_kind kind, uint32_t job, uint32_t attempt)
{
	static char name[LENS_STATE_NAME];
	const struct lens_state_name parts = {
		.kind = kind, .job = job, .node = lens_name_number("n1"), .attempt = attempt
	};

	lens_state_name_format(name, &parts);
	return name;
}

static size_t count_files(const struct scratch *scratch)
{
	DIR *list = opendir(scratch->path);
	size_t count = 0;
	struct dirent *entry;

	assert_non_null(list);
	while ((entry = readdir(list)) != NULL)
		count += entry->d_name[0] != '.';
	closedir(list);
	return count;
}

/* The events of the file NAME in order are EXPECTED, each followed by a blank. */
static void assert_events(const struct scratch *scratch, const char *name, const char *expected)
{
	int fd = openat(scratch->fd, name, O_RDONLY);
	struct lens_records *records;
	char events[256] = "";

	if (fd < 0)
		fail_msg("there is no %s", name);
	records = lens_records_read(fd);
	assert_non_null(records);
	for (size_t i = 0; i < lens_records_count(records); i++) {
		strcat(events, lens_record_event(lens_records_at(records, i)));
		strcat(events, " ");
	}
	assert_string_equal(events, expected);
	lens_records_destroy(records);
	close(fd);
}

static void write_note(const struct scratch *scratch, const struct lens_note *note)
{
	struct lens_error err = LENS_ERROR_INIT;

	if (lens_note_write(scratch->fd, note, 100, &err) != 0)
		fail_msg("%s", err.text);
}

static void end_note(const struct scratch *scratch, const struct lens_note *fallback, bool lens)
{
	struct lens_carrier *epilog = lens_record_create("epilog");
	struct lens_error err = LENS_ERROR_INIT;

	if (lens_note_end(scratch->fd, fallback, lens, epilog, &err) != 0)
		fail_msg("%s", err.text);
	lens_carrier_destroy(epilog);
}

static void what_is_written_is_read(void **state)
{
	struct scratch *scratch = *state;
	struct lens_note note = make_note(8, 3, true), read;
	char *text;

	note.leader = 7;
	note.first = true;
	note.sluid = (char *)"s039M8PH3VNB00";
	write_note(scratch, &note);
	assert_int_equal(lens_note_read(scratch->fd, 8, "n1", &read, NULL), 0);
	assert_int_equal(read.job, 8);
	assert_int_equal(read.leader, 7);
	assert_int_equal(read.attempt, 3);
	assert_string_equal(read.cluster, "mini");
	assert_string_equal(read.node, "n1");
	assert_string_equal(read.sluid, "s039M8PH3VNB00");
	assert_true(read.lens && read.first);
	lens_note_clear(&read);
	assert_null(read.cluster);

	text = scratch_read(scratch, file_name(NOW, 8, 0));
	assert_true(strlen(text) < 200);
	assert_non_null(strstr(text, ",boot="));
	free(text);
	assert_int_equal(count_files(scratch), 1);
	assert_int_equal(lens_note_read(scratch->fd, 9, "n1", &read, NULL), 1);
	lens_note_clear(&read);
	assert_int_equal(lens_note_read(scratch->fd, 8, "n2", &read, NULL), 1);
	lens_note_clear(&read);
}

/* A job that is not lens's: nothing that describes its user or its size. */
static void a_plain_job_leaves_little(void **state)
{
	struct scratch *scratch = *state;
	struct lens_note note = make_note(8, 0, false), read;
	struct stat status;
	char *text;

	note.first = true;
	write_note(scratch, &note);
	text = scratch_read(scratch, file_name(NOW, 8, 0));
	assert_null(strstr(text, "lens="));
	assert_null(strstr(text, "first="));
	assert_null(strstr(text, "sluid="));
	free(text);
	assert_int_equal(fstatat(scratch->fd, file_name(NOW, 8, 0), &status, 0), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_int_equal(lens_note_read(scratch->fd, 8, "n1", &read, NULL), 0);
	assert_false(read.lens || read.first);
	lens_note_clear(&read);
}

static void hostile_names_stay_values(void **state)
{
	struct scratch *scratch = *state;
	struct lens_note note = make_note(8, 0, false), read;

	note.node = (char *)"../../etc/n,e=epilog\n";
	note.cluster = (char *)"a=b,lens=1\nv=1,t=1,e=note,job=9";
	write_note(scratch, &note);
	assert_int_equal(count_files(scratch), 1);
	assert_int_equal(lens_note_read(scratch->fd, 8, note.node, &read, NULL), 0);
	assert_string_equal(read.cluster, note.cluster);
	assert_string_equal(read.node, note.node);
	assert_false(read.lens);
	assert_int_equal(read.job, 8);
	lens_note_clear(&read);
}

static void another_attempt_is_retired_and_its_own_left(void **state)
{
	struct scratch *scratch = *state;
	struct lens_note first = make_note(8, 0, true), second = make_note(8, 1, false), read;

	write_note(scratch, &first);
	write_note(scratch, &second);
	assert_events(scratch, file_name(ENDED, 8, 0), "note ");
	second.lens = true; /* a second prolog changes nothing */
	write_note(scratch, &second);
	assert_int_equal(lens_note_read(scratch->fd, 8, "n1", &read, NULL), 0);
	assert_int_equal(read.attempt, 1);
	assert_false(read.lens);
	lens_note_clear(&read);
	assert_int_equal(count_files(scratch), 2);
}

/* The same attempt number of another life: a rebuilt cluster, Slurm's own id of it. */
static void the_number_alone_is_not_the_attempt(void **state)
{
	struct scratch *scratch = *state;
	struct lens_note note = make_note(8, 0, true), read;

	note.sluid = (char *)"s1";
	write_note(scratch, &note);
	note.sluid = (char *)"s2";
	write_note(scratch, &note);
	assert_events(scratch, file_name(ENDED, 8, 0), "note ");
	note.cluster = (char *)"other";
	write_note(scratch, &note);
	assert_events(scratch, file_name(ENDED, 8, 0), "note note ");
	assert_int_equal(lens_note_read(scratch->fd, 8, "n1", &read, NULL), 0);
	assert_string_equal(read.cluster, "other");
	lens_note_clear(&read);
}

/* As a power cut leaves it: empty, or zeros. */
static void a_damaged_note_is_said_and_replaced(void **state)
{
	struct scratch *scratch = *state;
	struct lens_note note = make_note(8, 1, true), read;
	struct lens_error err = LENS_ERROR_INIT;

	scratch_write(scratch, file_name(NOW, 8, 0), "");
	assert_int_equal(lens_note_read(scratch->fd, 8, "n1", &read, &err), -1);
	assert_non_null(strstr(err.text, "job 8"));
	lens_note_clear(&read);
	assert_int_equal(lens_note_optin(scratch->fd, 8, "n1", &err), 0);
	write_note(scratch, &note);
	assert_events(scratch, file_name(NOW, 8, 0), "note ");

	scratch_write(scratch, file_name(NOW, 8, 0), "v=1,t=5,e=note,job=8,attempt=x,node=n1\n");
	end_note(scratch, &note, false);
	assert_int_equal(count_files(scratch), 0);
	scratch_write(scratch, file_name(NOW, 8, 0), "");
	end_note(scratch, &note, true);
	assert_events(scratch, file_name(ENDED, 8, 1), "note epilog ");
	assert_int_equal(count_files(scratch), 1);
}

static void there_are_never_too_many(void **state)
{
	struct scratch *scratch = *state;
	struct lens_note note = make_note(1, 0, true), read;
	struct lens_error err = LENS_ERROR_INIT;

	scratch_write(scratch, "1.2.3.4", "a journal does not count");
	scratch_write(scratch, "agent.lock", "nor this");
	for (note.job = 1; note.job <= 3; note.job++)
		assert_int_equal(lens_note_write(scratch->fd, &note, 3, &err), 0);
	note.job = 4;
	assert_int_equal(lens_note_write(scratch->fd, &note, 3, &err), -1);
	assert_non_null(strstr(err.text, "MaxNotes=3"));
	assert_int_equal(count_files(scratch), 5);
	/* Too many or not, a step never reads the note of an attempt that is over. */
	note.job = 2;
	note.attempt = 1;
	assert_int_equal(lens_note_write(scratch->fd, &note, 3, &err), -1);
	assert_int_equal(lens_note_read(scratch->fd, 2, "n1", &read, NULL), 1);
	lens_note_clear(&read);
	assert_true(scratch_has(scratch, file_name(ENDED, 2, 0)));
	assert_int_equal(lens_note_write(scratch->fd, &note, 4, &err), 0);
}

static void a_step_opts_in_once(void **state)
{
	struct scratch *scratch = *state;
	struct lens_note note = make_note(8, 0, false), read;

	assert_int_equal(lens_note_optin(scratch->fd, 8, "n1", NULL), 0);
	assert_int_equal(count_files(scratch), 0);
	write_note(scratch, &note);
	assert_int_equal(lens_note_optin(scratch->fd, 8, "n1", NULL), 0);
	assert_int_equal(lens_note_optin(scratch->fd, 8, "n1", NULL), 0);
	assert_events(scratch, file_name(NOW, 8, 0), "note optin ");
	assert_int_equal(lens_note_read(scratch->fd, 8, "n1", &read, NULL), 0);
	assert_true(read.lens);
	lens_note_clear(&read);
	note.lens = true;
	note.job = 9;
	write_note(scratch, &note);
	assert_int_equal(lens_note_optin(scratch->fd, 9, "n1", NULL), 0);
	assert_events(scratch, file_name(NOW, 9, 0), "note ");
}

static void the_end_keeps_what_is_lenss_alone(void **state)
{
	struct scratch *scratch = *state;
	struct lens_note plain = make_note(8, 0, false), lens = make_note(9, 0, true);
	struct lens_note next = make_note(9, 1, false);

	write_note(scratch, &plain);
	end_note(scratch, &plain, false);
	assert_int_equal(count_files(scratch), 0);
	write_note(scratch, &plain);
	assert_int_equal(lens_note_optin(scratch->fd, 8, "n1", NULL), 0);
	end_note(scratch, &plain, false);
	assert_events(scratch, file_name(ENDED, 8, 0), "note optin epilog ");
	/* After a requeue the epilog's environment has the next number already. */
	write_note(scratch, &lens);
	end_note(scratch, &next, false);
	assert_events(scratch, file_name(ENDED, 9, 0), "note epilog ");
	assert_int_equal(count_files(scratch), 2);
}

static void without_a_note_the_end_is_inferred(void **state)
{
	struct scratch *scratch = *state;
	struct lens_note fallback = make_note(8, 2, false), read;
	struct lens_records *records;
	int fd;

	end_note(scratch, &fallback, false);
	assert_int_equal(count_files(scratch), 0);
	end_note(scratch, &fallback, true);
	assert_int_equal(count_files(scratch), 1);
	fd = openat(scratch->fd, file_name(ENDED, 8, 2), O_RDONLY);
	records = lens_records_read(fd);
	close(fd);
	assert_non_null(records);
	assert_int_equal(lens_note_parse(&read, records), 0);
	assert_int_equal(read.attempt, 2);
	assert_true(read.lens);
	assert_true(lens_record_number(lens_records_last(records, "note"), "inferred", 0) == 1);
	assert_non_null(lens_records_last(records, "epilog"));
	lens_note_clear(&read);
	lens_records_destroy(records);
}

/* The agent is slow and the same attempt ends twice: nothing of the first is lost. */
static void an_ended_note_is_added_to(void **state)
{
	struct scratch *scratch = *state;
	struct lens_note note = make_note(8, 0, true);

	write_note(scratch, &note);
	end_note(scratch, &note, true);
	write_note(scratch, &note);
	end_note(scratch, &note, true);
	assert_events(scratch, file_name(ENDED, 8, 0), "note epilog note epilog ");
	/* An epilog that ran twice tells nothing new. */
	end_note(scratch, &note, true);
	note.attempt = 1; /* a requeue's */
	end_note(scratch, &note, true);
	assert_events(scratch, file_name(ENDED, 8, 0), "note epilog note epilog ");
	assert_int_equal(count_files(scratch), 1);
	assert_int_equal(count_files(scratch), 1);
}

/* The append of a step that was killed in it must not swallow the epilog's. */
static void a_cut_record_costs_itself_alone(void **state)
{
	struct scratch *scratch = *state;
	struct lens_note note = make_note(8, 0, true);
	int fd;

	write_note(scratch, &note);
	fd = openat(scratch->fd, file_name(NOW, 8, 0), O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, "v=1,t=5,m=5,e=optin", 19), 19);
	close(fd);
	end_note(scratch, &note, false);
	assert_events(scratch, file_name(ENDED, 8, 0), "note epilog ");
}

static void a_full_disk_leaves_no_half_note(void **state)
{
	struct scratch *scratch = *state;
	const struct rlimit limit = { 50, 50 };
	struct lens_note note = make_note(8, 0, true);
	struct lens_error err = LENS_ERROR_INIT;
	pid_t pid = scratch_fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
			_exit(1);
		if (lens_note_write(scratch->fd, &note, 100, &err) != -1)
			_exit(2);
		_exit(strstr(err.text, "cannot be written: No space left") ? 0 : 3);
	}
	assert_int_equal(scratch_wait(pid), 0);
	assert_int_equal(count_files(scratch), 0);
}

/* The note must go though nothing can be added to it: the next attempt would find it. */
static void a_full_disk_does_not_keep_a_note_in_place(void **state)
{
	struct scratch *scratch = *state;
	const struct rlimit limit = { 10, 10 };
	struct lens_note note = make_note(8, 0, true);
	pid_t pid;

	write_note(scratch, &note);
	pid = scratch_fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct lens_carrier *epilog = lens_record_create("epilog");

		if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
			_exit(1);
		_exit(lens_note_end(scratch->fd, &note, true, epilog, NULL) == -1 ? 0 : 2);
	}
	assert_int_equal(scratch_wait(pid), 0);
	assert_events(scratch, file_name(ENDED, 8, 0), "note ");
	assert_int_equal(count_files(scratch), 1);
}

static void errors_name_the_note(void **state)
{
	struct scratch *scratch = *state;
	struct lens_note note = make_note(8, 0, true), read;
	struct lens_error err = LENS_ERROR_INIT;

	assert_int_equal(symlink("elsewhere", scratch_path(scratch, file_name(NOW, 8, 0))), 0);
	assert_int_equal(lens_note_read(scratch->fd, 8, "n1", &read, &err), -1);
	assert_non_null(strstr(err.text, file_name(NOW, 8, 0)));
	assert_int_equal(lens_note_optin(scratch->fd, 8, "n1", &err), -1);
	assert_int_equal(lens_note_write(scratch->fd, &note, 100, &err), -1);
	assert_int_equal(lens_note_write(-1, &note, 100, &err), -1);
	assert_false(scratch_has(scratch, "elsewhere"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(what_is_written_is_read),
		scratch_test(a_plain_job_leaves_little),
		scratch_test(hostile_names_stay_values),
		scratch_test(another_attempt_is_retired_and_its_own_left),
		scratch_test(the_number_alone_is_not_the_attempt),
		scratch_test(a_damaged_note_is_said_and_replaced),
		scratch_test(there_are_never_too_many),
		scratch_test(a_step_opts_in_once),
		scratch_test(the_end_keeps_what_is_lenss_alone),
		scratch_test(without_a_note_the_end_is_inferred),
		scratch_test(an_ended_note_is_added_to),
		scratch_test(a_cut_record_costs_itself_alone),
		scratch_test(a_full_disk_leaves_no_half_note),
		scratch_test(a_full_disk_does_not_keep_a_note_in_place),
		scratch_test(errors_name_the_note),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
