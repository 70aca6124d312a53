/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/options.h"

#include <stdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static int set(struct lens_options *options, const char *name, const char *value)
{
	return lens_options_set(options, name, value, NULL);
}

/* NAME=VALUE is refused with exactly TEXT, and nothing changes. */
static void refused(const char *name, const char *value, const char *text)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_options options;

	lens_options_init(&options);
	options.strategy = (struct lens_strategy_choice){ LENS_STRATEGY_SAMPLED, 5, 0.5 };
	assert_int_equal(lens_options_set(&options, name, value, &err), -1);
	assert_string_equal(err.text, text);
	assert_int_equal(options.lens, LENS_OPTION_UNSET);
	assert_false(options.any || options.strategy_set || options.rank_set || options.rate_set);
	assert_null(options.run_id);
	assert_int_equal(options.strategy.strategy, LENS_STRATEGY_SAMPLED);
	assert_int_equal(options.strategy.rank, 5);
	assert_true(options.strategy.rate == 0.5);
	lens_options_clear(&options);
}

static void a_flag_without_value_is_on(void **state)
{
	static const char *const on[] = { NULL, "", "(null)", "on", "ON", "1", "true", "yes" };
	static const char *const off[] = { "off", "Off", "0", "false", "no" };
	struct lens_options options;

	(void)state;
	lens_options_init(&options);
	for (size_t i = 0; i < sizeof(on) / sizeof(on[0]); i++) {
		options.lens = LENS_OPTION_UNSET;
		assert_int_equal(set(&options, "lens", on[i]), 0);
		assert_int_equal(options.lens, LENS_OPTION_ON);
	}
	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		options.lens = LENS_OPTION_UNSET;
		assert_int_equal(set(&options, "lens", off[i]), 0);
		assert_int_equal(options.lens, LENS_OPTION_OFF);
	}
	assert_false(options.any);
	lens_options_clear(&options);
}

static void values_are_kept_and_the_last_wins(void **state)
{
	struct lens_options options;
	char id[256];

	(void)state;
	lens_options_init(&options);
	assert_int_equal(set(&options, "lens-run-id", "exp 1/\xc3\xa9"), 0);
	assert_true(options.any);
	assert_int_equal(options.lens, LENS_OPTION_UNSET);
	assert_string_equal(options.run_id, "exp 1/\xc3\xa9");
	memset(id, 'x', 255);
	id[255] = '\0';
	assert_int_equal(set(&options, "lens-run-id", id), 0);
	assert_string_equal(options.run_id, id);
	assert_int_equal(set(&options, "lens-run-id", "bad\n"), -1);
	assert_string_equal(options.run_id, id);

	assert_int_equal(set(&options, "lens-strategy", "sampled"), 0);
	assert_int_equal(set(&options, "lens-strategy", "all_ranks"), 0);
	assert_int_equal(options.strategy.strategy, LENS_STRATEGY_ALL_RANKS);
	assert_int_equal(set(&options, "lens-rank", "-1"), 0);
	assert_int_equal(set(&options, "lens-rank", "17"), 0);
	assert_int_equal(options.strategy.rank, 17);
	assert_int_equal(set(&options, "lens-sample-rate", "0.25"), 0);
	assert_true(options.strategy.rate == 0.25);
	assert_true(options.strategy_set && options.rank_set && options.rate_set);
	lens_options_clear(&options);
	assert_null(options.run_id);
	assert_false(options.any);
}

static void errors_say_what_the_option_takes(void **state)
{
	static const char rate[] = "not a rate from 0.0 to 1.0 (use a decimal point)";
	static const char *const rates[] = { "1.5", "-0.1", "nan", "0,5", " 0.5", "inf" };
	char expected[256];

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		snprintf(expected, sizeof(expected), "--lens-sample-rate=%s: %s", rates[i], rate);
		refused("lens-sample-rate", rates[i], expected);
	}
	refused("lens-sample-rate", "", "--lens-sample-rate needs a value: --lens-sample-rate=...");
	refused("lens-run-id", NULL, "--lens-run-id needs a value: --lens-run-id=...");
	refused("lens", "maybe", "--lens=maybe: not on or off");
	refused("lens-strategy", "First_Rank",
		"--lens-strategy=First_Rank: not one of single_rank, all_ranks, sampled or "
		"first_rank_per_node");
	refused("lens-rank", "-2", "--lens-rank=-2: not a rank: 0 or more, or -1 for the last");
	refused("lens-rank", "1e3", "--lens-rank=1e3: not a rank: 0 or more, or -1 for the last");
	refused("lens-run-id", "a\x1b]0;x\a",
		"--lens-run-id=a\\x1B]0;x\\x07: not 1 to 255 bytes of UTF-8 without control "
		"characters");
	refused("lens-run-id", "\xff\xfe",
		"--lens-run-id=\xef\xbf\xbd\xef\xbf\xbd: not 1 to 255 bytes of UTF-8 without "
		"control characters");
	refused("lens-x", "1", "--lens-x is no option of lens");
}

static void a_long_value_is_cut_in_the_message(void **state)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_options options;
	char id[100000];

	(void)state;
	memset(id, 'x', sizeof(id) - 1);
	id[sizeof(id) - 1] = '\0';
	lens_options_init(&options);
	assert_int_equal(lens_options_set(&options, "lens-run-id", id, &err), -1);
	assert_non_null(strstr(err.text, "xxx...: not 1 to 255 bytes"));
	id[256] = '\0';
	assert_int_equal(lens_options_set(&options, "lens-run-id", id, &err), -1);
	id[255] = '\0';
	assert_int_equal(lens_options_set(&options, "lens-run-id", id, &err), 0);
	lens_options_clear(&options);
}

static void every_option_that_is_text_is_kept(void **state)
{
	struct lens_options options;

	(void)state;
	lens_options_init(&options);
	assert_int_equal(set(&options, "lens-user", "team \xc3\xa9"), 0);
	assert_int_equal(set(&options, "lens-service", "trainer"), 0);
	assert_int_equal(set(&options, "lens-span-groups", "default,step"), 0);
	assert_int_equal(set(&options, "lens-attr", "a=1,b=x%20y"), 0);
	assert_int_equal(set(&options, "lens-endpoint", "http://[::1]:4318"), 0);
	assert_int_equal(set(&options, "lens-endpoint", "https://h"), 0);
	assert_string_equal(options.user, "team \xc3\xa9");
	assert_string_equal(options.service, "trainer");
	assert_string_equal(options.span_groups, "default,step");
	assert_string_equal(options.attributes, "a=1,b=x%20y");
	assert_string_equal(options.endpoint, "https://h");
	assert_true(options.any);
	lens_options_clear(&options);
	assert_null(options.endpoint);
}

static void what_a_task_and_an_outer_trace_are(void **state)
{
	struct lens_options options;

	(void)state;
	lens_options_init(&options);
	assert_int_equal(set(&options, "lens-ranks", "Launcher"), 0);
	assert_int_equal(options.ranks, LENS_RANKS_LAUNCHER);
	assert_true(options.ranks_set && !options.outer_set && options.any);
	assert_int_equal(set(&options, "lens-traceparent", "off"), 0);
	assert_int_equal(options.outer, LENS_OUTER_OFF);
	assert_true(options.outer_set);
	lens_options_clear(&options);
	assert_false(options.ranks_set || options.outer_set);
}

static void errors_of_the_options_that_are_text(void **state)
{
	static const char attributes[] =
		"not a list key=value,key=value with values percent-encoded";
	static const char groups[] =
		"not names of letters, digits, `_`, `.` and `-`, joined by commas";
	char expected[256];

	(void)state;
	snprintf(expected, sizeof(expected), "--lens-attr=team: %s", attributes);
	refused("lens-attr", "team", expected);
	snprintf(expected, sizeof(expected), "--lens-span-groups=a;b: %s", groups);
	refused("lens-span-groups", "a;b", expected);
	refused("lens-user", "a\tb",
		"--lens-user=a\\x09b: not 1 to 255 bytes of UTF-8 without control characters");
	refused("lens-service", NULL, "--lens-service needs a value: --lens-service=...");
	refused("lens-ranks", "rank", "--lens-ranks=rank: not auto, task or launcher");
	refused("lens-traceparent", "on", "--lens-traceparent=on: not link, parent or off");
	/* It may hold a password: it is not repeated. */
	refused("lens-endpoint", "u:secret@h",
		"--lens-endpoint: its value is not a URL that begins with http:// or https:// and "
		"names a host (an IPv6 address in brackets)");
}

/* `sbatch --help` prints a help text as it is. */
static void every_option_has_a_help_line(void **state)
{
	(void)state;
	assert_true(lens_option_count >= 5);
	for (size_t i = 0; i < lens_option_count; i++) {
		const struct lens_option_spec *spec = &lens_option_specs[i];
		struct lens_options options;
		struct lens_error err = LENS_ERROR_INIT;

		assert_true(strlen(spec->help) > 10 && strlen(spec->help) < 90);
		assert_null(strpbrk(spec->help, "\n\t"));
		lens_options_init(&options);
		lens_options_set(&options, spec->name, "?", &err);
		assert_null(strstr(err.text, "no option"));
		lens_options_clear(&options);
	}
	assert_true(lens_option_specs[0].argument_optional);
	assert_non_null(strstr(lens_option_specs[0].help, "--lens=off"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flag_without_value_is_on),
		cmocka_unit_test(values_are_kept_and_the_last_wins),
		cmocka_unit_test(errors_say_what_the_option_takes),
		cmocka_unit_test(a_long_value_is_cut_in_the_message),
		cmocka_unit_test(every_option_that_is_text_is_kept),
		cmocka_unit_test(what_a_task_and_an_outer_trace_are),
		cmocka_unit_test(errors_of_the_options_that_are_text),
		cmocka_unit_test(every_option_has_a_help_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
