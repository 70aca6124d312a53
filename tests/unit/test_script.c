/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/site/script.h"
#include "lib/site/script_options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* What the tests say of sbatch was asked of sbatch 22.05 (tests/cluster/check.bats asks again). */

#define SLURM 0x160508

/* Checks the words of TEXT: WANTED has each as `LINE:WORD;`. */
static void assert_words(const char *text, const char *wanted)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_script script;
	char found[1024] = "";

	if (lens_script_read(&script, text, SLURM, &err) != 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < script.count; i++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%u:%s;",
			 script.words[i].line, script.words[i].text);
	assert_string_equal(found, wanted);
	lens_script_clear(&script);
}

static void directives_end_at_the_first_command(void **state)
{
	(void)state;
	assert_words("#!/bin/sh\n"
		     "#SBATCH --lens -n 2\n"
		     "\n"
		     "  # a comment\n"
		     " #SBATCH --not-at-the-begin\n"
		     "#SLURM --old\n"
		     "#SBATCHx\n"
		     "true\n"
		     "#SBATCH --late\n",
		     "2:--lens;2:-n;2:2;6:--old;7:x;");
	assert_words("", "");
	assert_words("#SBATCH", "");
	assert_words("#SBATCH --lens\r\n#SBATCH -n 1\r\n", "1:--lens;2:-n;2:1;");
}

static void words_are_quoted_as_sbatch_has_it(void **state)
{
	(void)state;
	assert_words("#SBATCH \"--a=b c\" '--d=\"' x\\ y\\#z\n", "1:--a=b c;1:--d=\";1:x;1:y#z;");
	assert_words("#SBATCH --a='x'\"y\" '\\''\n", "1:--a=xy;1:';");
	assert_words("#SBATCH --a=b#c --d\n", "1:--a=b;");
	assert_words("#SBATCH --a '#' --b # rest\n", "1:--a;1:#;1:--b;");
	/* An empty word ends the line, sbatch's habit. */
	assert_words("#SBATCH --a \"\" --b\n#SBATCH --c\n", "1:--a;2:--c;");
}

static void an_escaped_blank_is_of_the_word_since_24_11(void **state)
{
	static const char text[] = "#SBATCH a\\ b\\";
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_script script;

	(void)state;
	assert_int_equal(lens_script_read(&script, text, 0x180b05, &err), 0);
	assert_int_equal(script.count, 1);
	assert_string_equal(script.words[0].text, "a b");
	lens_script_clear(&script);
	assert_words(text, "1:a;1:b;");
}

static void an_open_quote_is_an_error(void **state)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_script script;

	(void)state;
	assert_int_equal(lens_script_read(&script, "#!x\n#SBATCH --lens-user='a b\n", SLURM, &err),
			 -1);
	assert_non_null(strstr(err.text, "line 2: ' is not closed"));
	lens_script_clear(&script);
}

static void a_directive_too_late_is_found(void **state)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_script script;

	(void)state;
	assert_int_equal(
		lens_script_read(&script, "true\n#SBATCH -n 2\n#SBATCH --lens\n", SLURM, &err), 0);
	assert_int_equal(script.late_line, 3);
	assert_int_equal(script.count, 0);
	lens_script_clear(&script);
}

static char problems[4096];

static void note_problem(void *context, unsigned int line, const char *text)
{
	(void)context;
	snprintf(problems + strlen(problems), sizeof(problems) - strlen(problems), "%u: %s\n", line,
		 text);
}

/* The options of TEXT, of which EXPECTED comes; the caller clears. */
static struct lens_script_options options_of(const char *text, int expected)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_script_options options;
	struct lens_script script;

	problems[0] = '\0';
	assert_int_equal(lens_script_read(&script, text, SLURM, &err), 0);
	if (lens_script_options_read(&options, &script, note_problem, NULL) != expected)
		fail_msg("%s: %s", text, problems);
	lens_script_clear(&script);
	return options;
}

static void assert_refused(const char *text, const char *problem)
{
	struct lens_script_options options = options_of(text, -1);

	if (strstr(problems, problem) == NULL)
		fail_msg("no \"%s\" in: %s", problem, problems);
	lens_script_options_clear(&options);
}

static void options_are_read_in_both_forms(void **state)
{
	struct lens_script_options options =
		options_of("#SBATCH -J x --lens-run-id=r1 --lens-strategy sampled\n"
			   "#SBATCH --lens-sample-r 0.5 --lens-user\n"
			   "#SBATCH ada --lens=off\n",
			   0);

	(void)state;
	assert_true(options.given);
	assert_string_equal(options.lens.run_id, "r1");
	assert_int_equal(options.lens.strategy.strategy, LENS_STRATEGY_SAMPLED);
	assert_true(options.lens.strategy.rate == 0.5);
	assert_string_equal(options.lens.user, "ada");
	assert_int_equal(options.lens.lens, LENS_OPTION_OFF);
	assert_int_equal(options.components, 1);
	lens_script_options_clear(&options);
	options = options_of("#SBATCH -n 2\n", 0);
	assert_false(options.given);
	assert_int_equal(options.lens.lens, LENS_OPTION_UNSET);
	lens_script_options_clear(&options);
}

static void what_sbatch_would_refuse_is_refused(void **state)
{
	(void)state;
	assert_refused("#!x\n#SBATCH --lens-strategy=bad", "2: --lens-strategy=bad: not one of");
	assert_refused("#SBATCH --lens off", "1: `off` is no option");
	assert_refused("#SBATCH --lens-ra 1", "--lens-ra may be --lens-rank, --lens-ranks");
	assert_refused("#SBATCH --lens-foo=1", "--lens-foo=1 is no option of lens");
	assert_refused("#SBATCH --lens-strategy", "--lens-strategy needs a value");
	assert_refused("#SBATCH --lens-rank=--lens", "--lens-rank=--lens: not a rank");
	/* The value is the next word, whatever it is. */
	assert_refused("#SBATCH --lens-rank --lens-user=a", "--lens-rank=--lens-user=a: not");
}

static void an_exact_name_is_not_ambiguous(void **state)
{
	struct lens_script_options options = options_of("#SBATCH --lens-rank=3 --lens", 0);

	(void)state;
	assert_int_equal(options.lens.strategy.rank, 3);
	assert_int_equal(options.lens.lens, LENS_OPTION_ON);
	lens_script_options_clear(&options);
}

static void assert_sizes(const char *text, uint32_t tasks, uint32_t nodes)
{
	struct lens_script_options options = options_of(text, 0);

	if (options.tasks != tasks || options.nodes != nodes)
		fail_msg("%s: %u tasks on %u nodes", text, options.tasks, options.nodes);
	lens_script_options_clear(&options);
}

static void sizes_are_sbatchs(void **state)
{
	(void)state;
	assert_sizes("#SBATCH --lens", 1, 1);
	assert_sizes("#SBATCH -n 8 -N2", 8, 2);
	assert_sizes("#SBATCH --ntasks=8 --ntasks-per-node 4", 8, 2);
	assert_sizes("#SBATCH --nodes 3", 3, 3);
	assert_sizes("#SBATCH -N 3 --ntasks-per-node=4", 12, 3);
	assert_sizes("#SBATCH -n 8", 8, 0);
	assert_sizes("#SBATCH -N 2-4", 0, 0);
	assert_sizes("#SBATCH -n 4 -N 1\n#SBATCH hetjob\n#SBATCH -n 2 -N 2", 6, 3);
	assert_sizes("#SBATCH -n 4 -N 1\n#SBATCH hetjob\n#SBATCH -N 1-2", 0, 0);
	assert_sizes("#SBATCH -N 4294967295 --ntasks-per-node=2", 0, 4294967295u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(directives_end_at_the_first_command),
		cmocka_unit_test(words_are_quoted_as_sbatch_has_it),
		cmocka_unit_test(an_escaped_blank_is_of_the_word_since_24_11),
		cmocka_unit_test(an_open_quote_is_an_error),
		cmocka_unit_test(a_directive_too_late_is_found),
		cmocka_unit_test(options_are_read_in_both_forms),
		cmocka_unit_test(what_sbatch_would_refuse_is_refused),
		cmocka_unit_test(an_exact_name_is_not_ambiguous),
		cmocka_unit_test(sizes_are_sbatchs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
