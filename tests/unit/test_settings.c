/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* The problems that were told. */
static char problems[2048];

static void note_problem(void *context, const char *text)
{
	(void)context;
	strcat(problems, text);
	strcat(problems, "\n");
}

#define UNSET  LENS_OPTION_UNSET
#define ON     LENS_OPTION_ON
#define OFF    LENS_OPTION_OFF
#define OPTIN  LENS_WHEN_OPTIN
#define ALWAYS LENS_WHEN_ALWAYS
#define NEVER  LENS_WHEN_NEVER

static void opting_in_and_out(void **state)
{
	static const struct {
		int lens;
		bool other;          /* another option */
		const char *enabled; /* NEMO_LENS_ENABLED */
		enum lens_when inject, spans;
		bool expect_inject, expect_spans;
	} cases[] = {
		{ UNSET, false, NULL, OPTIN, OPTIN, false, false },
		{ UNSET, false, NULL, OPTIN, ALWAYS, false, true },
		{ UNSET, false, NULL, ALWAYS, OPTIN, true, true },
		{ UNSET, false, NULL, ALWAYS, NEVER, true, false },
		{ UNSET, false, NULL, NEVER, ALWAYS, false, true },
		{ ON, false, NULL, OPTIN, OPTIN, true, true },
		{ ON, false, NULL, OPTIN, NEVER, true, false },
		{ ON, false, NULL, NEVER, OPTIN, false, false },
		{ UNSET, true, NULL, OPTIN, OPTIN, true, true },
		{ OFF, true, NULL, OPTIN, OPTIN, false, false },
		{ OFF, false, NULL, ALWAYS, OPTIN, false, false },
		{ OFF, false, "1", OPTIN, OPTIN, false, false },
		{ OFF, false, NULL, ALWAYS, ALWAYS, false, true },
		{ UNSET, false, "1", OPTIN, OPTIN, true, true },
		{ UNSET, false, "True", OPTIN, OPTIN, true, true },
		{ UNSET, false, "0", ALWAYS, OPTIN, false, false },
		{ ON, true, "0", OPTIN, OPTIN, false, false },
		{ ON, true, "no", ALWAYS, OPTIN, false, false },
		{ ON, true, "1", NEVER, OPTIN, false, false },
		{ UNSET, false, "", OPTIN, OPTIN, false, false },
		{ ON, false, "", OPTIN, OPTIN, true, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_config *config = lens_config_create();
		char variable[64] = "OTHER=1";
		char *env[] = { variable, NULL };
		struct lens_settings settings;
		struct lens_options options;

		lens_options_init(&options);
		if (cases[i].lens == ON)
			lens_options_set(&options, "lens", NULL, NULL);
		if (cases[i].lens == OFF)
			lens_options_set(&options, "lens", "off", NULL);
		if (cases[i].other)
			lens_options_set(&options, "lens-rank", "0", NULL);
		if (cases[i].enabled)
			snprintf(variable, sizeof(variable), "NEMO_LENS_ENABLED=%s",
				 cases[i].enabled);
		config->inject = cases[i].inject;
		config->job_spans = cases[i].spans;
		assert_int_equal(
			lens_settings_resolve(&settings, &options, env, config, NULL, NULL), 0);
		if (settings.inject != cases[i].expect_inject ||
		    settings.spans != cases[i].expect_spans)
			fail_msg("case %zu: inject %d spans %d", i, settings.inject,
				 settings.spans);
		lens_settings_clear(&settings);
		lens_options_clear(&options);
		lens_config_destroy(config);
	}
}

static void option_before_environment_before_config(void **state)
{
	char *env[] = { (char *)"NEMO_LENS_RUN_ID=env", (char *)"NEMO_LENS_EXPORT_STRATEGY=sampled",
			(char *)"NEMO_LENS_EXPORT_RANK=5",
			(char *)"NEMO_LENS_EXPORT_SAMPLE_RATE=0.5", NULL };
	struct lens_config *config = lens_config_create();
	struct lens_settings settings;
	struct lens_options options;

	(void)state;
	assert_int_equal(lens_config_set(config, "Strategy", "all_ranks", NULL), 0);
	assert_int_equal(lens_config_set(config, "ExportRank", "3", NULL), 0);
	assert_int_equal(lens_config_set(config, "SampleRate", "0.25", NULL), 0);
	lens_options_init(&options);
	assert_int_equal(lens_settings_resolve(&settings, &options, NULL, config, NULL, NULL), 0);
	assert_null(settings.run_id);
	assert_int_equal(settings.strategy.strategy, LENS_STRATEGY_ALL_RANKS);
	assert_int_equal(settings.strategy.rank, 3);
	assert_true(settings.strategy.rate == 0.25);
	lens_settings_clear(&settings);

	assert_int_equal(lens_settings_resolve(&settings, &options, env, config, NULL, NULL), 0);
	assert_string_equal(settings.run_id, "env");
	assert_int_equal(settings.strategy.strategy, LENS_STRATEGY_SAMPLED);
	assert_int_equal(settings.strategy.rank, 5);
	assert_true(settings.strategy.rate == 0.5);
	lens_settings_clear(&settings);

	lens_options_set(&options, "lens-run-id", "option", NULL);
	lens_options_set(&options, "lens-strategy", "first_rank_per_node", NULL);
	lens_options_set(&options, "lens-rank", "-1", NULL);
	lens_options_set(&options, "lens-sample-rate", "1", NULL);
	assert_int_equal(lens_settings_resolve(&settings, &options, env, config, NULL, NULL), 0);
	assert_string_equal(settings.run_id, "option");
	assert_int_equal(settings.strategy.strategy, LENS_STRATEGY_FIRST_RANK_PER_NODE);
	assert_int_equal(settings.strategy.rank, -1);
	assert_true(settings.strategy.rate == 1.0);
	lens_settings_clear(&settings);
	lens_options_clear(&options);
	lens_config_destroy(config);
}

static void bad_values_are_told_and_passed_over(void **state)
{
	char *env[] = {
		(char *)"NEMO_LENS_ENABLED=perhaps",        (char *)"NEMO_LENS_RUN_ID=a\nb",
		(char *)"NEMO_LENS_EXPORT_STRATEGY=best",   (char *)"NEMO_LENS_EXPORT_RANK=last",
		(char *)"NEMO_LENS_EXPORT_SAMPLE_RATE=0,5", NULL
	};
	struct lens_config *config = lens_config_create();
	struct lens_settings settings;
	struct lens_options options;

	(void)state;
	lens_options_init(&options);
	lens_options_set(&options, "lens", "on", NULL);
	problems[0] = '\0';
	assert_int_equal(
		lens_settings_resolve(&settings, &options, env, config, note_problem, NULL), 0);
	assert_true(settings.inject);
	assert_null(settings.run_id);
	assert_int_equal(settings.strategy.strategy, LENS_STRATEGY_SINGLE_RANK);
	assert_int_equal(settings.strategy.rank, -1);
	assert_true(settings.strategy.rate == 1.0);
	assert_string_equal(
		problems,
		"NEMO_LENS_ENABLED=perhaps: not 1 or 0, true or false, yes or no, on or off; "
		"ignored\n"
		"NEMO_LENS_EXPORT_STRATEGY=best: not single_rank, all_ranks, sampled or "
		"first_rank_per_node; ignored\n"
		"NEMO_LENS_EXPORT_RANK=last: not a rank: 0 or more, or -1 for the last; ignored\n"
		"NEMO_LENS_EXPORT_SAMPLE_RATE=0,5: not a rate from 0.0 to 1.0 (use a decimal "
		"point); ignored\n"
		"NEMO_LENS_RUN_ID=a\\x0Ab: not 1 to 255 bytes of UTF-8 without control characters; "
		"ignored\n");
	lens_settings_clear(&settings);
	lens_options_clear(&options);
	lens_config_destroy(config);
}

static void names_and_groups(void **state)
{
	char *env[] = { (char *)"NEMO_LENS_USER_ID=env", (char *)"NEMO_LENS_SPAN_GROUPS=step",
			(char *)"OTEL_SERVICE_NAME=svc",
			(char *)"OTEL_EXPORTER_OTLP_ENDPOINT=http://env", NULL };
	char *bad[] = { (char *)"NEMO_LENS_USER_ID=a\nb", (char *)"NEMO_LENS_SPAN_GROUPS=a;b",
			NULL };
	struct lens_config *config = lens_config_create();
	struct lens_settings settings;
	struct lens_options options;

	(void)state;
	lens_options_init(&options);
	assert_int_equal(lens_config_set(config, "SpanGroups", "default", NULL), 0);
	assert_int_equal(lens_settings_resolve(&settings, &options, NULL, config, NULL, NULL), 0);
	assert_string_equal(settings.span_groups, "default");
	assert_null(settings.user);
	lens_settings_clear(&settings);

	assert_int_equal(lens_settings_resolve(&settings, &options, env, config, NULL, NULL), 0);
	assert_string_equal(settings.span_groups, "step");
	assert_string_equal(settings.user, "env");
	/* These stay the user's own: only an option overwrites them. */
	assert_null(settings.service);
	assert_null(settings.endpoint);
	lens_settings_clear(&settings);

	problems[0] = '\0';
	assert_int_equal(
		lens_settings_resolve(&settings, &options, bad, config, note_problem, NULL), 0);
	assert_string_equal(settings.span_groups, "default");
	assert_null(settings.user);
	assert_non_null(strstr(problems, "NEMO_LENS_USER_ID=a\\x0Ab: not "));
	assert_non_null(strstr(problems, "NEMO_LENS_SPAN_GROUPS=a;b: not "));
	lens_settings_clear(&settings);

	lens_options_set(&options, "lens-user", "option", NULL);
	lens_options_set(&options, "lens-span-groups", "all", NULL);
	lens_options_set(&options, "lens-service", "s", NULL);
	lens_options_set(&options, "lens-endpoint", "http://o", NULL);
	lens_options_set(&options, "lens-attr", "a=1", NULL);
	assert_int_equal(lens_settings_resolve(&settings, &options, env, config, NULL, NULL), 0);
	assert_string_equal(settings.user, "option");
	assert_string_equal(settings.span_groups, "all");
	assert_string_equal(settings.service, "s");
	assert_string_equal(settings.endpoint, "http://o");
	assert_string_equal(settings.attributes, "a=1");
	lens_settings_clear(&settings);
	lens_options_clear(&options);
	lens_config_destroy(config);
}

static void what_a_task_and_an_outer_trace_are(void **state)
{
	struct lens_config *config = lens_config_create();
	struct lens_settings settings;
	struct lens_options options;

	(void)state;
	lens_options_init(&options);
	assert_int_equal(lens_settings_resolve(&settings, &options, NULL, config, NULL, NULL), 0);
	assert_int_equal(settings.ranks, LENS_RANKS_AUTO);
	assert_int_equal(settings.outer, LENS_OUTER_LINK);
	lens_settings_clear(&settings);

	assert_int_equal(lens_config_set(config, "Ranks", "launcher", NULL), 0);
	assert_int_equal(lens_config_set(config, "Traceparent", "off", NULL), 0);
	assert_int_equal(lens_settings_resolve(&settings, &options, NULL, config, NULL, NULL), 0);
	assert_int_equal(settings.ranks, LENS_RANKS_LAUNCHER);
	assert_int_equal(settings.outer, LENS_OUTER_OFF);
	lens_settings_clear(&settings);

	lens_options_set(&options, "lens-ranks", "auto", NULL);
	lens_options_set(&options, "lens-traceparent", "link", NULL);
	assert_int_equal(lens_settings_resolve(&settings, &options, NULL, config, NULL, NULL), 0);
	assert_int_equal(settings.ranks, LENS_RANKS_AUTO);
	assert_int_equal(settings.outer, LENS_OUTER_LINK);
	lens_settings_clear(&settings);
	lens_options_clear(&options);
	lens_config_destroy(config);
}

/* What an option decides, nobody is told that the environment says it wrong. */
static void empty_is_unset_and_an_option_silences(void **state)
{
	char *env[] = { (char *)"NEMO_LENS_ENABLED=",
			(char *)"NEMO_LENS_RUN_ID=",
			(char *)"NEMO_LENS_EXPORT_STRATEGY=",
			(char *)"NEMO_LENS_EXPORT_RANK=x",
			(char *)"NEMO_LENS_EXPORT_SAMPLE_RATE=",
			NULL };
	struct lens_config *config = lens_config_create();
	struct lens_settings settings;
	struct lens_options options;

	(void)state;
	lens_options_init(&options);
	lens_options_set(&options, "lens-rank", "2", NULL);
	problems[0] = '\0';
	assert_int_equal(
		lens_settings_resolve(&settings, &options, env, config, note_problem, NULL), 0);
	assert_string_equal(problems, "");
	assert_null(settings.run_id);
	assert_true(settings.inject);
	assert_int_equal(settings.strategy.rank, 2);
	lens_settings_clear(&settings);
	lens_options_clear(&options);
	lens_config_destroy(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opting_in_and_out),
		cmocka_unit_test(option_before_environment_before_config),
		cmocka_unit_test(bad_values_are_told_and_passed_over),
		cmocka_unit_test(names_and_groups),
		cmocka_unit_test(what_a_task_and_an_outer_trace_are),
		cmocka_unit_test(empty_is_unset_and_an_option_silences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
