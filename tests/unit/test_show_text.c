/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "cmd/show_bar.h"
#include "cmd/show_names.h"
#include "cmd/show_text.h"
#include "cmd/show_words.h"
#include "tests/unit/read_sample.h"

#include <locale.h>

static const struct terminal ascii = { .width = 80 };
static const struct terminal utf8 = { .width = 80, .utf8 = true };

static void expect_cells(const struct terminal *terminal, const char *text, size_t cells,
			 const char *expected, size_t used)
{
	struct lens_text out = LENS_TEXT_INIT;

	assert_int_equal(terminal_add(&out, terminal, text, cells), used);
	lens_text_add(&out, "", 0);
	out.data[out.length] = '\0';
	assert_string_equal(out.data, expected);
	lens_text_clear(&out);
}

/* Nothing that a terminal would act on; widths in cells; cut on a character. */
static void test_text_is_harmless(void **state)
{
	(void)state;
	expect_cells(&utf8, "plain", 10, "plain", 5);
	expect_cells(&utf8, "plain", 5, "plain", 5);
	expect_cells(&utf8, "plain", 4, "pla\xe2\x80\xa6", 4);
	expect_cells(&ascii, "plain", 4, "pla~", 4);
	expect_cells(&utf8, "plain", 1, "\xe2\x80\xa6", 1);
	expect_cells(&utf8, "plain", 0, "", 0);
	expect_cells(&utf8, "\x1b[31m\a\n\x7f", 40, "\\x1B[31m\\x07\\x0A\\x7F", 20);
	expect_cells(&utf8,
		     "a\xc2\x9b"
		     "b",
		     40, "a\\x9Bb", 6); /* C1's own CSI */
	expect_cells(&utf8,
		     "a\xe2\x80\xae"
		     "b",
		     40, "a\\u202Eb", 8); /* writes from right to left */
	expect_cells(&utf8, "a\xf3\xa0\x80\x81", 40, "a\\U0E0001", 9);
	expect_cells(&utf8, "bad\xff", 40, "bad\xef\xbf\xbd", 4);
	/* Two cells each; half of one does not fit. */
	expect_cells(&utf8, "\xe6\xbc\xa2\xe5\xad\x97", 4, "\xe6\xbc\xa2\xe5\xad\x97", 4);
	expect_cells(&utf8, "\xe6\xbc\xa2\xe5\xad\x97", 3, "\xe6\xbc\xa2\xe2\x80\xa6", 3);
	expect_cells(&ascii, "caf\xc3\xa9", 40, "caf?", 4);
	/* A sign above the letter takes no cell of its own. */
	expect_cells(&utf8, "e\xcc\x81", 40, "e\xcc\x81", 1);
}

static void expect_bar(const struct terminal *terminal, uint64_t start, uint64_t end, bool instant,
		       bool cut, const char *expected)
{
	const struct show_axis axis = { .start_ns = 1000, .end_ns = 2000, .cells = 10 };
	struct lens_text out = LENS_TEXT_INIT;

	show_bar_add(&out, terminal, &axis, start, end, SHOW_BAR_FULL, instant, cut);
	assert_string_equal(out.data, expected);
	lens_text_clear(&out);
}

static void test_bars(void **state)
{
	const struct show_axis point = { .start_ns = 5, .end_ns = 5, .cells = 3 };
	struct lens_text out = LENS_TEXT_INIT;

	(void)state;
	expect_bar(&ascii, 1000, 2000, false, false, "==========");
	expect_bar(&ascii, 1000, 1500, false, false, "=====     ");
	expect_bar(&ascii, 1500, 2000, false, false, "     =====");
	expect_bar(&ascii, 1500, 1500, false, false, "     |    ");
	expect_bar(&ascii, 2000, 2000, false, false, "         |");
	expect_bar(&ascii, 1500, 1500, true, false, "     +    ");
	expect_bar(&ascii, 1000, 1500, false, true, "====~     ");
	/* Beyond the axis: hostile, or a child that outlives the attempt. */
	expect_bar(&ascii, 0, UINT64_MAX, false, false, "==========");
	expect_bar(&ascii, 5000, 6000, false, false, "         |");
	/* Halves of cells, at the left, at the right. */
	expect_bar(&utf8, 1050, 1250, false, false, "\xe2\x96\x90\xe2\x96\x88\xe2\x96\x8c       ");
	show_bar_add(&out, &ascii, &point, 5, 5, SHOW_BAR_FULL, false, false);
	assert_string_equal(out.data, "|  ");
	lens_text_clear(&out);
}

static void test_durations(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0 s" },
		{ 999, "999 ns" },
		{ 1000, "1 us" },
		{ 999999999, "999 ms" },
		{ 1000000000, "1.00 s" },
		{ 9999999999, "9.99 s" },
		{ 59999999999, "59.9 s" },
		{ 60000000000, "1 min 00 s" },
		{ 3599000000000, "59 min 59 s" },
		{ 3600000000000, "1 h 00 min" },
		{ 86400000000000, "1 d 00 h" },
		{ UINT64_MAX, "213503 d 23 h" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_text out = LENS_TEXT_INIT;

		show_duration_add(&out, cases[i].ns);
		assert_string_equal(out.data, cases[i].text);
		lens_text_clear(&out);
	}
}

/* NO_COLOR, a dumb terminal, and no terminal at all have no colour; ALWAYS has. */
static void test_terminal_is_found(void **state)
{
	struct terminal terminal;

	(void)state;
	setenv("COLUMNS", "66", 1);
	setenv("TERM", "xterm", 1);
	terminal_find(&terminal, TERMINAL_AUTO, 0);
	assert_int_equal(terminal.width, 66);
	assert_true(terminal.utf8);
	if (!terminal.is_tty)
		assert_false(terminal.color);
	terminal_find(&terminal, TERMINAL_ALWAYS, 7);
	assert_int_equal(terminal.width, 40);
	assert_true(terminal.color);
	terminal_find(&terminal, TERMINAL_NEVER, 5000);
	assert_int_equal(terminal.width, 1000);
	assert_false(terminal.color);
	setenv("NO_COLOR", "1", 1);
	terminal_find(&terminal, TERMINAL_AUTO, 0);
	assert_false(terminal.color);
	unsetenv("NO_COLOR");
	setenv("COLUMNS", "many", 1);
	setlocale(LC_CTYPE, "C");
	terminal_find(&terminal, TERMINAL_AUTO, 90);
	assert_int_equal(terminal.width, 90);
	assert_false(terminal.utf8);
	setlocale(LC_CTYPE, "C.UTF-8");
}

/* No line is wider than the terminal, whatever the widths and the names. */
static void test_lines_fit(void **state)
{
	struct lens_kept *kept = lens_kept_create();
	const struct show_limits limits = { 0 };
	struct show_picture *picture;

	(void)state;
	sample_add(kept,
		   sample_line(1, 0, "slurm.job_attempt", 0, 9, SAMPLE_INT("slurm.attempt", "0"),
			       "", SAMPLE_STRING("slurm.job.id", "36")));
	for (unsigned int i = 2; i < 40; i++)
		sample_add(kept,
			   sample_line(i, i - 1,
				       "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97 long name "
				       "\\u001b[31m of a span that goes on and on",
				       1, 2, "",
				       ",\"status\":{\"code\":2,\"message\":"
				       "\"a message that is long as well\"}",
				       ""));
	picture = show_picture_create(kept, true);
	for (size_t width = 40; width < 140; width++) {
		for (int color = 0; color < 2; color++) {
			struct terminal terminal = { .width = width, .utf8 = true };
			struct lens_text out = LENS_TEXT_INIT;

			show_text_add(&out, &terminal, picture, &limits);
			for (char *line = strtok(out.data, "\n"); line != NULL;
			     line = strtok(NULL, "\n"))
				assert_true(terminal_cells(&terminal, line) <= width);
			lens_text_clear(&out);
		}
	}
	show_picture_destroy(picture);
	lens_kept_destroy(kept);
}

static void test_names(void **state)
{
	static const struct {
		const char *name, *base;
		bool match;
	} cases[] = {
		{ "traces.jsonl", "traces.jsonl", true },
		{ "traces.jsonl.1", "traces.jsonl", true },
		{ "traces.jsonl.12.gz", "traces.jsonl", true },
		{ "traces.jsonl-20261130", "traces.jsonl", true },
		{ "traces-2026-11-30T10-00-00.000.jsonl", "traces.jsonl", true },
		{ "traces-2026-11-30T10-00-00.000.jsonl.gz", "traces.jsonl", true },
		{ "traces.jsonl.bak", "traces.jsonl", false },
		{ "traces.jsonl.", "traces.jsonl", false },
		{ "other.jsonl", "traces.jsonl", false },
		{ "traces-old.jsonl", "traces.jsonl", false },
		{ "traces.json", "traces.jsonl", false },
		{ "traces.jsonl", "traces.jsonl.1", false },
		{ "traces", "traces", true },
		{ "traces.1", "traces", true },
		{ "any.jsonl", NULL, true },
		{ "any.jsonl.3", NULL, true },
		{ "any.jsonl.3.gz", NULL, true },
		{ ".jsonl", NULL, false },
		{ "any.json", NULL, false },
		{ "any.txt", NULL, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (show_names_match(cases[i].name, cases[i].base) != cases[i].match)
			fail_msg("%s, %s", cases[i].name, cases[i].base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_is_harmless), cmocka_unit_test(test_bars),
		cmocka_unit_test(test_durations),        cmocka_unit_test(test_terminal_is_found),
		cmocka_unit_test(test_lines_fit),        cmocka_unit_test(test_names),
	};

	if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
		return 99;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
