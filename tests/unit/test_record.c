/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/record.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>
#include <cmocka.h>

#include "tests/unit/scratch.h"

static int open_file(const struct scratch *scratch, const char *name)
{
	int fd = open(scratch_path(scratch, name), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	return fd;
}

static int append(int fd, const char *event, const char *key, const char *value, int *torn)
{
	struct lens_carrier *record = lens_record_create(event);
	int result;

	assert_non_null(record);
	assert_int_equal(lens_carrier_set(record, key, value), 0);
	result = lens_record_append(fd, record, torn);
	lens_carrier_destroy(record);
	return result;
}

/* What a reader makes of TEXT. The caller destroys. */
static struct lens_records *read_text(const struct scratch *scratch, const char *text,
				      size_t length)
{
	int fd = open_file(scratch, "text");
	struct lens_records *records;

	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(write(fd, text, length), (ssize_t)length);
	records = lens_records_read(fd);
	assert_non_null(records);
	close(fd);
	return records;
}

static void a_record_has_both_clocks(void **state)
{
	struct lens_carrier *record;
	struct timespec real, monotonic;
	int64_t late;

	(void)state;
	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	record = lens_record_create("note");
	assert_non_null(record);
	late = lens_record_time(record) - ((int64_t)real.tv_sec * 1000000000 + real.tv_nsec);
	assert_true(late >= 0 && late < 10000000000);
	late = lens_record_monotonic(record) -
	       ((int64_t)monotonic.tv_sec * 1000000000 + monotonic.tv_nsec);
	assert_true(late >= 0 && late < 10000000000);
	assert_string_equal(lens_record_event(record), "note");
	assert_string_equal(lens_carrier_get(record, "v"), "1");
	lens_carrier_destroy(record);
}

static void what_is_written_is_read_in_order(void **state)
{
	static const char hostile[] = "a,b=c\n\r%00\x01\xff,v=2 ";
	struct scratch *scratch = *state;
	struct lens_records *records;
	int fd = open_file(scratch, "file"), torn = 0;
	char *text;

	assert_int_equal(append(fd, "note", "job", "12", &torn), 0);
	assert_int_equal(append(fd, "optin", "name", hostile, &torn), 0);
	assert_int_equal(append(fd, "note", "job", "13", &torn), 0);
	text = scratch_read(scratch, "file");
	assert_int_equal(strncmp(text, "v=1,t=", 6), 0);
	assert_non_null(strstr(text, ",e=note,job=12\nv=1,t="));
	free(text);

	records = lens_records_read(fd);
	assert_non_null(records);
	assert_int_equal(lens_records_count(records), 3);
	assert_int_equal(lens_records_skipped(records), 0);
	assert_string_equal(lens_record_event(lens_records_at(records, 1)), "optin");
	/* Only what is no UTF-8 is not what it was. */
	assert_string_equal(lens_carrier_get(lens_records_at(records, 1), "name"),
			    "a,b=c\n\r%00\x01\xef\xbf\xbd,v=2 ");
	assert_true(lens_record_number(lens_records_last(records, "note"), "job", 0) == 13);
	assert_null(lens_records_last(records, "epilog"));
	lens_records_destroy(records);
	close(fd);
}

static void numbers_fall_back(void **state)
{
	struct lens_carrier *record = lens_record_create("x");

	(void)state;
	lens_carrier_set(record, "a", "18446744073709551615");
	lens_carrier_set(record, "b", "-1");
	lens_carrier_set(record, "c", "12x");
	lens_carrier_set(record, "t", "soon");
	assert_true(lens_record_number(record, "a", 1) == UINT64_MAX);
	assert_true(lens_record_number(record, "b", 7) == 7);
	assert_true(lens_record_number(record, "c", 7) == 7);
	assert_true(lens_record_number(record, "d", 7) == 7);
	assert_true(lens_record_time(record) == 0);
	lens_carrier_destroy(record);
}

/* Times that no clock shows would make a step of any length. */
static void times_out_of_reach_are_none(void **state)
{
	static const char *const bad[] = { "-1", "4611686018427387904", "9223372036854775807",
					   "-9223372036854775808" };
	struct lens_carrier *record = lens_record_create("x");

	(void)state;
	assert_non_null(record);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(lens_carrier_set(record, "t", bad[i]), 0);
		assert_int_equal(lens_carrier_set(record, "m", bad[i]), 0);
		assert_int_equal(lens_record_time(record), 0);
		assert_int_equal(lens_record_monotonic(record), 0);
	}
	assert_int_equal(lens_carrier_set(record, "t", "4611686018427387903"), 0);
	assert_true(lens_record_time(record) == LENS_RECORD_TIME_END - 1);
	lens_carrier_destroy(record);
}

static void foreign_lines_are_skipped_and_counted(void **state)
{
	static const struct {
		const char *text;
		size_t length; /* 0: up to the NUL */
		size_t count, skipped;
	} cases[] = {
		{ "", 0, 0, 0 },
		{ "v=1,t=5,m=1,e=note,job=1\n", 0, 1, 0 },
		{ "v=1,t=5,m=1,e=note,new.key=%2C,job=1\n", 0, 1, 0 },
		{ "v=1,t=5,m=1,e=note,job=1", 0, 0, 1 }, /* not finished */
		{ "v=1,t=5,e=a\nv=1,t=6,e=b", 0, 1, 1 },
		{ "\n", 0, 0, 1 },
		{ "v=2,t=5,e=a\n", 0, 0, 1 },
		{ "t=5,e=a\n", 0, 0, 1 },
		{ "v=1,e=a\n", 0, 0, 1 },
		{ "v=1,t=,e=a\n", 0, 0, 1 },
		{ "v=1,t=-5,e=a\n", 0, 0, 1 },
		{ "v=1,t=5x,e=a\n", 0, 0, 1 },
		{ "v=1,t=5\n", 0, 0, 1 },
		{ "v=1,t=5,e=\n", 0, 0, 1 },
		{ "hello\nv=1,t=5,e=a\n\nworld\n", 0, 1, 3 },
		{ "v=1,t=5,e=a\n,\nv=1,t=6,e=b\n", 0, 2, 0 }, /* one that was whole was ended */
		{ "v=1,t=5,e=a,\n", 0, 0, 1 }, /* ended by the next record after a cut */
		{ "v=1,t=5,e=a,rank=1v=1,t=6,e=b\n", 0, 0, 1 }, /* two lines run into one */
		{ "v=1,t=5,e=v=1,t=6,e=b\n", 0, 0, 1 },
		{ "v=1,t=v=1,t=6,e=b\n", 0, 0, 1 },
		{ "vv=1,t=6,e=b\n", 0, 0, 1 },
		{ "v=1,t=5,e=a\0,x=1\n", 17, 0, 1 },
		{ "\0\0\0\0\nv=1,t=5,e=a\n", 17, 1, 1 }, /* as a power cut leaves a block */
	};
	struct scratch *scratch = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t length = cases[i].length ? cases[i].length : strlen(cases[i].text);
		struct lens_records *records = read_text(scratch, cases[i].text, length);

		if (lens_records_count(records) != cases[i].count ||
		    lens_records_skipped(records) != cases[i].skipped)
			fail_msg("\"%s\": %zu records, %zu skipped", cases[i].text,
				 lens_records_count(records), lens_records_skipped(records));
		lens_records_destroy(records);
	}
}

static void a_line_has_a_limit_on_both_sides(void **state)
{
	struct scratch *scratch = *state;
	int fd = open_file(scratch, "file"), torn = 0;
	char *value = malloc(LENS_RECORD_MAX + 1);
	struct lens_records *records;

	assert_non_null(value);
	memset(value, 'x', LENS_RECORD_MAX);
	value[LENS_RECORD_MAX] = '\0';
	assert_int_equal(append(fd, "a", "k", value, &torn), -1);
	assert_int_equal(errno, EMSGSIZE);
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	value[LENS_RECORD_MAX - 100] = '\0';
	assert_int_equal(append(fd, "a", "k", value, &torn), 0);
	records = lens_records_read(fd);
	assert_int_equal(lens_records_count(records), 1);
	lens_records_destroy(records);
	/* A longer one, from somebody else. */
	assert_int_equal(write(fd, "v=1,t=5,e=a,k=", 14), 14);
	memset(value, 'x', LENS_RECORD_MAX);
	assert_int_equal(write(fd, value, LENS_RECORD_MAX), LENS_RECORD_MAX);
	assert_int_equal(write(fd, "\n", 1), 1);
	assert_int_equal(append(fd, "b", "k", "1", &torn), 0);
	records = lens_records_read(fd);
	assert_int_equal(lens_records_count(records), 2);
	assert_int_equal(lens_records_skipped(records), 1);
	lens_records_destroy(records);
	free(value);
	close(fd);
}

static void a_key_without_representation_is_refused(void **state)
{
	struct scratch *scratch = *state;
	int fd = open_file(scratch, "file"), torn = 0;

	assert_int_equal(append(fd, "a", "k,v=2", "1", &torn), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	close(fd);
}

/* In a child under `ulimit -f`: as the task of a user who set one. The exit code is the
 * number of the check that failed. */
static int append_under_limit(const char *path, rlim_t limit)
{
	const struct rlimit small = { limit, limit };
	int fd = open(path, O_RDWR | O_APPEND | O_CREAT, 0600), torn = 0;
	sigset_t pending;

	if (fd < 0 || setrlimit(RLIMIT_FSIZE, &small) != 0)
		return 1;
	signal(SIGXFSZ, SIG_DFL);
	if (append(fd, "first", "k", "1", &torn) != 0 || torn != 0)
		return 2;
	if (append(fd, "second", "k", "2", &torn) != -1 || errno != ENOSPC || torn != 1)
		return 3;
	if (append(fd, "third", "k", "3", &torn) != -1 || errno != EFBIG || torn != 1)
		return 4;
	if (sigpending(&pending) != 0 || sigismember(&pending, SIGXFSZ))
		return 5;
	if (sigprocmask(SIG_SETMASK, NULL, &pending) != 0 || sigismember(&pending, SIGXFSZ))
		return 6;
	return 0;
}

static void a_limit_cuts_a_line_and_kills_nobody(void **state)
{
	struct scratch *scratch = *state;
	const char *path = scratch_path(scratch, "file");
	struct lens_records *records;
	int fd, torn;
	pid_t pid = scratch_fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(append_under_limit(path, 100));
	assert_int_equal(scratch_wait(pid), 0);

	fd = open_file(scratch, "file");
	torn = lens_record_torn(fd);
	assert_int_equal(torn, 1);
	assert_int_equal(append(fd, "fourth", "k", "4", &torn), 0);
	assert_int_equal(torn, 0);
	assert_int_equal(lens_record_torn(fd), 0);
	records = lens_records_read(fd);
	assert_int_equal(lens_records_count(records), 2);
	assert_int_equal(lens_records_skipped(records), 1);
	assert_string_equal(lens_record_event(lens_records_at(records, 1)), "fourth");
	lens_records_destroy(records);
	close(fd);
}

/* Wherever a line is cut, it never reads as a shorter value of the same key. */
static void every_cut_loses_the_cut_line_alone(void **state)
{
	static const char line[] = "v=1,t=5,m=1,e=task_end,rank=12,status=139\n";
	struct scratch *scratch = *state;

	for (size_t cut = 1; cut < sizeof(line) - 1; cut++) {
		int fd = open_file(scratch, "file"), torn;
		struct lens_records *records;

		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(write(fd, line, cut), (ssize_t)cut);
		torn = lens_record_torn(fd);
		assert_int_equal(append(fd, "step_end", "k", "1", &torn), 0);
		records = lens_records_read(fd);
		if (lens_records_count(records) != 1 || lens_records_skipped(records) != 1)
			fail_msg("cut at %zu: %zu records", cut, lens_records_count(records));
		assert_string_equal(lens_record_event(lens_records_at(records, 0)), "step_end");
		lens_records_destroy(records);
		close(fd);
	}
}

static void a_full_disk_is_an_error(void **state)
{
	int fd = open("/dev/full", O_WRONLY | O_APPEND), torn = 0;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(append(fd, "a", "k", "1", &torn), -1);
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(torn, 0);
	close(fd);
	assert_int_equal(append(fd, "a", "k", "1", &torn), -1);
	assert_int_equal(errno, EBADF);
	assert_null(lens_records_read(fd));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_has_both_clocks),
		scratch_test(what_is_written_is_read_in_order),
		cmocka_unit_test(numbers_fall_back),
		cmocka_unit_test(times_out_of_reach_are_none),
		scratch_test(foreign_lines_are_skipped_and_counted),
		scratch_test(a_line_has_a_limit_on_both_sides),
		scratch_test(a_key_without_representation_is_refused),
		scratch_test(a_limit_cuts_a_line_and_kills_nobody),
		scratch_test(every_cut_loses_the_cut_line_alone),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
