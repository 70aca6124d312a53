/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/emit.h"

#include "lib/core/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define OUTER "TRACEPARENT=00-0123456789abcdef0123456789abcdef-0123456789abcdef"

/* What was said on standard error. */
static struct lens_text said;

void emit_say(const char *format, ...)
{
	char line[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	lens_text_addf(&said, "%s\n", line);
}

static struct emit_settings read_env(const char *const *env, const struct emit_options *options)
{
	static const struct emit_options none;
	struct emit_settings settings;
	struct lens_error err = LENS_ERROR_INIT;

	lens_text_clear(&said);
	if (emit_settings_read(&settings, options ? options : &none, (char *const *)env, &err) != 0)
		fail_msg("%s", err.text);
	return settings;
}

static void where_nothing_comes_out(void **state)
{
	static const struct {
		const char *env[4];
		const char *off;
	} cases[] = {
		{ { "NEMO_LENS_ENABLED=0" }, "NEMO_LENS_ENABLED says" },
		{ { "NEMO_LENS_ENABLED=False" }, "NEMO_LENS_ENABLED says" },
		{ { "NEMO_LENS_ENABLED=0", "NEMO_LENS_EXPORTER=console" },
		  "NEMO_LENS_ENABLED says" },
		{ { "NEMO_LENS_ENABLED=1" }, "" },
		{ { "NEMO_LENS_ENABLED=" }, "" },
		{ { "OTEL_SDK_DISABLED=true", "NEMO_LENS_ENABLED=1" }, "OTEL_SDK_DISABLED" },
		{ { "OTEL_TRACES_EXPORTER=none" }, "OTEL_TRACES_EXPORTER is none" },
		{ { OUTER "-00" }, "not sampled" },
		{ { OUTER "-02" }, "not sampled" },
		{ { OUTER "-01" }, "" },
		{ { OUTER "-03" }, "" },
		{ { NULL }, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct emit_settings settings = read_env(cases[i].env, NULL);

		if ((cases[i].off[0] == '\0') != (settings.off[0] == '\0') ||
		    strstr(settings.off, cases[i].off) == NULL)
			fail_msg("%s: `%s`", cases[i].env[0], settings.off);
		emit_settings_clear(&settings);
	}
}

static void which_exporters(void **state)
{
	static const struct {
		const char *env[3];
		bool console, otlp;
	} cases[] = {
		{ { NULL }, false, true },
		{ { "NEMO_LENS_EXPORTER=console" }, true, false },
		{ { "NEMO_LENS_EXPORTER=OTLP", "OTEL_TRACES_EXPORTER=console" }, false, true },
		{ { "NEMO_LENS_EXPORTER=", "OTEL_TRACES_EXPORTER=console" }, true, false },
		{ { "OTEL_TRACES_EXPORTER=console,otlp" }, true, true },
	};
	const char *const wrong[] = { "NEMO_LENS_EXPORTER=zipkin", NULL };
	static const struct emit_options none;
	struct emit_settings settings;
	struct lens_error err = LENS_ERROR_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		settings = read_env(cases[i].env, NULL);
		assert_int_equal(settings.console, cases[i].console);
		assert_int_equal(settings.otlp, cases[i].otlp);
		emit_settings_clear(&settings);
	}
	assert_int_equal(emit_settings_read(&settings, &none, (char *const *)wrong, &err), -1);
	assert_string_equal(err.text, "NEMO_LENS_EXPORTER=zipkin: not otlp or console");
	emit_settings_clear(&settings);
}

static void which_trace(void **state)
{
	static const char *const refused[] = {
		OUTER "-1",
		OUTER "-01-x",
		"TRACEPARENT=ff-0123456789abcdef0123456789abcdef-0123456789abcdef-01",
		"TRACEPARENT=00-00000000000000000000000000000000-0123456789abcdef-01",
		"TRACEPARENT=00-0123456789ABCDEF0123456789abcdef-0123456789abcdef-01",
		"TRACEPARENT=",
		"traceparent=00-0123456789abcdef0123456789abcdef-0123456789abcdef-01",
	};
	const char *const env[] = { OUTER "-01", NULL };
	struct emit_settings settings = read_env(env, NULL);
	char hex[LENS_TRACE_HEX];

	(void)state;
	lens_trace_id_hex(hex, &settings.trace);
	assert_true(settings.has_parent);
	assert_string_equal(hex, "0123456789abcdef0123456789abcdef");
	lens_span_id_hex(hex, &settings.parent);
	assert_string_equal(hex, "0123456789abcdef");
	assert_int_equal(settings.flags, 1);
	emit_settings_clear(&settings);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		const char *const one[] = { refused[i], NULL };

		settings = read_env(one, NULL);
		lens_trace_id_hex(hex, &settings.trace);
		assert_false(settings.has_parent);
		assert_string_not_equal(hex, "0123456789abcdef0123456789abcdef");
		/* Sampled, and random in all its bits. */
		assert_int_equal(settings.flags, 3);
		emit_settings_clear(&settings);
	}
}

static void resource_is(const char *const *env, const char *service, const char *want)
{
	const struct emit_options options = { .service = service };
	struct emit_settings settings = read_env(env, &options);
	struct lens_text text = LENS_TEXT_INIT;
	char *got;

	lens_carrier_format(settings.resource, &text, NULL);
	got = lens_text_take(&text);
	assert_string_equal(got, want);
	free(got);
	emit_settings_clear(&settings);
}

static void the_resource_is_the_environments(void **state)
{
	const char *const bare[] = { "OTEL_SERVICE_NAME=", NULL };
	const char *const carried[] = { "OTEL_RESOURCE_ATTRIBUTES=service.name=c,a=b%20c", NULL };
	const char *const named[] = { "OTEL_SERVICE_NAME=v",
				      "OTEL_RESOURCE_ATTRIBUTES=service.name=c", NULL };
	/* What an identity row may not be, and what says that an SDK is at work. */
	const char *const odd[] = {
		"OTEL_RESOURCE_ATTRIBUTES=slurm.nnodes=two,slurm.ntasks=4,telemetry.sdk.name="
		"opentelemetry,telemetry.sdk.language=python,telemetry.sdk.version=1,x",
		NULL
	};

	(void)state;
	resource_is(bare, NULL, "service.name=unknown_service%3Aslurm-lens");
	resource_is(bare, "o", "service.name=o");
	resource_is(carried, NULL, "service.name=c,a=b%20c");
	resource_is(carried, "o", "service.name=o,a=b%20c");
	resource_is(named, NULL, "service.name=v");
	resource_is(named, "o", "service.name=o");
	resource_is(odd, "o", "slurm.ntasks=4,service.name=o");
}

static void the_options_timeout_wins(void **state)
{
	const struct emit_options options = { .timeout_set = true, .timeout_ms = 7 };
	const char *const env[] = { "OTEL_EXPORTER_OTLP_TIMEOUT=500", NULL };
	struct emit_settings settings = read_env(env, NULL);

	(void)state;
	assert_int_equal(settings.timeout_ms, 500);
	emit_settings_clear(&settings);
	settings = read_env(env, &options);
	assert_int_equal(settings.timeout_ms, 7);
	emit_settings_clear(&settings);
}

static void what_is_ignored_is_said(void **state)
{
	const char *const env[] = { "NEMO_LENS_ENABLED=maybe", "OTEL_EXPORTER_OTLP_PROTOCOL=udp",
				    NULL };
	struct emit_settings settings = read_env(env, NULL);

	(void)state;
	assert_non_null(strstr(said.data, "NEMO_LENS_ENABLED=maybe: not 1 or 0"));
	assert_non_null(strstr(said.data, "OTEL_EXPORTER_OTLP_PROTOCOL=udp: not grpc"));
	assert_string_equal(settings.off, "");
	emit_settings_clear(&settings);
	lens_text_clear(&said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_nothing_comes_out),
		cmocka_unit_test(which_exporters),
		cmocka_unit_test(which_trace),
		cmocka_unit_test(the_resource_is_the_environments),
		cmocka_unit_test(the_options_timeout_wins),
		cmocka_unit_test(what_is_ignored_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
