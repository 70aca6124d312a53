/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <cmocka.h>

#include "tests/unit/scratch.h"

static void make_directory(struct scratch *scratch, const char *name, mode_t mode)
{
	const char *path = scratch_path(scratch, name);

	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void own_and_root_paths_are_good(void **state)
{
	struct scratch *scratch = *state;
	struct lens_error err = LENS_ERROR_INIT;

	scratch_write(scratch, "file", "x");
	assert_int_equal(lens_path_check(scratch_path(scratch, "file"), geteuid(), &err), 0);
	assert_int_equal(lens_path_check(scratch_path(scratch, ".//./file"), geteuid(), &err), 0);
	assert_int_equal(lens_path_check("/", geteuid(), &err), 0);
	assert_int_equal(lens_path_check("/..", geteuid(), NULL), 0);
	assert_string_equal(err.text, "");
}

static void relative_missing_and_long_paths_are_refused(void **state)
{
	struct scratch *scratch = *state;
	struct lens_error err = LENS_ERROR_INIT;
	char longest[8192];

	assert_int_equal(lens_path_check("etc/passwd", 0, &err), -1);
	assert_non_null(strstr(err.text, "absolute"));
	assert_int_equal(lens_path_check("", 0, &err), -1);
	assert_int_equal(lens_path_check(scratch_path(scratch, "none"), geteuid(), &err), -1);
	assert_non_null(strstr(err.text, "none: No such file"));
	memset(longest, 'a', sizeof(longest));
	longest[0] = '/';
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(lens_path_check(longest, 0, &err), -1);
}

static void a_parent_that_others_write_is_named(void **state)
{
	struct scratch *scratch = *state;
	struct lens_error err = LENS_ERROR_INIT;

	make_directory(scratch, "open", 0777);
	scratch_write(scratch, "open/file", "x");
	assert_int_equal(lens_path_check(scratch_path(scratch, "open/file"), geteuid(), &err), -1);
	assert_non_null(strstr(err.text, "chmod go-w"));
	assert_non_null(strstr(err.text, "/open "));
	/* Itself it may be as it is: only what is above it decides what it is. */
	assert_int_equal(lens_path_check(scratch_path(scratch, "open"), geteuid(), &err), 0);
	assert_int_equal(chmod(scratch_path(scratch, "open"), 0770), 0);
	assert_int_equal(lens_path_check(scratch_path(scratch, "open/file"), geteuid(), &err), -1);
	assert_int_equal(chmod(scratch_path(scratch, "open"), 01777), 0);
	assert_int_equal(lens_path_check(scratch_path(scratch, "open/file"), geteuid(), &err), 0);
}

static void parents_alone_do_not_need_the_path(void **state)
{
	struct scratch *scratch = *state;
	struct lens_error err = LENS_ERROR_INIT;

	make_directory(scratch, "open", 0777);
	assert_int_equal(lens_path_check_parents(scratch_path(scratch, "none/"), geteuid(), &err),
			 0);
	assert_int_equal(
		lens_path_check_parents(scratch_path(scratch, "open/none"), geteuid(), &err), -1);
	assert_int_equal(lens_path_check_parents(scratch_path(scratch, "no/ne"), geteuid(), &err),
			 -1);
}

/* A link leads well as long as nobody else can turn it. */
static void links_are_followed_and_their_places_checked(void **state)
{
	struct scratch *scratch = *state;
	struct lens_error err = LENS_ERROR_INIT;

	make_directory(scratch, "good", 0755);
	make_directory(scratch, "open", 0777);
	scratch_write(scratch, "good/file", "x");
	scratch_write(scratch, "open/file", "x");
	assert_int_equal(symlink("good/file", scratch_path(scratch, "near")), 0);
	assert_int_equal(symlink("open/file", scratch_path(scratch, "far")), 0);
	assert_int_equal(symlink(scratch_path(scratch, "good"), scratch_path(scratch, "dir")), 0);
	assert_int_equal(symlink("../good/file", scratch_path(scratch, "open/in")), 0);
	assert_int_equal(symlink("loop", scratch_path(scratch, "loop")), 0);

	assert_int_equal(lens_path_check(scratch_path(scratch, "near"), geteuid(), &err), 0);
	assert_int_equal(lens_path_check(scratch_path(scratch, "dir/file"), geteuid(), &err), 0);
	assert_int_equal(
		lens_path_check(scratch_path(scratch, "dir/../good/file"), geteuid(), &err), 0);
	assert_int_equal(lens_path_check(scratch_path(scratch, "far"), geteuid(), &err), -1);
	assert_int_equal(lens_path_check(scratch_path(scratch, "open/in"), geteuid(), &err), -1);
	assert_int_equal(lens_path_check(scratch_path(scratch, "loop"), geteuid(), &err), -1);
	assert_non_null(strstr(err.text, "too many symbolic links"));
}

static void another_owner_is_refused(void **state)
{
	struct scratch *scratch = *state;
	struct lens_error err = LENS_ERROR_INIT;

	if (geteuid() != 0)
		skip();
	scratch_write(scratch, "file", "x");
	assert_int_equal(chown(scratch_path(scratch, "file"), 65534, 65534), 0);
	assert_int_equal(lens_path_check(scratch_path(scratch, "file"), 0, &err), -1);
	assert_non_null(strstr(err.text, "uid 65534"));
	assert_int_equal(lens_path_check(scratch_path(scratch, "file"), 65534, &err), 0);
}

static void a_program_is_a_file_that_only_its_owner_writes(void **state)
{
	struct scratch *scratch = *state;
	struct lens_error err = LENS_ERROR_INIT;
	const char *path = scratch_path(scratch, "program");

	scratch_write(scratch, "program", "#!/bin/sh\n");
	assert_int_equal(lens_path_check_program(path, &err), -1);
	assert_non_null(strstr(err.text, "not executable"));
	assert_int_equal(chmod(path, 0755), 0);
	assert_int_equal(lens_path_check_program(path, &err), 0);
	assert_int_equal(chmod(path, 0775), 0);
	assert_int_equal(lens_path_check_program(path, &err), -1);
	assert_non_null(strstr(err.text, "written by others"));
	assert_int_equal(lens_path_check_program(scratch->path, &err), -1);
	assert_non_null(strstr(err.text, "regular file"));
	assert_int_equal(lens_path_check_program("/bin/sh", &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(own_and_root_paths_are_good),
		scratch_test(relative_missing_and_long_paths_are_refused),
		scratch_test(a_parent_that_others_write_is_named),
		scratch_test(parents_alone_do_not_need_the_path),
		scratch_test(links_are_followed_and_their_places_checked),
		scratch_test(another_owner_is_refused),
		scratch_test(a_program_is_a_file_that_only_its_owner_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
