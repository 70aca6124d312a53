/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/text.h"
#include "lib/otlp/exporter.h"
#include "lib/otlp/json.h"
#include "tests/unit/otlp_sample.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

struct place {
	char directory[64];
	char file[96];
	struct lens_text line; /* what one batch is */
};

static int setup(void **state)
{
	struct place *place = calloc(1, sizeof(*place));
	struct lens_batch *batch = sample_small();

	snprintf(place->directory, sizeof(place->directory), "/tmp/lens-file-XXXXXX");
	assert_non_null(mkdtemp(place->directory));
	snprintf(place->file, sizeof(place->file), "%s/out/traces.jsonl", place->directory);
	assert_int_equal(lens_json_encode(batch, &place->line), 0);
	lens_batch_destroy(batch);
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;
	char *const arguments[] = { "rm", "-rf", place->directory, NULL };
	pid_t pid = fork();

	if (pid == 0) {
		execvp(arguments[0], arguments);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	lens_text_clear(&place->line);
	free(place);
	return 0;
}

static struct lens_export_result export_to(const char *file, uint64_t max_bytes, unsigned int keep)
{
	const struct lens_exporter_settings settings = {
		.kind = LENS_EXPORTER_FILE,
		.file = file,
		.file_make_directory = true,
		.file_max_bytes = max_bytes,
		.file_keep = keep,
	};
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_exporter *exporter = lens_exporter_create(&settings, &err);
	struct lens_batch *batch = sample_small();
	struct lens_export_result result;

	if (!exporter)
		fail_msg("%s", err.text);
	lens_exporter_export(exporter, batch, &result);
	lens_exporter_destroy(exporter);
	lens_batch_destroy(batch);
	return result;
}

static void export_done(const char *file, uint64_t max_bytes, unsigned int keep)
{
	struct lens_export_result result = export_to(file, max_bytes, keep);

	assert_string_equal(result.message, "");
	assert_int_equal(result.verdict, LENS_VERDICT_DONE);
	assert_int_equal(result.rejected, 0);
}

/* FILE holds EXPECTED and nothing else. */
static void check_content(const char *file, const char *expected)
{
	char bytes[8192];
	int fd = open(file, O_RDONLY);
	ssize_t length;

	if (fd < 0)
		fail_msg("%s: %s", file, strerror(errno));
	length = read(fd, bytes, sizeof(bytes) - 1);
	assert_true(length >= 0);
	close(fd);
	bytes[length] = '\0';
	assert_string_equal(bytes, expected);
}

static void check_lines(const struct place *place, const char *suffix, size_t count)
{
	struct lens_text expected = LENS_TEXT_INIT;
	char file[128];

	snprintf(file, sizeof(file), "%s%s", place->file, suffix);
	for (size_t i = 0; i < count; i++)
		lens_text_add(&expected, place->line.data, place->line.length);
	check_content(file, expected.data);
	lens_text_clear(&expected);
}

static void write_file(const char *file, const char *content)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	close(fd);
}

static void test_file_and_directory_are_made(void **state)
{
	struct place *place = *state;
	struct stat status;
	char directory[80];
	mode_t mask = umask(022);

	export_done(place->file, 0, 0);
	export_done(place->file, 0, 0);
	umask(mask);
	check_lines(place, "", 2);
	assert_int_equal(stat(place->file, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0640);
	snprintf(directory, sizeof(directory), "%s/out", place->directory);
	assert_int_equal(stat(directory, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0755);
}

/* Only the last directory is made: a mistyped path shall not grow a tree. */
static void test_parents_are_not_made(void **state)
{
	struct place *place = *state;
	struct lens_export_result result;
	char file[128];

	snprintf(file, sizeof(file), "%s/a/b/traces.jsonl", place->directory);
	result = export_to(file, 0, 0);
	assert_int_equal(result.verdict, LENS_VERDICT_RETRY);
	assert_non_null(strstr(result.message, file));
	assert_non_null(strstr(result.message, strerror(ENOENT)));
}

static void test_rotation_keeps_lines_whole(void **state)
{
	struct place *place = *state;
	const uint64_t two_lines = 2 * place->line.length;
	char file[128];

	for (int i = 0; i < 9; i++)
		export_done(place->file, two_lines, 3);
	check_lines(place, "", 1);
	check_lines(place, ".1", 2);
	check_lines(place, ".2", 2);
	check_lines(place, ".3", 2);
	snprintf(file, sizeof(file), "%s.4", place->file);
	assert_int_equal(access(file, F_OK), -1);
}

/* A line larger than the limit gets a file of its own. */
static void test_large_line_is_not_split(void **state)
{
	struct place *place = *state;

	export_done(place->file, 10, 2);
	export_done(place->file, 10, 2);
	check_lines(place, "", 1);
	check_lines(place, ".1", 1);
}

static void test_torn_line_is_closed_first(void **state)
{
	struct place *place = *state;
	struct lens_text expected = LENS_TEXT_INIT;

	export_done(place->file, 0, 0);
	write_file(place->file, "{\"resourceSp");
	export_done(place->file, 0, 0);
	lens_text_addf(&expected, "{\"resourceSp\n%s", place->line.data);
	check_content(place->file, expected.data);
	lens_text_clear(&expected);
}

/* A disk that fills up in the middle of a line: the part is taken back, the batch kept. */
static void test_short_write_is_taken_back(void **state)
{
	struct place *place = *state;
	struct rlimit before, small;
	struct lens_export_result result;
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);

	export_done(place->file, 0, 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = place->line.length + 10;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	result = export_to(place->file, 0, 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, handler);
	assert_int_equal(result.verdict, LENS_VERDICT_RETRY);
	assert_non_null(strstr(result.message, place->file));
	assert_non_null(strstr(result.message, strerror(ENOSPC)));
	check_lines(place, "", 1);
	export_done(place->file, 0, 0);
	check_lines(place, "", 2);
}

static void refused(const char *file, const char *said)
{
	struct lens_export_result result = export_to(file, 0, 0);

	assert_int_equal(result.verdict, LENS_VERDICT_RETRY);
	if (!strstr(result.message, said))
		fail_msg("said `%s`", result.message);
}

static void test_only_regular_files_are_written(void **state)
{
	struct place *place = *state;
	char target[80], name[96];

	snprintf(target, sizeof(target), "%s/target", place->directory);
	snprintf(name, sizeof(name), "%s/name", place->directory);
	write_file(target, "mine");
	assert_int_equal(symlink(target, name), 0);
	refused(name, "symbolic link");
	check_content(target, "mine");
	assert_int_equal(unlink(name), 0);
	assert_int_equal(mkfifo(name, 0600), 0);
	refused(name, "not a regular file");
	assert_int_equal(unlink(name), 0);
	assert_int_equal(mkdir(name, 0700), 0);
	refused(name, strerror(EISDIR));
}

static void test_bad_paths_are_told(void **state)
{
	static const char *const paths[] = { NULL, "",          "traces.jsonl", "./x",
					     "/",  "/var/log/", "/tmp/.",       "/tmp/.." };

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		const struct lens_exporter_settings settings = { .kind = LENS_EXPORTER_FILE,
								 .file = paths[i] };
		struct lens_error err = LENS_ERROR_INIT;

		assert_null(lens_exporter_create(&settings, &err));
		assert_non_null(strstr(err.text, "File"));
	}
}

/* A file that a person names is not put where nothing was. */
static void test_directory_is_made_only_where_that_is_said(void **state)
{
	struct place *place = *state;
	const struct lens_exporter_settings settings = { .kind = LENS_EXPORTER_FILE,
							 .file = place->file };
	struct lens_exporter *exporter = lens_exporter_create(&settings, NULL);
	struct lens_batch *batch = sample_small();
	struct lens_export_result result;

	lens_exporter_export(exporter, batch, &result);
	assert_int_equal(result.verdict, LENS_VERDICT_RETRY);
	assert_non_null(strstr(result.message, "No such file or directory"));
	*strrchr(place->file, '/') = '\0';
	assert_int_equal(access(place->file, F_OK), -1);
	lens_exporter_destroy(exporter);
	lens_batch_destroy(batch);
}

/* What was lost while the spans were made must not count as sent. */
static void test_failed_batch_is_kept(void **state)
{
	struct place *place = *state;
	const struct lens_exporter_settings settings = { .kind = LENS_EXPORTER_FILE,
							 .file = place->file,
							 .file_make_directory = true };
	struct lens_exporter *exporter = lens_exporter_create(&settings, NULL);
	struct lens_batch *batch = sample_small();
	struct lens_export_result result;
	const char *const value = "v";

	lens_attributes_strings(lens_group_resource(lens_batch_add_group(batch)), "k", &value,
				SIZE_MAX / 2);
	lens_exporter_export(exporter, batch, &result);
	assert_int_equal(result.verdict, LENS_VERDICT_RETRY);
	assert_int_equal(access(place->file, F_OK), -1);
	lens_batch_destroy(batch);
	lens_exporter_destroy(exporter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_file_and_directory_are_made, setup, teardown),
		cmocka_unit_test_setup_teardown(test_directory_is_made_only_where_that_is_said,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_parents_are_not_made, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rotation_keeps_lines_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(test_large_line_is_not_split, setup, teardown),
		cmocka_unit_test_setup_teardown(test_torn_line_is_closed_first, setup, teardown),
		cmocka_unit_test_setup_teardown(test_short_write_is_taken_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_only_regular_files_are_written, setup,
						teardown),
		cmocka_unit_test(test_bad_paths_are_told),
		cmocka_unit_test_setup_teardown(test_failed_batch_is_kept, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
