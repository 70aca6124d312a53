/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_UNIT_INJECT_SAMPLE_H
#define LENS_TESTS_UNIT_INJECT_SAMPLE_H

#include "lib/core/inject.h"
#include "lib/core/mark.h"
#include "lib/core/options.h"

#include <stdio.h>

#include "tests/unit/environment.h"

/* A site, a user's options, and what came of the last injection. */
struct sample {
	struct lens_config *config;
	struct lens_options options;
	bool exports;
	unsigned int problems;
	char problem[512]; /* the last one */
};

static inline int sample_setup(void **state)
{
	struct sample *sample = calloc(1, sizeof(*sample));

	if (!sample)
		return -1;
	sample->config = lens_config_create();
	lens_options_init(&sample->options);
	*state = sample;
	return sample->config && lens_options_set(&sample->options, "lens", "on", NULL) == 0 ? 0
											     : -1;
}

static inline int sample_teardown(void **state)
{
	struct sample *sample = *state;

	lens_options_clear(&sample->options);
	lens_config_destroy(sample->config);
	free(sample);
	return 0;
}

#define sample_test(function) \
	cmocka_unit_test_setup_teardown(function, sample_setup, sample_teardown)

static inline void sample_option(struct sample *sample, const char *name, const char *value)
{
	struct lens_error err = LENS_ERROR_INIT;

	if (lens_options_set(&sample->options, name, value, &err))
		fail_msg("%s", err.text);
}

static inline void sample_key(struct sample *sample, const char *key, const char *value)
{
	struct lens_error err = LENS_ERROR_INIT;

	if (lens_config_set(sample->config, key, value, &err))
		fail_msg("%s", err.text);
}

static inline void sample_problem(void *context, const char *text)
{
	struct sample *sample = context;

	sample->problems++;
	snprintf(sample->problem, sizeof(sample->problem), "%s", text);
}

/* What lens may touch; nothing that Slurm or a launcher reads. */
static inline bool may_change(const char *string)
{
	static const char *const names[] = {
		"OTEL_RESOURCE_ATTRIBUTES=",
		"NEMO_LENS_",
		"TRACEPARENT=",
		"TRACESTATE=",
		"LENS_SLURM_SLUID=",
		"SLURM_LENS_MARK=",
		"OTEL_EXPORTER_OTLP_ENDPOINT=",
		"OTEL_EXPORTER_OTLP_PROTOCOL=",
		"OTEL_SERVICE_NAME=",
		"OTEL_SDK_DISABLED=",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(string, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static inline bool has_string(char *const *env, const char *string)
{
	for (; *env; env++)
		if (strcmp(*env, string) == 0)
			return true;
	return false;
}

/* AFTER has what BEFORE has, but for lens's own, and a carrier that each reader takes. */
static inline void check_injected(char *const *before, char *const *after)
{
	const char *carrier = lens_env_get(after, LENS_ATTRIBUTES_NAME);
	size_t length = carrier ? strlen(carrier) : 0;

	for (char *const *string = before; *string; string++)
		if (!may_change(*string) && !has_string(after, *string))
			fail_msg("`%s` was changed", *string);
	for (char *const *string = after; *string; string++)
		if (!may_change(*string) && !has_string(before, *string))
			fail_msg("`%s` was added", *string);
	if (length == 0)
		return;
	if (carrier[0] == ',' || carrier[length - 1] == ',' || strstr(carrier, ",,"))
		fail_msg("an empty entry in `%.300s`", carrier);
}

/*
 * What slurmstepd does for a task: the settings are read from the environment without lens's
 * own, then the task is told. A NULL RANK is no rank. The caller destroys.
 */
static inline struct lens_env *sample_tell(struct sample *sample, const struct lens_env *env,
					   const struct lens_launch *launch,
					   const struct lens_rank *rank)
{
	static const struct lens_rank none = { .world = 1 };
	struct lens_settings settings;
	struct lens_injection out;
	struct lens_env *clean = lens_mark_clean(lens_env_array(env), launch->leader, NULL);

	assert_non_null(clean);
	sample->problems = 0;
	assert_int_equal(lens_settings_resolve(&settings, &sample->options, lens_env_array(clean),
					       sample->config, sample_problem, sample),
			 0);
	assert_int_equal(lens_inject(&out, clean, launch, rank ? rank : &none, sample->config,
				     &settings, sample_problem, sample),
			 0);
	sample->exports = out.exports;
	check_injected(lens_env_array(env), lens_env_array(out.env));
	lens_settings_clear(&settings);
	return environment_keep(out.env);
}

/* The plain job 100 on cluster `mini`, first attempt, in its batch script. */
static inline struct lens_launch batch_launch(uint32_t job)
{
	return (struct lens_launch){ .job = job, .leader = job, .cluster = "mini", .host = "h" };
}

static inline struct lens_launch step_launch(uint32_t job, uint32_t step)
{
	struct lens_launch launch = batch_launch(job);

	launch.place = LENS_PLACE_STEP;
	launch.step = step;
	return launch;
}

static inline void expect_span(struct lens_env *env, const struct lens_launch *launch,
			       const char *realm, const char *name, const char *place, int line)
{
	struct lens_traceparent parent = { .flags = 1 };
	char text[LENS_TRACEPARENT_TEXT];

	assert_int_equal(lens_trace_id_derive(&parent.trace, realm, launch->cluster, launch->leader,
					      launch->attempt),
			 0);
	assert_int_equal(lens_span_id_derive(&parent.span, &parent.trace, name, place), 0);
	lens_traceparent_format(text, &parent);
	expect_text("TRACEPARENT", lens_env_get(lens_env_array(env), "TRACEPARENT"), text, line);
}

/* TRACEPARENT names the span NAME at PLACE of LAUNCH's job. */
#define assert_span(env, launch, name, place) expect_span(env, launch, "", name, place, __LINE__)

#endif
