/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/config.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/scratch.h"

/* The problems of the last loading, a line each. */
static char problems[8192];

static void note_problem(void *context, const char *text)
{
	(void)context;
	strcat(problems, text);
	strcat(problems, "\n");
}

/* Loads ARGUMENTS (NULL-ended) and the default file; the caller destroys. */
static struct lens_config *load(const struct scratch *scratch, char *const *arguments, int expected)
{
	struct lens_config *config = lens_config_create();
	int count = 0;

	assert_non_null(config);
	while (arguments && arguments[count])
		count++;
	problems[0] = '\0';
	assert_int_equal(lens_config_load(config, count, arguments,
					  scratch_path(scratch, "lens.conf"), note_problem, NULL),
			 expected);
	return config;
}

static void assert_problem(const char *text)
{
	if (!strstr(problems, text))
		fail_msg("no \"%s\" in:\n%s", text, problems);
}

static void defaults_are_as_documented(void **state)
{
	struct lens_config *config = load(*state, NULL, 0);

	assert_int_equal(config->inject, LENS_WHEN_OPTIN);
	assert_int_equal(config->job_spans, LENS_WHEN_OPTIN);
	assert_int_equal(config->strategy.strategy, LENS_STRATEGY_SINGLE_RANK);
	assert_int_equal(config->strategy.rank, -1);
	assert_true(config->strategy.rate == 1.0);
	assert_int_equal(config->timeout_ms, 10000);
	assert_int_equal(config->ranks, LENS_RANKS_AUTO);
	assert_int_equal(config->outer, LENS_OUTER_LINK);
	assert_int_equal(config->gate, LENS_GATE_LENS);
	assert_string_equal(config->span_groups, "");
	assert_false(config->strategy_set);
	assert_int_equal(config->max_notes, 10000);
	assert_int_equal(config->max_spool, 268435456);
	assert_int_equal(config->agent, LENS_AGENT_AUTO);
	assert_string_equal(config->file, "/var/log/slurm-lens/traces.jsonl");
	assert_string_equal(config->service_name, "slurm");
	assert_string_equal(config->attributes, "");
	assert_string_equal(config->task_service_name, "");
	assert_string_equal(config->task_endpoint, "");
	assert_string_equal(config->endpoint, "");
	assert_string_equal(config->environment, "");
	assert_string_equal(config->realm, "");
	assert_int_equal(config->state_dir[0], '/');
	assert_int_equal(config->agent_path[0], '/');
	assert_string_equal(config->agent_user, "nobody");
	assert_int_equal(lens_config_protocol(config), LENS_PROTOCOL_FILE);
	lens_config_destroy(config);
	lens_config_destroy(NULL);
}

static void every_key_is_read(void **state)
{
	struct scratch *scratch = *state;
	struct lens_config *config;

	scratch_write(scratch, "lens.conf",
		      "\xef\xbb\xbf# all of them\n"
		      "Inject=always\n"
		      "  jobspans =\tNEVER  # a comment\r\n"
		      "STRATEGY=sampled\n"
		      "\n"
		      "\t \r\n"
		      "ExportRank=4\nSampleRate=0.5\n"
		      "Ranks=Task\nSpanGroups=default, step\nTraceparent=parent\ngate=OTEL\n"
		      "Attributes=team=a,site=x%20y,\n"
		      "TaskServiceName=my tasks \\# 1#2\n"
		      "TaskEndpoint=http://[::1]:4318\n"
		      "Endpoint=HTTPS://collector:4318/otlp\n"
		      "Protocol=http/Protobuf\n"
		      "File=/log/x.jsonl\nTimeout=500\nStateDir=/state\nMaxNotes=7\nMaxSpool=2M\n"
		      "Agent=external\nAgentPath=/opt/slurm-lens\n"
		      "AgentUser=lens\nServiceName=cluster\n"
		      "Environment=prod\nRealm=east=2026\nRealm=east\n"
		      "Environment=test");
	config = load(scratch, NULL, 0);
	assert_string_equal(problems, "");
	assert_int_equal(config->inject, LENS_WHEN_ALWAYS);
	assert_int_equal(config->job_spans, LENS_WHEN_NEVER);
	assert_int_equal(config->strategy.strategy, LENS_STRATEGY_SAMPLED);
	assert_int_equal(config->strategy.rank, 4);
	assert_true(config->strategy.rate == 0.5);
	assert_int_equal(config->ranks, LENS_RANKS_TASK);
	assert_string_equal(config->span_groups, "default, step");
	assert_int_equal(config->outer, LENS_OUTER_PARENT);
	assert_int_equal(config->gate, LENS_GATE_OTEL);
	assert_string_equal(config->attributes, "team=a,site=x%20y,");
	assert_string_equal(config->task_service_name, "my tasks # 1");
	assert_string_equal(config->task_endpoint, "http://[::1]:4318");
	assert_string_equal(config->endpoint, "HTTPS://collector:4318/otlp");
	assert_int_equal(lens_config_protocol(config), LENS_PROTOCOL_HTTP_PROTOBUF);
	assert_string_equal(config->file, "/log/x.jsonl");
	assert_int_equal(config->timeout_ms, 500);
	assert_string_equal(config->state_dir, "/state");
	assert_int_equal(config->max_notes, 7);
	assert_int_equal(config->max_spool, 2097152);
	assert_int_equal(config->agent, LENS_AGENT_EXTERNAL);
	assert_string_equal(config->agent_path, "/opt/slurm-lens");
	assert_string_equal(config->agent_user, "lens");
	assert_string_equal(config->service_name, "cluster");
	assert_string_equal(config->environment, "test");
	assert_string_equal(config->realm, "east");
	assert_string_equal(config->config_path, scratch_path(scratch, "lens.conf"));
	lens_config_destroy(config);
}

static void the_file_beats_an_argument(void **state)
{
	struct scratch *scratch = *state;
	char named[600];
	char *arguments[] = { (char *)"Realm=a",      (char *)"Timeout=1", named,
			      (char *)"Inject=never", (char *)"timeout=2", NULL };
	struct lens_config *config;

	snprintf(named, sizeof(named), "Config=%s", scratch_path(scratch, "site.conf"));
	scratch_write(scratch, "lens.conf", "Realm=default file\n");
	scratch_write(scratch, "site.conf", "Realm=named file\n");
	config = load(scratch, arguments, 0);
	assert_string_equal(config->realm, "named file");
	assert_int_equal(config->timeout_ms, 2);
	assert_int_equal(config->inject, LENS_WHEN_NEVER);
	assert_string_equal(config->config_path, scratch_path(scratch, "site.conf"));
	assert_int_equal(config->argument_count, 4);
	assert_string_equal(config->arguments[0], "Realm=a");
	assert_string_equal(config->arguments[3], "timeout=2");
	lens_config_destroy(config);
}

static void bad_arguments_name_plugstack(void **state)
{
	char *arguments[] = { (char *)"verbose", (char *)"Realme=x",  (char *)"config=lens.conf",
			      (char *)"=x",      (char *)"Timeout=5", NULL };
	struct lens_config *config = load(*state, arguments, -1);

	assert_problem("plugstack.conf: an argument without `=`");
	assert_problem("plugstack.conf: Realme is no key of lens: did you mean Realm?\n");
	assert_problem("plugstack.conf: config= takes an absolute path");
	assert_int_equal(config->timeout_ms, 5);
	lens_config_destroy(config);
}

static void bad_lines_name_file_and_line_and_the_rest_stands(void **state)
{
	struct scratch *scratch = *state;
	struct lens_config *config;
	char expected[700];

	scratch_write(scratch, "lens.conf",
		      "Realm=good\n"
		      "# fine\n"
		      "Timeout=10s\n"
		      "SampelRate=1\n"
		      "Quite=different\n"
		      "nonsense\n"
		      "=value\n"
		      "Protocol=gRPC/2\n"
		      "MaxNotes=0\n"
		      "Environment=prod\n");
	config = load(scratch, NULL, -1);
	snprintf(expected, sizeof(expected), "lens.conf %s/lens.conf:3: Timeout=10s: not ",
		 scratch->path);
	assert_problem(expected);
	assert_problem("milliseconds from 1 to 3600000\n");
	assert_problem("lens.conf:4: SampelRate is no key of lens: did you mean SampleRate?\n");
	assert_problem("lens.conf:5: Quite is no key of lens\n");
	assert_problem("lens.conf:6: no key and `=` in it: write Key=Value\n");
	assert_problem("lens.conf:7: no key");
	assert_problem(
		"lens.conf:8: Protocol=gRPC/2: not grpc, http/protobuf, http/json or file\n");
	assert_problem("lens.conf:9: MaxNotes=0: not a number from 1 to 1000000\n");
	assert_string_equal(config->realm, "good");
	assert_string_equal(config->environment, "prod");
	assert_int_equal(config->timeout_ms, 10000);
	lens_config_destroy(config);
}

static void values_out_of_bounds_are_refused(void **state)
{
	static const struct {
		const char *key, *value;
	} bad[] = {
		{ "Inject", "on" },
		{ "Inject", "" },
		{ "JobSpans", "sometimes" },
		{ "Strategy", "Sampled" },
		{ "ExportRank", "-2" },
		{ "ExportRank", "" },
		{ "SampleRate", "1.01" },
		{ "SampleRate", "0,5" },
		{ "Ranks", "rank" },
		{ "SpanGroups", "a;b" },
		{ "Traceparent", "yes" },
		{ "Gate", "sdk" },
		{ "Timeout", "0" },
		{ "Timeout", "3600001" },
		{ "Timeout", "-1" },
		{ "MaxNotes", "1000001" },
		{ "MaxSpool", "65535" },
		{ "MaxSpool", "1T" },
		{ "MaxNotes", "18446744073709551617" },
		{ "Agent", "yes" },
		{ "File", "traces.jsonl" },
		{ "StateDir", "" },
		{ "AgentPath", "slurm-lens" },
		{ "AgentUser", "" },
		{ "ServiceName", "" },
		{ "Realm", "a\tb" },
		{ "Realm", "\xff" },
		{ "Attributes", "novalue" },
		{ "Attributes", "a=1,b" },
		{ "Endpoint", "collector:4318" },
		{ "Endpoint", "unix:///run/otel.sock" },
		{ "Endpoint", "file:///x" },
		{ "Endpoint", "http://" },
		{ "Endpoint", "http:///path" },
		{ "Endpoint", "http://:4318" },
		{ "Endpoint", "http://::1:4318" },
		{ "Endpoint", "http://u:p@/" },
		{ "Endpoint", "http://a b/" },
		{ "TaskEndpoint", "grpc://x" },
		{ "Protocol", "" },
	};
	struct lens_config *config = lens_config_create();
	struct lens_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err.text[0] = '\0';
		if (lens_config_set(config, bad[i].key, bad[i].value, &err) != -1)
			fail_msg("%s=%s was taken", bad[i].key, bad[i].value);
		assert_int_equal(strncmp(err.text, bad[i].key, strlen(bad[i].key)), 0);
	}
	assert_string_equal(config->realm, "");
	assert_string_equal(config->endpoint, "");
	assert_false(config->protocol_set);
	assert_int_equal(lens_config_set(config, "endpoint", "http://u:p@h:1/x", &err), 0);
	assert_int_equal(lens_config_set(config, "ENDPOINT", "http://u:p@[::1]:1", &err), 0);
	assert_int_equal(lens_config_protocol(config), LENS_PROTOCOL_HTTP_PROTOBUF);
	assert_int_equal(lens_config_set(config, "Protocol", "file", &err), 0);
	assert_int_equal(lens_config_protocol(config), LENS_PROTOCOL_FILE);
	assert_int_equal(lens_config_set(config, "Endpoint", "", &err), 0);
	assert_string_equal(config->endpoint, "");
	lens_config_destroy(config);
}

static void a_password_is_in_no_message(void **state)
{
	struct scratch *scratch = *state;
	struct lens_config *config;

	scratch_write(scratch, "lens.conf",
		      "Endpoint=htp://user:hunter2@host\n"
		      "TaskEndpoint=user:hunter2@host:4318\n"
		      "File=http://user:hunter2@host\n"
		      "Timeout=hunter2@host\n"
		      "Endpont=http://user:hunter2@host\n"
		      "http://user:hunter2@host\n"
		      "Protocol=http/protobuf\n");
	config = load(scratch, NULL, -1);
	assert_null(strstr(problems, "hunter2"));
	assert_problem(":1: Endpoint: its value is not a URL");
	assert_problem(":5: Endpont is no key of lens: did you mean Endpoint?");
	assert_problem(":6: no key");
	assert_problem("Protocol=http/protobuf needs an Endpoint");
	lens_config_destroy(config);
}

static void only_a_named_file_must_be_there(void **state)
{
	struct scratch *scratch = *state;
	char named[600];
	char *arguments[] = { named, (char *)"Realm=a", NULL };
	struct lens_config *config;

	snprintf(named, sizeof(named), "config=%s", scratch_path(scratch, "none.conf"));
	scratch_write(scratch, "lens.conf", "Realm=b\n");
	config = load(scratch, arguments, -1);
	assert_problem("none.conf: it cannot be read: No such file");
	assert_string_equal(config->realm, "a");
	lens_config_destroy(config);
	config = lens_config_create();
	assert_int_equal(lens_config_load(config, 0, NULL, NULL, NULL, NULL), 0);
	assert_string_equal(config->config_path, "");
	lens_config_destroy(config);
}

static void what_is_no_text_file_is_one_problem(void **state)
{
	struct scratch *scratch = *state;
	const char *path = scratch_path(scratch, "lens.conf");
	struct lens_config *config;
	FILE *file;

	/* A FIFO without a writer: an open that waits would end the test by its timeout. */
	assert_int_equal(mkfifo(path, 0600), 0);
	config = load(scratch, NULL, -1);
	assert_problem("it is no regular file");
	lens_config_destroy(config);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	config = load(scratch, NULL, -1);
	assert_problem("it is no regular file");
	lens_config_destroy(config);
	assert_int_equal(rmdir(path), 0);

	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite("Realm=x\n\0Realm=y\n", 1, 17, file), 17);
	assert_int_equal(fclose(file), 0);
	config = load(scratch, NULL, -1);
	assert_problem("a NUL byte");
	assert_string_equal(config->realm, "");
	lens_config_destroy(config);

	assert_int_equal(truncate(path, 1024 * 1024 + 1), 0);
	config = load(scratch, NULL, -1);
	assert_problem("larger than 1 MiB");
	lens_config_destroy(config);
}

/* A log is read by people: a binary or a foreign file does not flood it. */
static void many_problems_are_summed_up(void **state)
{
	struct scratch *scratch = *state;
	FILE *file = fopen(scratch_path(scratch, "lens.conf"), "w");
	struct lens_config *config;

	assert_non_null(file);
	for (int i = 0; i < 25; i++)
		fprintf(file, "line %d\n", i);
	assert_int_equal(fclose(file), 0);
	config = load(scratch, NULL, -1);
	assert_problem("lens.conf:10: no key");
	assert_null(strstr(problems, "lens.conf:11:"));
	assert_problem(": 15 more lines are wrong");
	lens_config_destroy(config);
	/* Who wants all of them gets them. */
	config = lens_config_create();
	assert_non_null(config);
	config->problem_max = UINT_MAX;
	problems[0] = '\0';
	assert_int_equal(lens_config_load(config, 0, NULL, scratch_path(scratch, "lens.conf"),
					  note_problem, NULL),
			 -1);
	assert_problem("lens.conf:25: no key");
	assert_null(strstr(problems, "more lines"));
	lens_config_destroy(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(defaults_are_as_documented),
		scratch_test(every_key_is_read),
		scratch_test(the_file_beats_an_argument),
		scratch_test(bad_arguments_name_plugstack),
		scratch_test(bad_lines_name_file_and_line_and_the_rest_stands),
		cmocka_unit_test(values_out_of_bounds_are_refused),
		scratch_test(a_password_is_in_no_message),
		scratch_test(only_a_named_file_must_be_there),
		scratch_test(what_is_no_text_file_is_one_problem),
		scratch_test(many_problems_are_summed_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
