/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/env_diff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/environment.h"

/* The calls as a text: `NAME=value;` or `-NAME;`. */
struct calls {
	struct lens_text text;
	unsigned int count;
	unsigned int stop_at; /* the call that says no; 0: none */
};

static int note_call(void *context, const char *name, const char *value)
{
	struct calls *calls = context;

	lens_text_addf(&calls->text, value ? "%s=%s;" : "-%s;", name, value);
	return ++calls->count == calls->stop_at ? -1 : 0;
}

#define STRINGS(...)             \
	{                        \
		__VA_ARGS__ NULL \
	}

static void the_calls_and_their_order(void **state)
{
	static const struct {
		char *from[6], *to[6];
		const char *calls;
	} cases[] = {
		{ STRINGS(), STRINGS(), "" },
		{ STRINGS("A=1", "B=2", ), STRINGS("A=1", "B=2", ), "" },
		{ STRINGS(), STRINGS("B=2", "A=1", ), "B=2;A=1;" },
		{ STRINGS("B=2", "A=1", ), STRINGS(), "-B;-A;" },
		{ STRINGS("A=1", "B=2", "C=3", ), STRINGS("A=1", "B=9", "C=3", ), "B=9;" },
		{ STRINGS("A=1", "B=2", "C=3", ), STRINGS("A=9", "C=3", "D=4", ), "A=9;-B;D=4;" },
		{ STRINGS("A=1", "B=2", "C=3", ), STRINGS("C=3", ), "-A;-B;" },
		/* An empty value is a value. */
		{ STRINGS("A=1", ), STRINGS("A=", ), "A=;" },
		{ STRINGS("A=", ), STRINGS(), "-A;" },
		/* A name is not the beginning of another. */
		{ STRINGS("AB=1", ), STRINGS("A=1", ), "-AB;A=1;" },
		{ STRINGS("A=1", ), STRINGS("AB=1", ), "-A;AB=1;" },
		{ STRINGS("A=1=2", ), STRINGS("A=1=3", ), "A=1=3;" },
		/* Of a name that is there twice the first counts, and it goes once. */
		{ STRINGS("A=1", "B=2", "A=3", ), STRINGS("A=1", "B=2", ), "" },
		{ STRINGS("A=1", "A=2", "B=3", ), STRINGS("A=5", "B=3", ), "A=5;" },
		{ STRINGS("A=1", "A=2", "B=3", ), STRINGS("B=3", ), "-A;" },
		/* A name that moves is set where it is met, and never taken out. */
		{ STRINGS("A=1", "B=2", ), STRINGS("B=2", "A=1", ), "A=1;" },
		{ STRINGS("A=1", "B=2", "C=3", ), STRINGS("C=4", "A=1", ), "-B;C=4;A=1;" },
		/* What is no variable. */
		{ STRINGS("JUNK", "A=1", ), STRINGS("JUNK", "A=2", ), "A=2;" },
		{ STRINGS("JUNK", "A=1", ), STRINGS("A=1", ), "-JUNK;" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct calls calls = { 0 };
		char *text;

		assert_int_equal(lens_env_diff(cases[i].from, cases[i].to, note_call, &calls), 0);
		text = lens_text_take(&calls.text);
		if (strcmp(text, cases[i].calls) != 0)
			fail_msg("case %zu: `%s`, not `%s`", i, text, cases[i].calls);
		free(text);
	}
}

static void no_array_is_an_empty_one(void **state)
{
	char *one[] = { "A=1", NULL };
	struct calls calls = { 0 };
	char *text;

	(void)state;
	assert_int_equal(lens_env_diff(NULL, NULL, note_call, &calls), 0);
	assert_int_equal(calls.count, 0);
	assert_int_equal(lens_env_diff(NULL, one, note_call, &calls), 0);
	assert_int_equal(lens_env_diff(one, NULL, note_call, &calls), 0);
	text = lens_text_take(&calls.text);
	assert_string_equal(text, "A=1;-A;");
	free(text);
}

static void a_no_stops_it(void **state)
{
	char *from[] = { "A=1", "B=2", "C=3", NULL };
	char *to[] = { "A=9", "C=3", "D=4", NULL };

	(void)state;
	for (unsigned int stop = 1; stop <= 3; stop++) {
		struct calls calls = { .stop_at = stop };

		assert_int_equal(lens_env_diff(from, to, note_call, &calls), -1);
		assert_int_equal(calls.count, stop);
		lens_text_clear(&calls.text);
	}
}

/*
 * An environment that is changed while it is read, with what Slurm and libc do to theirs:
 * strings are freed, those behind one taken out move up, a longer array is another one.
 */
struct live {
	char **strings;
	size_t count;
};

static size_t live_find(const struct live *live, const char *name)
{
	size_t length = strlen(name), i = 0;

	while (i < live->count &&
	       (strncmp(live->strings[i], name, length) != 0 || live->strings[i][length] != '='))
		i++;
	return i;
}

static int live_change(void *context, const char *name, const char *value)
{
	struct live *live = context;
	size_t i = live_find(live, name);
	struct lens_text text = LENS_TEXT_INIT;
	char **longer;

	if (!value) {
		if (i == live->count)
			return 0;
		free(live->strings[i]);
		memmove(&live->strings[i], &live->strings[i + 1],
			(live->count - i) * sizeof(char *));
		live->count--;
		return 0;
	}
	lens_text_addf(&text, "%s=%s", name, value);
	if (i < live->count) {
		free(live->strings[i]);
		live->strings[i] = lens_text_take(&text);
		return 0;
	}
	longer = calloc(live->count + 2, sizeof(char *));
	assert_non_null(longer);
	memcpy(longer, live->strings, live->count * sizeof(char *));
	free(live->strings);
	live->strings = longer;
	live->strings[live->count++] = lens_text_take(&text);
	return 0;
}

/* Makes TO of a live FROM and checks that it came out. */
static void check_live(const char *const *from, struct lens_env *to)
{
	struct live live = { .strings = calloc(1, sizeof(char *)) };
	char *got, *want;

	for (; *from; from++) {
		char *name = strndup(*from, strcspn(*from, "="));

		live_change(&live, name, strchr(*from, '=') + 1);
		free(name);
	}
	assert_int_equal(lens_env_diff(live.strings, lens_env_array(to), live_change, &live), 0);
	got = environment_lines(live.strings);
	want = environment_lines(lens_env_array(to));
	assert_string_equal(got, want);
	free(got);
	free(want);
	for (size_t i = 0; i < live.count; i++)
		free(live.strings[i]);
	free(live.strings);
}

static void from_may_be_what_is_changed(void **state)
{
	static const char *const from[] = { "A=1", "B=2", "C=3", "D=4", "E=5", NULL };
	struct lens_env *to[] = {
		environment("A=1", "E=5"),
		environment("D=4"),
		environment("B=9", "D=4", "F=6", "G=7"),
		environment("E=5", "A=2"),
		environment("F=1", "G=2", "H=3"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(to) / sizeof(to[0]); i++) {
		check_live(from, to[i]);
		lens_env_destroy(to[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_calls_and_their_order),
		cmocka_unit_test(no_array_is_an_empty_one),
		cmocka_unit_test(a_no_stops_it),
		cmocka_unit_test(from_may_be_what_is_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
