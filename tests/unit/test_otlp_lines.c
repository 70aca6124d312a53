/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "lib/core/text.h"
#include "lib/otlp/lines.h"
#include "lib/otlp/read.h"
#include "tests/unit/scratch.h"

#include <zlib.h>

static struct lens_lines *lines_open(const struct scratch *scratch, const char *name, off_t offset)
{
	int fd = open(scratch_path(scratch, name), O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(lseek(fd, offset, SEEK_SET), offset);
	return lens_lines_open(fd);
}

/* All lines from OFFSET on: `>` before each, `<` behind a whole one. The caller frees. */
static char *lines_text(const struct scratch *scratch, const char *name, off_t offset,
			uint64_t *end)
{
	struct lens_lines *lines = lines_open(scratch, name, offset);
	struct lens_text text = LENS_TEXT_INIT;
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_line line;
	int rc;

	assert_non_null(lines);
	while ((rc = lens_lines_next(lines, &line, &err)) == 1) {
		assert_int_equal(line.bytes[line.length], 0);
		lens_text_adds(&text, ">");
		lens_text_add(&text, line.bytes, line.length);
		lens_text_adds(&text, line.whole ? "<" : "");
	}
	assert_int_equal(rc, 0);
	*end = lens_lines_offset(lines);
	lens_lines_close(lines);
	return lens_text_take(&text);
}

static void test_lines(void **state)
{
	struct scratch *scratch = *state;
	static const struct {
		const char *file, *lines;
		off_t offset;
	} cases[] = {
		{ "", "", 0 },
		{ "a", ">a", 0 },
		{ "a\n", ">a<", 0 },
		{ "\n\nb", "><><>b", 0 },
		{ "a\nbc\r\nd", ">bc\r<>d", 2 },
	};
	uint64_t end;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text;

		scratch_write(scratch, "f", cases[i].file);
		text = lines_text(scratch, "f", cases[i].offset, &end);
		assert_string_equal(text, cases[i].lines);
		assert_int_equal(end, strlen(cases[i].file) - (size_t)cases[i].offset);
		free(text);
	}
}

static size_t length_of(size_t number)
{
	return number * (128 << 10) + 3 - number % 7;
}

/* Lines of all lengths around the size of what is read at once. */
static void test_long_lines(void **state)
{
	struct scratch *scratch = *state;
	FILE *file = fopen(scratch_path(scratch, "f"), "w");
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_lines *lines;
	struct lens_line line;

	assert_non_null(file);
	for (size_t i = 0; i < 12; i++)
		fprintf(file, "%*s\n", (int)length_of(i), "");
	fclose(file);
	lines = lines_open(scratch, "f", 0);
	for (size_t i = 0; i < 12; i++) {
		assert_int_equal(lens_lines_next(lines, &line, &err), 1);
		assert_int_equal(line.length, length_of(i));
		assert_true(line.whole);
	}
	assert_int_equal(lens_lines_next(lines, &line, &err), 0);
	lens_lines_close(lines);
}

/* A line beyond what is read is passed over without being held, the next one is there. */
static void test_too_long_a_line(void **state)
{
	struct scratch *scratch = *state;
	FILE *file = fopen(scratch_path(scratch, "f"), "w");
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_lines *lines;
	struct lens_line line;

	assert_non_null(file);
	assert_int_equal(fseek(file, (long)LENS_READ_LINE_MAX + (40 << 20), SEEK_SET), 0);
	fputs("\nnext\n", file);
	fclose(file);
	lines = lines_open(scratch, "f", 0);
	assert_int_equal(lens_lines_next(lines, &line, &err), 1);
	assert_true(line.too_long);
	assert_int_equal(line.length, 0);
	assert_int_equal(lens_lines_next(lines, &line, &err), 1);
	assert_false(line.too_long);
	assert_string_equal(line.bytes, "next");
	assert_int_equal(lens_lines_offset(lines), LENS_READ_LINE_MAX + (40 << 20) + 6);
	lens_lines_close(lines);
}

static void test_packed(void **state)
{
	struct scratch *scratch = *state;
	gzFile packed = gzopen(scratch_path(scratch, "f"), "wb");
	uint64_t end;
	char *text, bytes[32];
	size_t length;
	FILE *file;

	assert_non_null(packed);
	gzputs(packed, "one\ntwo\n");
	gzclose(packed);
	text = lines_text(scratch, "f", 0, &end);
	assert_string_equal(text, ">one<>two<");
	free(text);

	/* Cut: that is told as a line that is not whole. */
	file = fopen(scratch_path(scratch, "f"), "r+");
	length = fread(bytes, 1, 16, file);
	assert_int_equal(length, 16);
	assert_int_equal(ftruncate(fileno(file), 14), 0);
	fclose(file);
	text = lines_text(scratch, "f", 0, &end);
	assert_int_not_equal(text[strlen(text) - 1], '<');
	free(text);
	lens_lines_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(test_lines),
		scratch_test(test_long_lines),
		scratch_test(test_too_long_a_line),
		scratch_test(test_packed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
