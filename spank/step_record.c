/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/step_record.h"

#include "lib/core/hash.h"
#include "lib/core/boot.h"
#include "lib/core/env.h"
#include "lib/core/number.h"
#include "lib/core/traceparent.h"
#include "spank/facts.h"

#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {
	[LENS_PLACE_BATCH] = "batch",
	[LENS_PLACE_INTERACTIVE] = "interactive",
	[LENS_PLACE_STEP] = "step",
};

/* Adds to RECORD the outer trace that the spans go into, if they do. */
static int add_outer(struct lens_carrier *record, const struct lens_launch *launch)
{
	char hex[LENS_TRACE_HEX];

	if (!launch->in_outer)
		return 0;
	lens_trace_id_hex(hex, &launch->outer.trace);
	return lens_carrier_set(record, "into", hex);
}

/* Adds to RECORD the span that the user's script opened around the srun, in the trace
 * that the job's spans go into: not the outer one itself, below which the whole job is. */
static int add_parent(struct lens_carrier *record, const struct lens_launch *launch,
		      const struct lens_trace_id *own, const struct lens_env *clean)
{
	const struct lens_trace_id *trace = launch->in_outer ? &launch->outer.trace : own;
	struct lens_traceparent parent;
	char hex[LENS_SPAN_HEX];

	if (launch->place != LENS_PLACE_STEP ||
	    lens_traceparent_parse(&parent, lens_env_value(clean, "TRACEPARENT")) ||
	    memcmp(&parent.trace, trace, sizeof(*trace)) != 0)
		return 0;
	if (launch->in_outer && memcmp(&parent.span, &launch->outer.span, sizeof(parent.span)) == 0)
		return 0;
	lens_span_id_hex(hex, &parent.span);
	return lens_carrier_set(record, "parent", hex);
}

/* Those that the mark of each of TASKS tasks needs, once instead of in each. */
static void fingerprints_take(const struct lens_carrier *resource, uint32_t tasks)
{
	static const char *const words[] = { "0", "1", "all_ranks" };
	char number[LENS_INT64_TEXT], print[LENS_FINGERPRINT_TEXT];

	for (size_t i = 0; i < lens_carrier_count(resource); i++)
		lens_fingerprint(print, lens_carrier_value(resource, i));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		lens_fingerprint(print, words[i]);
	lens_int64_format(number, tasks);
	lens_fingerprint(print, number);
}

/* RESOURCE, which may be NULL for want of memory, as the record's. */
static int add_resource(struct lens_carrier *record, const struct lens_carrier *resource)
{
	struct lens_text text = LENS_TEXT_INIT;
	int rc = -1;

	if (!resource)
		return -1;
	lens_carrier_format(resource, &text, NULL);
	if (!text.failed)
		rc = lens_carrier_set(record, "resource", text.data ? text.data : "");
	lens_text_clear(&text);
	return rc;
}

/* The node's number in the step, for one whose tasks come to nothing. A het component other than the
 * first does not know how many nodes are before its own. */
static int add_nodeid(spank_t sp, struct lens_carrier *record, const struct lens_launch *launch)
{
	uint32_t nodeid;

	if (launch->place != LENS_PLACE_STEP || launch->job != launch->leader ||
	    lens_facts_nodeid(sp, &nodeid))
		return 0;
	return lens_carrier_set_number(record, "nodeid", nodeid);
}

/* What the note would have told the agent. */
static int add_unnoted(struct lens_carrier *record, const struct lens_step *step)
{
	const char *outer = step->word.outer;

	if (lens_carrier_set(record, "inferred", "1") ||
	    (!step->guessed && lens_carrier_set(record, "known", "1")))
		return -1;
	if (!outer || !*outer)
		return 0;
	if (lens_carrier_set(record, "outer", outer))
		return -1;
	return step->word.in_outer ? lens_carrier_set(record, "inouter", "1") : 0;
}

/* As accounting names it: the command's last part, `batch`, `interactive`. */
static const char *step_name(spank_t sp, enum lens_place place)
{
	char *const *argv;
	const char *command = lens_facts_argv(sp, &argv) > 0 ? argv[0] : NULL;
	const char *slash = command ? strrchr(command, '/') : NULL;

	if (place != LENS_PLACE_STEP)
		return kinds[place];
	return slash ? slash + 1 : command;
}

int lens_step_record_open(spank_t sp, struct lens_carrier *record, const struct lens_step *step,
			  const struct lens_config *config, const struct lens_env *clean)
{
	const struct lens_launch *launch = &step->launch;
	const uint32_t tasks = lens_facts_tasks(sp, launch->step);
	struct lens_carrier *resource;
	struct lens_trace_id trace;
	char hex[LENS_TRACE_HEX];
	char boot[LENS_BOOT_ID];
	int rc;

	if (lens_launch_trace(&trace, launch, config->realm))
		return -1;
	lens_trace_id_hex(hex, &trace);
	if (lens_carrier_set_number(record, "job", launch->job) ||
	    lens_carrier_set_number(record, "leader", launch->leader) ||
	    lens_carrier_set_number(record, "attempt", launch->attempt) ||
	    lens_carrier_set(record, "cluster", launch->cluster) ||
	    lens_carrier_set(record, "node", getenv("SLURMD_NODENAME")) ||
	    lens_carrier_set_number(record, "step", launch->step) ||
	    lens_carrier_set(record, "kind", kinds[launch->place]) ||
	    lens_carrier_publish(record, "name", step_name(sp, launch->place)) ||
	    lens_carrier_set_number(record, "tasks", tasks) ||
	    lens_carrier_set(record, "trace", hex) || add_nodeid(sp, record, launch) ||
	    (!step->noted && add_unnoted(record, step)) ||
	    (lens_boot_id_get(boot) == 0 && lens_carrier_set(record, "boot", boot)) ||
	    add_outer(record, launch) || add_parent(record, launch, &trace, clean))
		return -1;
	resource = lens_launch_resource(clean, launch, config, &step->settings);
	rc = add_resource(record, resource);
	if (rc == 0)
		fingerprints_take(resource, tasks);
	lens_carrier_destroy(resource);
	return rc;
}

int lens_step_record_amend(struct lens_carrier *record, const struct lens_step *step,
			   const struct lens_config *config, const struct lens_env *clean)
{
	struct lens_carrier *resource;
	struct lens_trace_id trace;
	char hex[LENS_TRACE_HEX];
	int rc;

	if (lens_launch_trace(&trace, &step->launch, config->realm))
		return -1;
	lens_trace_id_hex(hex, &trace);
	if (lens_carrier_set_number(record, "attempt", step->launch.attempt) ||
	    lens_carrier_set(record, "trace", hex))
		return -1;
	resource = lens_launch_resource(clean, &step->launch, config, &step->settings);
	rc = add_resource(record, resource);
	lens_carrier_destroy(resource);
	return rc;
}
