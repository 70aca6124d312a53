/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/clock.h"
#include "lib/core/statedir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <inttypes.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <cmocka.h>

#include "tests/unit/scratch.h"

/* The file system that a mount of another machine would show; 0: what it really is. */
static unsigned int shown_magic;

int fstatfs(int fd, struct statfs *status)
{
	long result = syscall(SYS_fstatfs, fd, status);

	if (shown_magic != 0)
		status->f_type = (__typeof__(status->f_type))shown_magic;
	return (int)result;
}

static void refused(const char *path, bool create, const char *why)
{
	struct lens_error err = LENS_ERROR_INIT;

	assert_int_equal(lens_statedir_open(path, create, &err), -1);
	if (!strstr(err.text, why))
		fail_msg("%s: \"%s\" does not say \"%s\"", path, err.text, why);
	assert_int_equal(lens_statedir_open(path, create, NULL), -1);
}

static void it_is_made_and_opened_above_stdio(void **state)
{
	struct scratch *scratch = *state;
	const char *path = scratch_path(scratch, "state");
	struct lens_error err = LENS_ERROR_INIT;
	struct stat status;
	mode_t before = umask(0277);
	int fd;

	refused(path, false, "mkdir -m 0700");
	fd = lens_statedir_open(path, true, &err);
	umask(before);
	assert_true(fd > 2);
	assert_int_equal(fstat(fd, &status), 0);
	assert_true(S_ISDIR(status.st_mode));
	assert_int_equal(status.st_mode & 0777, 0700);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	fd = lens_statedir_open(scratch_path(scratch, "state///"), true, &err);
	assert_true(fd > 2);
	close(fd);
}

/* Slurm's prolog has descriptor 0 closed. */
static void closed_stdio_is_not_taken(void **state)
{
	struct scratch *scratch = *state;
	pid_t pid = scratch_fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		int fd;

		close(0);
		close(1);
		close(2);
		fd = lens_statedir_open(scratch_path(scratch, "state"), true, NULL);
		_exit(fd > 2 && fcntl(0, F_GETFD) == -1 && fcntl(1, F_GETFD) == -1 ? 0 : 1);
	}
	assert_int_equal(scratch_wait(pid), 0);
}

static void bad_places_are_refused(void **state)
{
	struct scratch *scratch = *state;

	refused("relative/state", true, "not an absolute path");
	refused("", true, "not an absolute path");
	refused("/", true, "directory of its own");
	refused(scratch_path(scratch, ".."), true, "directory of its own");
	refused(scratch_path(scratch, "a/b"), true, "mkdir -p -m 0755");
	assert_false(scratch_has(scratch, "a"));
	scratch_write(scratch, "file", "x");
	refused(scratch_path(scratch, "file"), true, "Not a directory");
	refused(scratch_path(scratch, "file/state"), true, "Not a directory");
}

static void a_link_is_refused(void **state)
{
	struct scratch *scratch = *state;

	assert_int_equal(mkdir(scratch_path(scratch, "real"), 0700), 0);
	assert_int_equal(symlink("real", scratch_path(scratch, "link")), 0);
	assert_int_equal(symlink("gone", scratch_path(scratch, "dangling")), 0);
	refused(scratch_path(scratch, "link"), true, "symbolic link");
	refused(scratch_path(scratch, "dangling"), true, "symbolic link");
	assert_false(scratch_has(scratch, "gone"));
}

static void what_others_could_reach_is_refused(void **state)
{
	struct scratch *scratch = *state;
	const char *path = scratch_path(scratch, "state");

	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, 0777), 0);
	refused(path, true, "chmod 0700");
	assert_int_equal(chmod(path, 0750), 0);
	refused(path, true, "mode 0750");
	assert_int_equal(mkdir(scratch_path(scratch, "open"), 0700), 0);
	assert_int_equal(chmod(scratch_path(scratch, "open"), 0777), 0);
	refused(scratch_path(scratch, "open/state"), true, "chmod go-w");
	assert_false(scratch_has(scratch, "open/state"));
	assert_int_equal(chmod(scratch_path(scratch, "open"), 01777), 0);
	close(lens_statedir_open(scratch_path(scratch, "open/state"), true, NULL));
	assert_true(scratch_has(scratch, "open/state"));
}

static void another_owner_is_refused(void **state)
{
	struct scratch *scratch = *state;
	const char *path = scratch_path(scratch, "state");

	if (geteuid() != 0)
		skip();
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chown(path, 65534, 65534), 0);
	refused(path, true, "uid 65534");
	assert_int_equal(chown(scratch->path, 65534, 65534), 0);
	refused(path, true, "uid 65534, who could change it");
}

static void network_file_systems_are_refused(void **state)
{
	static const struct {
		unsigned int magic;
		const char *name;
	} types[] = { { 0x6969, "(nfs)" },        { 0xff534d42, "(cifs)" },
		      { 0x0bd00bd0, "(lustre)" }, { 0x47504653, "(gpfs)" },
		      { 0x65735546, "(fuse)" },   { 0x19830326, "(beegfs)" },
		      { 0x00c36400, "(ceph)" } };
	struct scratch *scratch = *state;
	int fd;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		shown_magic = types[i].magic;
		refused(scratch_path(scratch, "state"), true, types[i].name);
	}
	shown_magic = 0x01021994; /* tmpfs is local */
	fd = lens_statedir_open(scratch_path(scratch, "state"), true, NULL);
	shown_magic = 0;
	assert_true(fd > 2);
	close(fd);
}

static void names_go_there_and_back(void **state)
{
	static const struct {
		struct lens_state_name name;
		const char *text;
	} cases[] = {
		{ { LENS_STATE_NOTE, 12345, 7, 0, 0, 0 }, "12345.7" },
		{ { LENS_STATE_NOTE, 0, 0, 0, 0, 0 }, "0.0" },
		{ { LENS_STATE_ENDED, 12345, 7, 2, 0, 0 }, "12345.7.2" },
		{ { LENS_STATE_JOURNAL, 9, 8, 0, 4294967291u, 77 }, "9.4294967291.8.77" },
		{ { LENS_STATE_JOURNAL, UINT32_MAX, UINT32_MAX, 0, UINT32_MAX, UINT32_MAX },
		  "4294967295.4294967295.4294967295.4294967295" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_state_name name;
		char text[LENS_STATE_NAME];

		lens_state_name_format(text, &cases[i].name);
		assert_string_equal(text, cases[i].text);
		assert_int_equal(lens_state_name_parse(&name, text), 0);
		assert_int_equal(name.kind, cases[i].name.kind);
		assert_int_equal(name.job, cases[i].name.job);
		assert_int_equal(name.node, cases[i].name.node);
		assert_int_equal(name.attempt, cases[i].name.attempt);
		assert_int_equal(name.step, cases[i].name.step);
		assert_int_equal(name.pid, cases[i].name.pid);
	}
}

static void other_names_are_none(void **state)
{
	static const char *const bad[] = {
		"",          ".",          "..",    "1",     "1.",           ".1",
		"1..2",      "1.2.",       "01.2",  "1.02",  "+1.2",         "1.-2",
		"1.2.3.4.5", "1.2.3.4.",   "1.a",   "1.2/3", "4294967296.1", "1.42949672950",
		"tmp.1.2",   "agent.lock", "1.2\n", " 1.2",  "1.2.3.0x4",    "../1.2",
	};
	struct lens_state_name name = { .job = 42 };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (lens_state_name_parse(&name, bad[i]) != -1)
			fail_msg("\"%s\" was taken for a name", bad[i]);
	assert_int_equal(name.job, 42);
}

/* Replaces the count that was kept. */
static void keep_count(const struct scratch *scratch, uint64_t bytes, int64_t at, uint64_t took)
{
	char text[128];

	snprintf(text, sizeof(text),
		 "v=1,t=%" PRId64 ",m=1,e=size,bytes=%" PRIu64 ",took=%" PRIu64 "\n", at, bytes,
		 took);
	scratch_write(scratch, "spool.size", text);
}

static void a_count_holds_a_hundred_times_as_long_as_it_took(void **state)
{
	static const char *const damaged[] = { "", "\n", "bytes=77,took=1000000000\n", "e=size\n" };
	struct scratch *scratch = *state;
	const uint64_t second = 1000000000;
	int directory = open(scratch->path, O_RDONLY | O_DIRECTORY);
	uint64_t bytes, real;
	int64_t now;

	scratch_write(scratch, "1.2", "a note");
	assert_int_equal(lens_statedir_size(directory, &real), 0);
	assert_int_equal(lens_statedir_size_recent(directory, &bytes), 0);
	assert_true(bytes == real);
	assert_int_equal(access(scratch_path(scratch, "spool.size"), F_OK), 0);
	now = lens_clock_ns(CLOCK_REALTIME);
	keep_count(scratch, 77, now - 90 * (int64_t)second, second);
	assert_int_equal(lens_statedir_size_recent(directory, &bytes), 0);
	assert_true(bytes == 77);
	/* An old one, and one of a clock that was set back since. */
	keep_count(scratch, 77, now - 101 * (int64_t)second, second);
	assert_int_equal(lens_statedir_size_recent(directory, &bytes), 0);
	assert_true(bytes == real);
	keep_count(scratch, 77, now + 3600 * (int64_t)second, second);
	assert_int_equal(lens_statedir_size_recent(directory, &bytes), 0);
	assert_true(bytes == real);
	for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
		scratch_write(scratch, "spool.size", damaged[i]);
		assert_int_equal(lens_statedir_size_recent(directory, &bytes), 0);
		assert_true(bytes == real);
	}
	close(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(it_is_made_and_opened_above_stdio),
		scratch_test(closed_stdio_is_not_taken),
		scratch_test(bad_places_are_refused),
		scratch_test(a_link_is_refused),
		scratch_test(what_others_could_reach_is_refused),
		scratch_test(another_owner_is_refused),
		scratch_test(network_file_systems_are_refused),
		cmocka_unit_test(names_go_there_and_back),
		cmocka_unit_test(other_names_are_none),
		scratch_test(a_count_holds_a_hundred_times_as_long_as_it_took),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
