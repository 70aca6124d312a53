/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/optin.h"

#include "lib/core/carrier.h"
#include "lib/core/traceparent.h"
#include "spank/log.h"

#include <stdlib.h>
#include <string.h>

#define OPTIN_VERSION "1"

static int fill(struct lens_carrier *word, const struct lens_settings *settings, const char *outer)
{
	struct lens_traceparent parsed;
	char canonical[LENS_TRACEPARENT_TEXT];

	if (lens_carrier_set(word, "v", OPTIN_VERSION))
		return -1;
	if (settings->outer == LENS_OUTER_OFF || lens_traceparent_parse(&parsed, outer))
		return 0;
	lens_traceparent_format(canonical, &parsed);
	if (lens_carrier_set(word, "outer", canonical))
		return -1;
	return settings->outer == LENS_OUTER_PARENT ? lens_carrier_set(word, "inouter", "1") : 0;
}

void lens_optin_hand_on(spank_t sp, const struct lens_settings *settings, const char *outer)
{
	struct lens_carrier *word = lens_carrier_create();
	struct lens_text text = LENS_TEXT_INIT;

	if (word && fill(word, settings, outer) == 0)
		lens_carrier_format(word, &text, NULL);
	if (!text.length || text.failed ||
	    spank_job_control_setenv(sp, "LENS", text.data, 1) != ESPANK_SUCCESS)
		lens_log(
			"warning: Slurm did not take word of --lens for the job's prolog; its first node tells of it when a step starts");
	lens_text_clear(&text);
	lens_carrier_destroy(word);
}

static bool site_makes_spans(const struct lens_config *config, bool opted_in)
{
	if (config->job_spans != LENS_WHEN_OPTIN)
		return config->job_spans == LENS_WHEN_ALWAYS;
	return opted_in && config->inject != LENS_WHEN_NEVER;
}

int lens_optin_read(struct lens_note *note, const struct lens_config *config)
{
	struct lens_carrier *word = lens_carrier_create();
	const char *version, *outer, *in_outer;
	struct lens_traceparent parsed;
	char canonical[LENS_TRACEPARENT_TEXT] = "";
	int rc = -1;

	if (!word || lens_carrier_parse(word, getenv("SPANK_LENS"), NULL))
		goto out;
	version = lens_carrier_get(word, "v");
	outer = lens_carrier_get(word, "outer");
	in_outer = lens_carrier_get(word, "inouter");
	note->lens = site_makes_spans(config, version && strcmp(version, OPTIN_VERSION) == 0);
	if (outer && lens_traceparent_parse(&parsed, outer) == 0) {
		lens_traceparent_format(canonical, &parsed);
		note->in_outer = in_outer && strcmp(in_outer, "1") == 0;
	}
	note->outer = strdup(canonical);
	rc = note->outer ? 0 : -1;
out:
	lens_carrier_destroy(word);
	return rc;
}
