/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/mark.h"

#include "lib/core/hash.h"
#include "lib/core/number.h"
#include "lib/core/resource.h"

#include <stdlib.h>
#include <string.h>

#define MARK_VERSION "1"

/* What stands before a name in the mark's line. */
#define SET_VARIABLE "s."
#define SET_KEY      "k."
#define OWN_VARIABLE "u."
#define OWN_KEY      "o."

/* Stands for the fingerprint of a variable that lens took out. */
#define TAKEN_OUT "-"

/* The last key: a line without it was cut, and would give lens's values to the user. */
#define END "end"

struct lens_mark {
	struct lens_carrier *line;
	struct lens_text key; /* the last one asked for: prefix and name */
	uint32_t job;
	uint32_t attempt;
};

static struct lens_mark *mark_alloc(void)
{
	struct lens_mark *mark = calloc(1, sizeof(*mark));

	if (!mark)
		return NULL;
	mark->line = lens_carrier_create();
	if (!mark->line) {
		free(mark);
		return NULL;
	}
	return mark;
}

struct lens_mark *lens_mark_create(uint32_t job, uint32_t attempt)
{
	struct lens_mark *mark = mark_alloc();

	if (!mark)
		return NULL;
	mark->job = job;
	mark->attempt = attempt;
	if (lens_carrier_set(mark->line, "v", MARK_VERSION) ||
	    lens_carrier_set_number(mark->line, "job", job) ||
	    lens_carrier_set_number(mark->line, "attempt", attempt)) {
		lens_mark_destroy(mark);
		return NULL;
	}
	return mark;
}

void lens_mark_destroy(struct lens_mark *mark)
{
	if (!mark)
		return;
	lens_text_clear(&mark->key);
	lens_carrier_destroy(mark->line);
	free(mark);
}

struct lens_mark *lens_mark_parse(const char *text)
{
	struct lens_mark *mark;
	const char *version;

	if (!text || !*text)
		return NULL;
	mark = mark_alloc();
	if (!mark)
		return NULL;
	if (lens_carrier_parse(mark->line, text, NULL))
		goto out;
	version = lens_carrier_get(mark->line, "v");
	if (version && strcmp(version, MARK_VERSION) == 0 &&
	    lens_uint32_parse(lens_carrier_get(mark->line, "job"), &mark->job) == 0 &&
	    lens_uint32_parse(lens_carrier_get(mark->line, "attempt"), &mark->attempt) == 0 &&
	    lens_carrier_remove(mark->line, END))
		return mark;
out:
	lens_mark_destroy(mark);
	return NULL;
}

char *lens_mark_format(const struct lens_mark *mark)
{
	struct lens_text text = LENS_TEXT_INIT;

	lens_carrier_format(mark->line, &text, NULL);
	lens_text_adds(&text, "," END "=");
	return lens_text_take(&text);
}

uint32_t lens_mark_job(const struct lens_mark *mark)
{
	return mark->job;
}

uint32_t lens_mark_attempt(const struct lens_mark *mark)
{
	return mark->attempt;
}

const char *lens_mark_fact(const struct lens_mark *mark, const char *name)
{
	return lens_carrier_get(mark->line, name);
}

int lens_mark_set_fact(struct lens_mark *mark, const char *name, const char *value)
{
	return lens_carrier_set(mark->line, name, value);
}

size_t lens_mark_entry_count(const struct lens_mark *mark)
{
	return lens_carrier_count(mark->line);
}

const char *lens_mark_entry_variable(const struct lens_mark *mark, size_t index)
{
	const char *key = lens_carrier_key(mark->line, index);
	const size_t prefix = strlen(SET_VARIABLE);

	return strncmp(key, SET_VARIABLE, prefix) == 0 && key[prefix] ? key + prefix : NULL;
}

/* PREFIX + NAME, until the next call; NULL when memory ran out. */
static const char *mark_key(struct lens_mark *mark, const char *prefix, const char *name)
{
	mark->key.length = 0;
	lens_text_adds(&mark->key, prefix);
	lens_text_adds(&mark->key, name);
	return mark->key.failed ? NULL : mark->key.data;
}

/* The value under PREFIX + NAME; NULL when absent or memory ran out. */
static const char *mark_lookup(struct lens_mark *mark, const char *prefix, const char *name)
{
	const char *key = mark_key(mark, prefix, name);

	return key ? lens_carrier_get(mark->line, key) : NULL;
}

static int mark_store(struct lens_mark *mark, const char *prefix, const char *name,
		      const char *value)
{
	const char *key = mark_key(mark, prefix, name);

	return key ? lens_carrier_set(mark->line, key, value) : -1;
}

static int mark_store_fingerprint(struct lens_mark *mark, const char *prefix, const char *name,
				  const char *value)
{
	char print[LENS_FINGERPRINT_TEXT];

	lens_fingerprint(print, value);
	return mark_store(mark, prefix, name, print);
}

int lens_mark_add_variable(struct lens_mark *mark, const char *name, const char *value)
{
	if (!value)
		return mark_store(mark, SET_VARIABLE, name, TAKEN_OUT);
	return mark_store_fingerprint(mark, SET_VARIABLE, name, value);
}

int lens_mark_add_key(struct lens_mark *mark, const char *key, const char *value)
{
	return mark_store_fingerprint(mark, SET_KEY, key, value);
}

int lens_mark_keep_variable(struct lens_mark *mark, const char *name, const char *value)
{
	return mark_store(mark, OWN_VARIABLE, name, value);
}

int lens_mark_keep_key(struct lens_mark *mark, const char *key, const char *value)
{
	return mark_store(mark, OWN_KEY, key, value);
}

static bool is_fingerprint_of(const char *print, const char *value)
{
	char actual[LENS_FINGERPRINT_TEXT];

	if (!value)
		return strcmp(print, TAKEN_OUT) == 0;
	lens_fingerprint(actual, value);
	return strcmp(print, actual) == 0;
}

/* Whether NAME, as it is in ENV, is lens's doing. */
static bool variable_is_ours(const struct lens_env *env, struct lens_mark *mark, const char *name)
{
	const char *print = mark_lookup(mark, SET_VARIABLE, name);

	return print && is_fingerprint_of(print, lens_env_value(env, name));
}

/* Takes lens's variables out of ENV and puts the user's back. */
static int clean_variables(struct lens_env *env, struct lens_mark *mark)
{
	/* The user's TRACESTATE is that of the TRACEPARENT that lens replaced. */
	bool keeps_state = !variable_is_ours(env, mark, "TRACEPARENT");

	for (size_t i = 0; i < lens_carrier_count(mark->line); i++) {
		const char *name = lens_mark_entry_variable(mark, i);

		if (!name || !variable_is_ours(env, mark, name) ||
		    (keeps_state && strcmp(name, "TRACESTATE") == 0))
			continue;
		if (lens_env_set(env, name, mark_lookup(mark, OWN_VARIABLE, name)))
			return -1;
	}
	return 0;
}

/* Takes lens's keys out of ATTRIBUTES and puts the user's back; counts them in *TAKEN. */
static int clean_keys(struct lens_carrier *attributes, struct lens_mark *mark, size_t *taken)
{
	const size_t prefix = strlen(SET_KEY);

	for (size_t i = 0; i < lens_carrier_count(mark->line); i++) {
		const char *line_key = lens_carrier_key(mark->line, i);
		const char *key = line_key + prefix;
		const char *own;

		if (strncmp(line_key, SET_KEY, prefix) != 0 ||
		    !is_fingerprint_of(lens_carrier_value(mark->line, i),
				       lens_carrier_get(attributes, key)))
			continue;
		(*taken)++;
		own = mark_lookup(mark, OWN_KEY, key);
		if (!own)
			lens_carrier_remove(attributes, key);
		else if (lens_carrier_set(attributes, key, own))
			return -1;
	}
	return 0;
}

/*
 * What is left in ATTRIBUTES no mark speaks for: when it names another job it came from
 * inside that one, and its identity, with a NEMO_LENS_RUN_ID that was made of it, is that job's.
 */
static int drop_foreign_identity(struct lens_env *env, struct lens_carrier *attributes,
				 uint32_t job, size_t *taken)
{
	const char *raw = lens_carrier_get(attributes, "slurm.job.id.raw");
	const char *run = lens_carrier_get(attributes, "nemo.run.id");
	const char *variable = lens_env_value(env, "NEMO_LENS_RUN_ID");
	uint32_t named;

	if (!job || !raw || (lens_uint32_parse(raw, &named) == 0 && named == job))
		return 0;
	if (run && variable && strcmp(run, variable) == 0) {
		const char *id = lens_carrier_get(attributes, "slurm.job.id");

		if ((strcmp(run, raw) == 0 || (id && strcmp(run, id) == 0)) &&
		    lens_env_set(env, "NEMO_LENS_RUN_ID", NULL))
			return -1;
	}
	for (size_t i = 0; i < lens_identity_key_count; i++)
		*taken += lens_carrier_remove(attributes, lens_identity_keys[i]);
	return 0;
}

static int clean_attributes(struct lens_env *env, struct lens_mark *mark, uint32_t job)
{
	const char *current = lens_env_value(env, LENS_ATTRIBUTES_NAME);
	struct lens_carrier *attributes = NULL;
	struct lens_text text = LENS_TEXT_INIT;
	size_t taken = 0;
	int rc = -1;

	if (!current)
		return 0;
	attributes = lens_carrier_create();
	if (!attributes || lens_carrier_parse(attributes, current, NULL))
		goto out;
	if (mark && clean_keys(attributes, mark, &taken))
		goto out;
	if (drop_foreign_identity(env, attributes, job, &taken))
		goto out;
	if (taken == 0) {
		rc = 0;
		goto out;
	}
	lens_carrier_format(attributes, &text, NULL);
	if (!text.failed)
		rc = lens_env_set(env, LENS_ATTRIBUTES_NAME, text.length ? text.data : NULL);
out:
	lens_text_clear(&text);
	lens_carrier_destroy(attributes);
	return rc;
}

struct lens_env *lens_mark_clean(char *const *env, uint32_t job, struct lens_mark **mark)
{
	struct lens_mark *found = lens_mark_parse(lens_env_get(env, LENS_MARK_NAME));
	struct lens_env *clean = lens_env_create(env);

	if (!clean || clean_attributes(clean, found, job) ||
	    (found && clean_variables(clean, found)) || lens_env_set(clean, LENS_MARK_NAME, NULL) ||
	    lens_env_set(clean, LENS_ASKED_NAME, NULL)) {
		lens_env_destroy(clean);
		lens_mark_destroy(found);
		return NULL;
	}
	if (mark)
		*mark = found;
	else
		lens_mark_destroy(found);
	return clean;
}
