/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/secret.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/scratch.h"

#define WORD "hunter2-of-the-collector"

static int setup(void **state)
{
	struct scratch *scratch;

	if (scratch_setup(state) != 0)
		return -1;
	scratch = *state;
	scratch_write(scratch, "secret", WORD);
	return chmod(scratch_path(scratch, "secret"), 0600);
}

static void refused(struct scratch *scratch, const char *name, bool private_file, const char *word)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_secret secret;

	assert_int_equal(lens_secret_read(&secret, scratch_path(scratch, name), private_file, &err),
			 -1);
	assert_non_null(strstr(err.text, word));
	assert_non_null(strstr(err.text, name));
	assert_null(strstr(err.text, WORD));
	lens_secret_clear(&secret);
}

static void a_file_of_ones_own_is_read(void **state)
{
	struct scratch *scratch = *state;
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_secret secret;

	assert_int_equal(lens_secret_read(&secret, scratch_path(scratch, "secret"), true, &err), 0);
	assert_int_equal(secret.length, strlen(WORD));
	assert_memory_equal(secret.bytes, WORD, secret.length);
	lens_secret_clear(&secret);
	assert_null(secret.bytes);
}

/* A user's own file, whoever may read it and by whatever name; no FIFO that nobody writes to. */
static void a_users_file_is_loaded_as_it_is(void **state)
{
	struct scratch *scratch = *state;
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_secret secret;

	assert_int_equal(chmod(scratch_path(scratch, "secret"), 0666), 0);
	assert_int_equal(symlink("secret", scratch_path(scratch, "link")), 0);
	assert_int_equal(lens_secret_load(&secret, scratch_path(scratch, "link"), &err), 0);
	assert_int_equal(secret.length, strlen(WORD));
	assert_memory_equal(secret.bytes, WORD, secret.length);
	lens_secret_clear(&secret);
	assert_int_equal(mkfifo(scratch_path(scratch, "fifo"), 0600), 0);
	assert_int_equal(lens_secret_load(&secret, scratch_path(scratch, "fifo"), &err), -1);
	assert_non_null(strstr(err.text, "not a regular file"));
	assert_int_equal(lens_secret_load(&secret, scratch->path, &err), -1);
	assert_int_equal(lens_secret_load(&secret, scratch_path(scratch, "none"), &err), -1);
	assert_non_null(strstr(err.text, "No such file"));
	assert_int_equal(truncate(scratch_path(scratch, "secret"), LENS_SECRET_MAX + 1), 0);
	assert_int_equal(lens_secret_load(&secret, scratch_path(scratch, "secret"), &err), -1);
	assert_non_null(strstr(err.text, "larger"));
	lens_secret_clear(&secret);
}

static void no_path_is_no_secret(void **state)
{
	struct lens_secret secret;

	(void)state;
	assert_int_equal(lens_secret_read(&secret, "", true, NULL), 0);
	assert_int_equal(secret.length, 0);
	assert_null(secret.bytes);
}

static void what_others_may_read_is_no_secret(void **state)
{
	struct scratch *scratch = *state;
	struct lens_secret secret;

	assert_int_equal(chmod(scratch_path(scratch, "secret"), 0640), 0);
	refused(scratch, "secret", true, "chmod 0600");
	assert_int_equal(lens_secret_read(&secret, scratch_path(scratch, "secret"), false, NULL),
			 0);
	lens_secret_clear(&secret);
	assert_int_equal(chmod(scratch_path(scratch, "secret"), 0664), 0);
	refused(scratch, "secret", false, "chmod go-w");
}

static void links_fifos_and_directories_are_refused(void **state)
{
	struct scratch *scratch = *state;

	assert_int_equal(symlinkat("secret", scratch->fd, "link"), 0);
	refused(scratch, "link", true, "symbolic link");
	assert_int_equal(mkfifoat(scratch->fd, "fifo", 0600), 0);
	refused(scratch, "fifo", true, "regular file"); /* and nobody waits for its writer */
	assert_int_equal(mkdirat(scratch->fd, "directory", 0700), 0);
	refused(scratch, "directory", true, "regular file");
	refused(scratch, "missing", true, "No such file");
}

static void a_directory_that_others_may_write_is_refused(void **state)
{
	struct scratch *scratch = *state;
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_secret secret;

	assert_int_equal(fchmod(scratch->fd, 0777), 0);
	assert_int_equal(lens_secret_read(&secret, scratch_path(scratch, "secret"), true, &err),
			 -1);
	assert_non_null(strstr(err.text, "can be written by others"));
}

static void another_owner_is_refused(void **state)
{
	struct scratch *scratch = *state;

	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(scratch_path(scratch, "secret"), 65534, 65534), 0);
	refused(scratch, "secret", true, "chown 0");
}

static void too_large_a_file_is_refused(void **state)
{
	struct scratch *scratch = *state;

	assert_int_equal(truncate(scratch_path(scratch, "secret"), LENS_SECRET_MAX + 1), 0);
	refused(scratch, "secret", true, "larger");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_of_ones_own_is_read, setup,
						scratch_teardown),
		cmocka_unit_test_setup_teardown(a_users_file_is_loaded_as_it_is, setup,
						scratch_teardown),
		cmocka_unit_test_setup_teardown(no_path_is_no_secret, setup, scratch_teardown),
		cmocka_unit_test_setup_teardown(what_others_may_read_is_no_secret, setup,
						scratch_teardown),
		cmocka_unit_test_setup_teardown(links_fifos_and_directories_are_refused, setup,
						scratch_teardown),
		cmocka_unit_test_setup_teardown(a_directory_that_others_may_write_is_refused, setup,
						scratch_teardown),
		cmocka_unit_test_setup_teardown(another_owner_is_refused, setup, scratch_teardown),
		cmocka_unit_test_setup_teardown(too_large_a_file_is_refused, setup,
						scratch_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
