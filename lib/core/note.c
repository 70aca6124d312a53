/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/boot.h"
#include "lib/core/note.h"

#include <errno.h>
#include <inttypes.h>
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
	    lens_carrier_get(record, "node") == NULL) {
		errno = EBADMSG;
		return -1;
	}
	out->cluster = read_text(record, "cluster");
	out->node = read_text(record, "node");
	out->sluid = read_text(record, "sluid");
	out->outer = read_text(record, "outer");
	out->in_outer = lens_record_flag(record, "inouter");
	out->lens = lens_record_flag(record, "lens") || lens_records_last(records, "optin") != NULL;
	out->first = lens_record_flag(record, "first");
	out->journal = lens_record_flag(record, "journal");
	if (out->cluster != NULL && out->node != NULL && out->sluid != NULL && out->outer != NULL)
		return 0;
	lens_note_clear(out);
	errno = ENOMEM;
	return -1;
}

struct lens_carrier *lens_note_record(const struct lens_note *note, bool inferred)
{
	struct lens_carrier *record = lens_record_create("note");
	char boot[LENS_BOOT_ID];
	int failed = 0;

	if (record == NULL)
		return NULL;
	failed |= lens_carrier_set_number(record, "job", note->job);
	failed |= lens_carrier_set_number(record, "leader", note->leader);
	failed |= lens_carrier_set_number(record, "attempt", note->attempt);
	failed |= lens_carrier_set(record, "cluster", note->cluster);
	failed |= lens_carrier_set(record, "node", note->node);
	if (note->sluid != NULL && *note->sluid != '\0')
		failed |= lens_carrier_set(record, "sluid", note->sluid);
	if (lens_boot_id_get(boot) == 0)
		failed |= lens_carrier_set(record, "boot", boot);
	if (note->lens)
		failed |= lens_carrier_set(record, "lens", "1");
	if (note->lens && note->first)
		failed |= lens_carrier_set(record, "first", "1");
	if (note->lens && note->outer != NULL && *note->outer != '\0') {
		failed |= lens_carrier_set(record, "outer", note->outer);
		if (note->in_outer)
			failed |= lens_carrier_set(record, "inouter", "1");
	}
	if (inferred)
		failed |= lens_carrier_set(record, "inferred", "1");
	if (note->journal)
		failed |= lens_carrier_set(record, "journal", "1");
	if (failed == 0)
		return record;
	lens_carrier_destroy(record);
	return NULL;
}
