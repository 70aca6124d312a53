/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/inject.h"

#include "lib/core/mark.h"
#include "lib/core/number.h"
#include "lib/core/resource.h"
#include "lib/core/traceparent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Slurm refuses, while answering success, a variable whose name, value and two bytes reach
 * this (src/common/env.c setenvf; the kernel's limit of one string of an exec is the same). */
#define SLURM_VARIABLE_LIMIT 131072

#define TRACE_FLAGS_SAMPLED 0x01

/* One injection at work: what goes in, and the environment and mark that grow. */
struct work {
	const struct lens_launch *launch;
	const struct lens_rank *rank;
	const struct lens_config *config;
	const struct lens_settings *settings;
	lens_config_problem_fn *problem;
	void *context;
	struct lens_env *env;     /* clean at first */
	struct lens_carrier *own; /* the user's carrier */
	struct lens_mark *mark;   /* the mark to leave */
	struct lens_text run_id;
	struct lens_trace_id trace;
	bool exports;
};

static void say(const struct work *work, const char *text)
{
	if (work->problem)
		work->problem(work->context, text);
}

static bool fits(const char *name, const char *value)
{
	return strlen(name) + strlen(value) + 2 < SLURM_VARIABLE_LIMIT;
}

/* Sets, or with a NULL VALUE takes out, NAME, and leaves word of it in the mark. */
static int set_variable(struct work *work, const char *name, const char *value)
{
	const char *own = lens_env_value(work->env, name);

	if (own == value || (own && value && strcmp(own, value) == 0))
		return 0;
	if ((own && lens_mark_keep_variable(work->mark, name, own)) ||
	    lens_mark_add_variable(work->mark, name, value))
		return -1;
	return lens_env_set(work->env, name, value);
}

/* What lens would have the carrier say, before the user's own values. */
static struct lens_carrier *derive_attributes(const struct work *work)
{
	struct lens_env *truth = lens_launch_truth(work->env, work->launch);
	struct lens_carrier *attributes = NULL;

	if (!truth)
		return NULL;
	attributes = lens_launch_attributes(truth, work->launch, work->config, work->run_id.data);
	lens_env_destroy(truth);
	if (!attributes)
		return NULL;
	if ((lens_launch_has_ranks(work->launch) &&
	     lens_launch_rank_attributes(attributes, work->rank, work->run_id.data)) ||
	    (*work->config->task_service_name &&
	     !lens_env_value_nonempty(work->env, "OTEL_SERVICE_NAME") &&
	     lens_carrier_publish(attributes, "service.name", work->config->task_service_name))) {
		lens_carrier_destroy(attributes);
		return NULL;
	}
	return attributes;
}

/* Leaves word in the mark of each key of COMPOSED that is not as USER, the carrier, had it. */
static int mark_keys(struct work *work, const struct lens_carrier *composed,
		     const struct lens_carrier *user)
{
	for (size_t i = 0; i < lens_carrier_count(composed); i++) {
		const char *key = lens_carrier_key(composed, i);
		const char *value = lens_carrier_value(composed, i);
		const char *had = lens_carrier_get(user, key);

		if (had && strcmp(had, value) == 0)
			continue;
		if ((had && lens_mark_keep_key(work->mark, key, had)) ||
		    lens_mark_add_key(work->mark, key, value))
			return -1;
	}
	return 0;
}

static void say_dropped(const struct work *work, const struct lens_carrier_report *report)
{
	char text[256];

	if (report->dropped == 0)
		return;
	snprintf(text, sizeof(text),
		 LENS_ATTRIBUTES_NAME
		 ": %zu malformed entr%s left out, the first is `%s`; use key=value,key=value",
		 report->dropped, report->dropped == 1 ? "y" : "ies", report->first);
	say(work, text);
}

/* Writes COMPOSED as the carrier, if Slurm takes a variable of that size. */
static int write_attributes(struct work *work, const struct lens_carrier *composed,
			    const struct lens_carrier *user, struct lens_carrier_report *report)
{
	struct lens_text text = LENS_TEXT_INIT;
	int rc = -1;

	lens_carrier_format(composed, &text, report);
	if (text.failed)
		goto out;
	if (text.length && !fits(LENS_ATTRIBUTES_NAME, text.data)) {
		say(work, LENS_ATTRIBUTES_NAME
		    ": the user's attributes leave no room below Slurm's limit of 128 KiB; left as they were");
		rc = 0;
		goto out;
	}
	if (mark_keys(work, composed, user))
		goto out;
	rc = lens_env_set(work->env, LENS_ATTRIBUTES_NAME, text.length ? text.data : NULL);
out:
	lens_text_clear(&text);
	return rc;
}

/* What an option, or a variable beside the carrier, chose over the user's carrier. NULL: no
 * memory. */
static struct lens_carrier *chosen_attributes(const struct work *work)
{
	const struct lens_settings *settings = work->settings;
	struct lens_carrier *chosen = lens_carrier_create();

	if (!chosen || lens_carrier_parse(chosen, settings->attributes, NULL) ||
	    lens_carrier_publish(chosen, "service.name", settings->service) ||
	    lens_carrier_publish(chosen, "nemo.user.id", settings->user) ||
	    /* Whoever chose it: key and variable say the same. */
	    lens_carrier_set(chosen, "nemo.run.id", work->run_id.data)) {
		lens_carrier_destroy(chosen);
		return NULL;
	}
	return chosen;
}

static int inject_attributes(struct work *work)
{
	struct lens_carrier_report report = { 0 };
	struct lens_carrier *user = lens_carrier_create();
	struct lens_carrier *derived = NULL, *overrides = NULL;
	int rc = -1;

	if (!user ||
	    lens_carrier_parse(user, lens_env_value(work->env, LENS_ATTRIBUTES_NAME), &report))
		goto out;
	derived = derive_attributes(work);
	overrides = chosen_attributes(work);
	if (!derived || !overrides)
		goto out;
	if (lens_carrier_merge(derived, work->own) || lens_carrier_merge(derived, overrides) ||
	    write_attributes(work, derived, user, &report))
		goto out;
	say_dropped(work, &report);
	rc = 0;
out:
	lens_carrier_destroy(user);
	lens_carrier_destroy(derived);
	lens_carrier_destroy(overrides);
	return rc;
}

static int inject_trace(struct work *work)
{
	const struct lens_launch *launch = work->launch;
	struct lens_traceparent parent = { .trace = work->trace, .flags = TRACE_FLAGS_SAMPLED };
	char text[LENS_TRACEPARENT_TEXT];
	char span[LENS_SPAN_HEX];

	if (lens_launch_span(&parent.span, launch, &work->trace, work->rank, work->exports))
		return -1;
	if (launch->in_outer) {
		parent.trace = launch->outer.trace;
		parent.flags = launch->outer.flags;
	}
	lens_traceparent_format(text, &parent);
	lens_span_id_hex(span, &parent.span);
	if (set_variable(work, "TRACEPARENT", text) || lens_mark_set_fact(work->mark, "span", span))
		return -1;
	/* A trace state belongs to the trace that it came with (W3C Trace Context). */
	return launch->in_outer ? 0 : set_variable(work, "TRACESTATE", NULL);
}

/* Where to export to: what the option chose, else the site's place where the user has none. */
static int inject_endpoint(struct work *work)
{
	static const char endpoint[] = "OTEL_EXPORTER_OTLP_ENDPOINT";
	static const char protocol[] = "OTEL_EXPORTER_OTLP_PROTOCOL";
	const struct lens_env *env = work->env;
	enum lens_protocol agent;

	if (work->settings->endpoint)
		return set_variable(work, endpoint, work->settings->endpoint);
	if (!*work->config->task_endpoint || lens_env_value_nonempty(env, endpoint))
		return 0;
	if (set_variable(work, endpoint, work->config->task_endpoint))
		return -1;
	if (lens_env_value_nonempty(env, protocol))
		return 0;
	agent = lens_config_protocol(work->config);
	return set_variable(work, protocol,
			    lens_protocol_name(agent == LENS_PROTOCOL_FILE
						       ? LENS_PROTOCOL_HTTP_PROTOBUF
						       : agent));
}

/* Where no task is a rank, in a launcher or in a batch script that may start one, the library
 * chooses in each rank. An inner srun would resolve to the same, so that a user who exports that very
 * value in the script loses nothing by it being taken for lens's. */
static int pass_strategy_on(struct work *work)
{
	const struct lens_strategy_choice *choice = &work->settings->strategy;
	char rank[24], rate[LENS_RATE_TEXT];

	snprintf(rank, sizeof(rank), "%lld", (long long)choice->rank);
	lens_rate_format(rate, choice->rate);
	return set_variable(work, "NEMO_LENS_EXPORT_STRATEGY",
			    lens_strategy_name(choice->strategy)) ||
			       set_variable(work, "NEMO_LENS_EXPORT_RANK", rank) ||
			       set_variable(work, "NEMO_LENS_EXPORT_SAMPLE_RATE", rate)
		       ? -1
		       : 0;
}

/* Whether the task exports, in the words of the library and, with Gate=otel, of the SDK. */
static int inject_export(struct work *work)
{
	if (set_variable(work, "NEMO_LENS_ENABLED", work->exports ? "1" : "0"))
		return -1;
	if (!work->exports && work->config->gate == LENS_GATE_OTEL &&
	    !lens_env_value_nonempty(work->env, "OTEL_SDK_DISABLED") &&
	    set_variable(work, "OTEL_SDK_DISABLED", "true"))
		return -1;
	if (!lens_launch_has_ranks(work->launch))
		return pass_strategy_on(work);
	/* A library with strategies of its own must not decide a second time, on another
	 * idea of rank. */
	return set_variable(work, "NEMO_LENS_EXPORT_STRATEGY", "all_ranks");
}

static int inject_variables(struct work *work)
{
	const struct lens_settings *settings = work->settings;
	const char *sluid = work->launch->sluid;

	if (inject_export(work) || set_variable(work, "NEMO_LENS_RUN_ID", work->run_id.data) ||
	    (settings->user && set_variable(work, "NEMO_LENS_USER_ID", settings->user)) ||
	    (settings->service && set_variable(work, "OTEL_SERVICE_NAME", settings->service)) ||
	    (settings->span_groups &&
	     set_variable(work, "NEMO_LENS_SPAN_GROUPS", settings->span_groups)) ||
	    (sluid && *sluid && set_variable(work, "LENS_SLURM_SLUID", sluid)))
		return -1;
	return inject_endpoint(work);
}

/* What only this level knows goes into the mark for the levels inside. */
static int note_facts(struct work *work)
{
	const struct lens_launch *launch = work->launch;
	const struct lens_env *env = work->env;
	const char *job = lens_env_value_nonempty(env, "SLURM_ARRAY_JOB_ID");
	const char *task = lens_env_value_nonempty(env, "SLURM_ARRAY_TASK_ID");
	const char *head = launch->head_node;
	char array[64] = "no";
	char outer[LENS_TRACEPARENT_TEXT];

	if (!head && launch->place != LENS_PLACE_STEP)
		head = lens_env_value_nonempty(env, "SLURMD_NODENAME");
	if (launch->array && job && task)
		snprintf(array, sizeof(array), "%.24s_%.24s", job, task);
	lens_traceparent_format(outer, &launch->outer);
	if (launch->in_outer && lens_mark_set_fact(work->mark, "outer", outer))
		return -1;
	return lens_mark_set_fact(work->mark, "head", head) ||
			       lens_mark_set_fact(work->mark, "array", array)
		       ? -1
		       : 0;
}

static int leave_mark(struct work *work)
{
	char *text = lens_mark_format(work->mark);
	int rc = -1;

	if (!text)
		return -1;
	if (fits(LENS_MARK_NAME, text)) {
		rc = lens_env_set(work->env, LENS_MARK_NAME, text);
	} else {
		say(work, LENS_MARK_NAME
		    ": too long for an environment variable; steps inside this one take lens's values for the user's");
		rc = 0;
	}
	free(text);
	return rc;
}

static void decide_export(struct work *work)
{
	const struct lens_strategy_choice *choice = &work->settings->strategy;
	char text[160];

	if (!lens_launch_has_ranks(work->launch)) {
		work->exports = true;
		return;
	}
	work->exports = lens_strategy_exports(choice, work->rank->rank, work->rank->world,
					      work->rank->local);
	if (choice->strategy == LENS_STRATEGY_SINGLE_RANK && choice->rank >= work->rank->world) {
		snprintf(
			text, sizeof(text),
			"single_rank: rank %lld is outside the step's %u ranks, so no rank exports",
			(long long)choice->rank, work->rank->world);
		say(work, text);
	}
}

static int inject(struct work *work)
{
	const struct lens_launch *launch = work->launch;

	work->own = lens_carrier_create();
	work->mark = lens_mark_create(launch->leader, launch->attempt);
	if (!work->own || !work->mark ||
	    lens_carrier_parse(work->own, lens_env_value(work->env, LENS_ATTRIBUTES_NAME), NULL))
		return -1;
	lens_resource_normalise(work->own);
	if (lens_launch_trace(&work->trace, launch, work->config->realm) ||
	    lens_launch_run_id(&work->run_id, launch, work->settings, work->own))
		return -1;
	decide_export(work);
	return inject_attributes(work) || inject_variables(work) || inject_trace(work) ||
			       note_facts(work) || leave_mark(work)
		       ? -1
		       : 0;
}

int lens_inject(struct lens_injection *out, struct lens_env *clean,
		const struct lens_launch *launch, const struct lens_rank *rank,
		const struct lens_config *config, const struct lens_settings *settings,
		lens_config_problem_fn *problem, void *context)
{
	struct work work = {
		.launch = launch,
		.rank = rank,
		.config = config,
		.settings = settings,
		.problem = problem,
		.context = context,
		.env = clean,
	};
	int rc = -1;

	*out = (struct lens_injection){ 0 };
	if (settings->inject && inject(&work))
		goto out;
	out->env = work.env;
	out->exports = work.exports;
	work.env = NULL;
	rc = 0;
out:
	lens_env_destroy(work.env);
	lens_carrier_destroy(work.own);
	lens_mark_destroy(work.mark);
	lens_text_clear(&work.run_id);
	return rc;
}
