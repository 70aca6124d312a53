/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/emit.h"

#include "lib/core/env.h"
#include "lib/core/number.h"
#include "lib/core/random_id.h"
#include "lib/core/resource.h"
#include "lib/core/show.h"
#include "lib/core/traceparent.h"

#include <string.h>
#include <strings.h>

#define FLAG_SAMPLED 0x01
#define FLAG_RANDOM  0x02

/* No resource detection is done here, and no SDK is at work: what says otherwise is not ours to
 * repeat. */
static const char *const sdk_keys[] = {
	"telemetry.sdk.name",
	"telemetry.sdk.language",
	"telemetry.sdk.version",
};

static void problem_say(void *context, const char *text)
{
	(void)context;
	emit_say("%s", text);
}

static int exporter_choose(struct emit_settings *out, char *const *env, struct lens_error *err)
{
	const char *exporter = lens_env_get_nonempty(env, "NEMO_LENS_EXPORTER");
	struct lens_shown shown;

	out->console = out->otel.console;
	out->otlp = out->otel.otlp;
	if (exporter == NULL)
		return 0;
	out->console = strcasecmp(exporter, "console") == 0;
	out->otlp = strcasecmp(exporter, "otlp") == 0;
	return out->console || out->otlp
		       ? 0
		       : lens_error_set(err, "NEMO_LENS_EXPORTER=%s: not otlp or console",
					lens_shown_value(&shown, exporter));
}

static void off_find(struct emit_settings *out, char *const *env)
{
	const char *text = lens_env_get_nonempty(env, "NEMO_LENS_ENABLED");
	const char *why = NULL;
	struct lens_shown shown;
	bool enabled = true;

	if (text != NULL && lens_bool_parse(text, &enabled) == -1)
		emit_say("NEMO_LENS_ENABLED=%s: not 1 or 0, true or false, yes or no, on or off; "
			 "ignored",
			 lens_shown_value(&shown, text));
	if (!enabled)
		why = "NEMO_LENS_ENABLED says that this process does not export";
	else if (out->otel.disabled)
		why = "OTEL_SDK_DISABLED is true";
	else if (!out->console && !out->otlp)
		why = "OTEL_TRACES_EXPORTER is none";
	else if (out->has_parent && (out->flags & FLAG_SAMPLED) == 0)
		why = "the trace of TRACEPARENT is not sampled";
	if (why != NULL)
		snprintf(out->off, sizeof(out->off), "%s", why);
}

/* Another TRACEPARENT than a valid one counts as none (W3C Trace Context). */
static int trace_choose(struct emit_settings *out, char *const *env, struct lens_error *err)
{
	struct lens_traceparent outer;

	if (lens_traceparent_parse(&outer, lens_env_get(env, "TRACEPARENT")) == 0) {
		out->trace = outer.trace;
		out->parent = outer.span;
		out->flags = outer.flags & (FLAG_SAMPLED | FLAG_RANDOM);
		out->has_parent = true;
		return 0;
	}
	out->flags = FLAG_SAMPLED | FLAG_RANDOM;
	return lens_trace_id_random(&out->trace) == 0
		       ? 0
		       : lens_error_set(err, "no random numbers: %m");
}

static int resource_read(struct emit_settings *out, const char *service, char *const *env)
{
	const char *named = lens_env_get_nonempty(env, "OTEL_SERVICE_NAME");

	out->resource = lens_carrier_create();
	if (out->resource == NULL ||
	    lens_carrier_parse(out->resource, lens_env_get(env, LENS_ATTRIBUTES_NAME), NULL) == -1)
		return -1;
	lens_resource_normalise(out->resource);
	for (size_t i = 0; i < sizeof(sdk_keys) / sizeof(sdk_keys[0]); i++)
		lens_carrier_remove(out->resource, sdk_keys[i]);
	if (service == NULL)
		service = named;
	if (service == NULL && lens_carrier_get(out->resource, "service.name") == NULL)
		service = "unknown_service:slurm-lens";
	return lens_carrier_set(out->resource, "service.name", service);
}

int emit_settings_read(struct emit_settings *out, const struct emit_options *options,
		       char *const *env, struct lens_error *err)
{
	*out = (struct emit_settings){ 0 };
	if (lens_otel_environment_read(&out->otel, env, problem_say, NULL) == -1 ||
	    resource_read(out, options->service, env) == -1)
		return lens_error_set(err, "out of memory");
	if (exporter_choose(out, env, err) == -1 || trace_choose(out, env, err) == -1)
		return -1;
	out->timeout_ms = options->timeout_set ? options->timeout_ms : out->otel.timeout_ms;
	off_find(out, env);
	return 0;
}

void emit_settings_clear(struct emit_settings *settings)
{
	lens_otel_environment_clear(&settings->otel);
	lens_carrier_destroy(settings->resource);
	settings->resource = NULL;
}
