/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/note.h"

#include <stdlib.h>
#include <string.h>

#define ABSENT UINT64_MAX

void lens_note_clear(struct lens_note *note)
{
	free(note->cluster);
	free(note->node);
	free(note->sluid);
	free(note->outer);
	*note = (struct lens_note){ 0 };
}

/* KEY as a uint32; FALLBACK when it is absent. -1 when it is none. */
static int read_id(const struct lens_carrier *record, const char *key, uint64_t fallback,
		   uint32_t *out)
{
	uint64_t number = fallback;

	if (lens_carrier_get(record, key) != NULL)
		number = lens_record_number(record, key, ABSENT);
	if (number > UINT32_MAX)
		return -1;
	*out = (uint32_t)number;
	return 0;
}

static char *read_text(const struct lens_carrier *record, const char *key)
{
	const char *text = lens_carrier_get(record, key);

	return strdup(text != NULL ? text : "");
}

int lens_note_parse(struct lens_note *out, const struct lens_records *records)
{
	/* A file that two attempts came to share: the later one's record holds. */
	const struct lens_carrier *record = lens_records_last(records, "note");

	*out = (struct lens_note){ 0 };
	if (record == NULL || read_id(record, "job", ABSENT, &out->job) != 0 ||
	    read_id(record, "leader", out->job, &out->leader) != 0 ||
	    read_id(record, "attempt", ABSENT, &out->attempt) != 0 ||
	    lens_carrier_get(record, "node") == NULL)
		return -1;
	out->cluster = read_text(record, "cluster");
	out->node = read_text(record, "node");
	out->sluid = read_text(record, "sluid");
	out->outer = read_text(record, "outer");
	out->in_outer = lens_record_number(record, "inouter", 0) == 1;
	out->lens = lens_record_number(record, "lens", 0) == 1 ||
		    lens_records_last(records, "optin") != NULL;
	out->first = lens_record_number(record, "first", 0) == 1;
	out->journal = lens_record_number(record, "journal", 0) == 1;
	if (out->cluster != NULL && out->node != NULL && out->sluid != NULL && out->outer != NULL)
		return 0;
	lens_note_clear(out);
	return -1;
}
