/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/optin.h"

#include "lib/core/carrier.h"
#include "lib/core/env.h"
#include "lib/core/traceparent.h"
#include "spank/log.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPTIN_VERSION "1"

static int fill(struct lens_carrier *word, const char *outer, bool into)
{
	struct lens_traceparent parsed;
	char canonical[LENS_TRACEPARENT_TEXT];

	if (lens_carrier_set(word, "v", OPTIN_VERSION))
		return -1;
	if (lens_traceparent_parse(&parsed, outer))
		return 0;
	lens_traceparent_format(canonical, &parsed);
	if (lens_carrier_set(word, "outer", canonical))
		return -1;
	return into ? lens_carrier_set(word, "inouter", "1") : 0;
}

static void hand_on(spank_t sp, const char *outer, bool into)
{
	struct lens_carrier *word = lens_carrier_create();
	struct lens_text text = LENS_TEXT_INIT;

	if (word && fill(word, outer, into) == 0)
		lens_carrier_format(word, &text, NULL);
	if (!text.length || text.failed ||
	    spank_job_control_setenv(sp, "LENS", text.data, 1) != ESPANK_SUCCESS)
		lens_log(
			"warning: Slurm did not take word of --lens for the job's prolog; its first node tells of it when a step starts");
	lens_text_clear(&text);
	lens_carrier_destroy(word);
}

void lens_optin_hand_on(spank_t sp, const struct lens_settings *settings, const char *outer)
{
	hand_on(sp, settings->outer == LENS_OUTER_OFF ? NULL : outer,
		settings->outer == LENS_OUTER_PARENT);
}

void lens_optin_pass_on(spank_t sp)
{
	struct lens_note word = { 0 };

	/* Out of memory it is still lens's job. */
	lens_optin_recall(&word, environ);
	hand_on(sp, word.outer, word.in_outer);
	lens_note_clear(&word);
}

static bool site_makes_spans(const struct lens_config *config, bool opted_in)
{
	if (config->job_spans != LENS_WHEN_OPTIN)
		return config->job_spans == LENS_WHEN_ALWAYS;
	return opted_in && config->inject != LENS_WHEN_NEVER;
}

/* Reads WORD (NULL: there is none) into outer and in_outer of NOTE; *KNOWN: it is one of this
 * version. 0, or -1 when memory ran out. */
static int word_read(struct lens_note *note, const char *text, bool *known)
{
	struct lens_carrier *word = lens_carrier_create();
	const char *version, *outer, *in_outer;
	struct lens_traceparent parsed;
	char canonical[LENS_TRACEPARENT_TEXT] = "";
	int rc = -1;

	*known = false;
	if (!word || lens_carrier_parse(word, text, NULL))
		goto out;
	version = lens_carrier_get(word, "v");
	outer = lens_carrier_get(word, "outer");
	in_outer = lens_carrier_get(word, "inouter");
	*known = version && strcmp(version, OPTIN_VERSION) == 0;
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

int lens_optin_read(struct lens_note *note, const struct lens_config *config)
{
	bool known;

	if (word_read(note, getenv("SPANK_LENS"), &known))
		return -1;
	note->lens = site_makes_spans(config, known);
	return 0;
}

int lens_optin_recall(struct lens_note *note, char *const *env)
{
	bool known;

	return word_read(note, lens_env_get(env, "SLURM_SPANK_LENS"), &known);
}
