/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/site/plugstack.h"
#include "lib/site/slurm_conf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/environment.h"
#include "tests/unit/scratch.h"

/* The problems of the last reading, a line each. */
static char problems[16384];

static void note_problem(void *context, const char *text)
{
	(void)context;
	strcat(problems, text);
	strcat(problems, "\n");
}

static struct lens_plugstack read_stack(const struct scratch *scratch, const char *name)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_plugstack stack;

	problems[0] = '\0';
	if (lens_plugstack_read(&stack, scratch_path(scratch, name), note_problem, NULL, &err) != 0)
		fail_msg("%s", err.text);
	return stack;
}

static void assert_problem(const char *text)
{
	if (strstr(problems, text) == NULL)
		fail_msg("no \"%s\" in:\n%s", text, problems);
}

static void lines_are_words(void **state)
{
	const struct lens_plugstack_line *line;
	struct lens_plugstack stack;

	scratch_write(*state, "plugstack.conf",
		      "# a comment\n"
		      "\n"
		      "optional lens.so\tStateDir=/s  Endpoint=http://h # rest\n"
		      "  required /opt/x.so \"a b\"\n"
		      "optional last.so"); /* no newline at the end */
	stack = read_stack(*state, "plugstack.conf");
	assert_string_equal(problems, "");
	assert_int_equal(stack.count, 3);
	line = &stack.lines[0];
	assert_string_equal(line->file, scratch_path(*state, "plugstack.conf"));
	assert_int_equal(line->number, 3);
	assert_false(line->required);
	assert_string_equal(line->plugin, "lens.so");
	assert_int_equal(line->argument_count, 2);
	assert_string_equal(line->arguments[0], "StateDir=/s");
	assert_string_equal(line->arguments[1], "Endpoint=http://h");
	line = &stack.lines[1];
	assert_true(line->required);
	assert_string_equal(line->plugin, "/opt/x.so");
	/* There are no quotes in that file. */
	assert_int_equal(line->argument_count, 2);
	assert_string_equal(line->arguments[0], "\"a");
	assert_string_equal(stack.lines[2].plugin, "last.so");
	assert_int_equal(stack.lines[2].argument_count, 0);
	lens_plugstack_clear(&stack);
	assert_int_equal(stack.count, 0);
}

static void a_comment_begins_anywhere(void **state)
{
	struct lens_plugstack stack;

	scratch_write(*state, "plugstack.conf", "optional a.so Headers=x#y z\n#optional b.so\n");
	stack = read_stack(*state, "plugstack.conf");
	assert_int_equal(stack.count, 1);
	assert_int_equal(stack.lines[0].argument_count, 1);
	assert_string_equal(stack.lines[0].arguments[0], "Headers=x");
	lens_plugstack_clear(&stack);
}

static void includes_are_patterns_in_order(void **state)
{
	struct lens_plugstack stack;

	mkdir(scratch_path(*state, "d"), 0755);
	scratch_write(*state, "d/20.conf", "optional two.so\n");
	scratch_write(*state, "d/10.conf", "optional one.so\ninclude ../more\n");
	scratch_write(*state, "d/ignored", "optional never.so\n");
	scratch_write(*state, "more", "optional more.so\n");
	scratch_write(*state, "plugstack.conf",
		      "optional zero.so\ninclude d/*.conf\ninclude none/*.conf\noptional end.so\n");
	stack = read_stack(*state, "plugstack.conf");
	assert_string_equal(problems, "");
	assert_int_equal(stack.count, 5);
	assert_string_equal(stack.lines[0].plugin, "zero.so");
	assert_string_equal(stack.lines[1].plugin, "one.so");
	assert_string_equal(stack.lines[1].file, scratch_path(*state, "d/10.conf"));
	assert_string_equal(stack.lines[2].plugin, "more.so");
	assert_string_equal(stack.lines[3].plugin, "two.so");
	assert_string_equal(stack.lines[4].plugin, "end.so");
	assert_int_equal(stack.lines[4].number, 4);
	lens_plugstack_clear(&stack);
}

static void what_slurm_leaves_out_is_a_problem(void **state)
{
	char long_line[5000] = "optional x.so ";
	struct lens_plugstack stack;

	memset(long_line + strlen(long_line), 'a', 4200);
	scratch_write(*state, "long", long_line);
	mkdir(scratch_path(*state, "directory"), 0755);
	scratch_write(*state, "plugstack.conf",
		      "Optional lens.so\noptional\ninclude directory\ninclude long\n"
		      "optional dos.so\r\noptional good.so\n");
	stack = read_stack(*state, "plugstack.conf");
	assert_problem("plugstack.conf:1: it begins with `Optional`");
	assert_problem("plugstack.conf:2: nothing stands after `optional`");
	assert_problem("plugstack.conf:3: ");
	assert_problem("is not a regular file");
	assert_problem("long:1: it is longer than 4095 bytes");
	assert_problem("plugstack.conf:5: it ends in a carriage return");
	assert_string_equal(stack.lines[stack.count - 1].plugin, "good.so");
	lens_plugstack_clear(&stack);
}

static void a_circle_of_includes_ends(void **state)
{
	struct lens_plugstack stack;

	scratch_write(*state, "plugstack.conf", "include other\noptional lens.so\n");
	scratch_write(*state, "other", "include plugstack.conf\n");
	stack = read_stack(*state, "plugstack.conf");
	assert_problem("in a circle");
	lens_plugstack_clear(&stack);
}

static void a_file_that_cannot_be_read_is_an_error(void **state)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_plugstack stack;
	const char *path = scratch_path(*state, "plugstack.conf");

	assert_int_equal(lens_plugstack_read(&stack, path, NULL, NULL, &err), -1);
	assert_non_null(strstr(err.text, path));
	lens_plugstack_clear(&stack);
	mkfifo(path, 0600);
	assert_int_equal(lens_plugstack_read(&stack, path, NULL, NULL, &err), -1);
	assert_non_null(strstr(err.text, "is not a regular file"));
	lens_plugstack_clear(&stack);
}

static void a_plugin_is_found_in_slurms_directories(void **state)
{
	char *directories = NULL, *found;

	mkdir(scratch_path(*state, "a"), 0755);
	mkdir(scratch_path(*state, "b"), 0755);
	scratch_write(*state, "b/lens.so", "");
	assert_true(asprintf(&directories, "%s::%s:", scratch_path(*state, "a"),
			     scratch_path(*state, "b")) > 0);
	found = lens_plugstack_find("lens.so", directories);
	assert_string_equal(found, scratch_path(*state, "b/lens.so"));
	free(found);
	assert_null(lens_plugstack_find("other.so", directories));
	assert_null(lens_plugstack_find("lens.so", ""));
	found = lens_plugstack_find(scratch_path(*state, "b/lens.so"), "/nowhere");
	assert_string_equal(found, scratch_path(*state, "b/lens.so"));
	free(found);
	assert_null(lens_plugstack_find("/nowhere/lens.so", directories));
	free(directories);
}

static void a_key_of_slurm_conf(void **state)
{
	static const struct {
		const char *text, *value;
	} cases[] = {
		{ "PluginDir=/a:/b\n", "/a:/b" },
		{ "  plugindir = /a # rest\n", "/a" },
		{ "PluginDir=/a\r\n", "/a" },
		{ "PluginDir=\"/a b\"", "/a b" },
		{ "PluginDir=/a\nPluginDir=/b", "/b" },
		{ "PluginDir=\n", "" },
		{ "#PluginDir=/a\n", NULL },
		{ "PluginDirs=/a\nPluginDir /b\nXPluginDir=/c\n", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *value;

		scratch_write(*state, "slurm.conf", cases[i].text);
		value = lens_slurm_conf_get(scratch_path(*state, "slurm.conf"), "PluginDir");
		if (cases[i].value == NULL)
			assert_null(value);
		else
			assert_string_equal(value, cases[i].value);
		free(value);
	}
	assert_null(lens_slurm_conf_get(scratch_path(*state, "none"), "PluginDir"));
}

/* A key is what the last line says, be it in a file that is included. */
static void a_key_of_a_file_that_slurm_conf_includes(void **state)
{
	static const struct {
		const char *slurm_conf, *site, *value;
	} cases[] = {
		{ "Include site.conf\n", "PluginDir=/a\n", "/a" },
		{ "include \t site.conf # here\r\nPluginDir=/b", "PluginDir=/a\n", "/b" },
		{ "PluginDir=/b\nINCLUDE site.conf", "PluginDir=/a\n", "/a" },
		{ "PluginDir=/b\nInclude none.conf\n", "", "/b" },
		{ "PluginDir=/b\nIncluded site.conf\nInclude\nInclude #\n", "PluginDir=/a\n",
		  "/b" },
		{ "#Include site.conf\n", "PluginDir=/a\n", NULL },
		{ "Include site.conf\n", "PluginDir=/a\nInclude slurm.conf\nInclude site.conf\n",
		  "/a" },
		{ "Include more/deep.conf\n", "PluginDir=/a\n", "/own" },
		{ "Include more/deep.conf\nInclude site.conf\n", "PluginDir=/a\n", "/a" },
	};
	struct lens_text absolute = LENS_TEXT_INIT;
	char *value;

	mkdir(scratch_path(*state, "more"), 0755);
	/* Relative to the file that has the line, not to slurm.conf. */
	scratch_write(*state, "more/deep.conf", "Include ../site.conf\nInclude own.conf\n");
	scratch_write(*state, "more/own.conf", "PluginDir=/own\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		scratch_write(*state, "slurm.conf", cases[i].slurm_conf);
		scratch_write(*state, "site.conf", cases[i].site);
		value = lens_slurm_conf_get(scratch_path(*state, "slurm.conf"), "PluginDir");
		expect_text(cases[i].slurm_conf, value, cases[i].value, (int)i);
		free(value);
	}
	lens_text_addf(&absolute, "Include %s\n", scratch_path(*state, "more/own.conf"));
	scratch_write(*state, "slurm.conf", absolute.data);
	scratch_write(*state, "more/own.conf", "PluginDir=/c\n");
	value = lens_slurm_conf_get(scratch_path(*state, "slurm.conf"), "PluginDir");
	assert_string_equal(value, "/c");
	free(value);
	lens_text_clear(&absolute);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(lines_are_words),
		scratch_test(a_comment_begins_anywhere),
		scratch_test(includes_are_patterns_in_order),
		scratch_test(what_slurm_leaves_out_is_a_problem),
		scratch_test(a_circle_of_includes_ends),
		scratch_test(a_file_that_cannot_be_read_is_an_error),
		scratch_test(a_plugin_is_found_in_slurms_directories),
		scratch_test(a_key_of_slurm_conf),
		scratch_test(a_key_of_a_file_that_slurm_conf_includes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
