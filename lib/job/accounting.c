/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/accounting.h"

#include "lib/core/number.h"
#include "lib/core/show.h"
#include "lib/core/words.h"
#include "lib/job/account_table.h"
#include "lib/job/account_value.h"
#include "lib/otlp/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct lens_accounting {
	struct lens_arena *arena; /* the texts */
	struct lens_account_record *records;
	size_t count, room;
};

enum column {
	COLUMN_JOB_ID,
	COLUMN_JOB_ID_RAW,
	COLUMN_DB_INDEX,
	COLUMN_CLUSTER,
	COLUMN_USER,
	COLUMN_ACCOUNT,
	COLUMN_PARTITION,
	COLUMN_QOS,
	COLUMN_RESERVATION,
	COLUMN_NAME,
	COLUMN_STATE,
	COLUMN_EXIT_CODE,
	COLUMN_SUBMIT,
	COLUMN_ELIGIBLE,
	COLUMN_START,
	COLUMN_END,
	COLUMN_SUSPENDED,
	COLUMN_NODES,
	COLUMN_TASKS,
	COLUMN_NODELIST,
	COLUMN_REASON,
	COLUMN_RESTARTS,
	COLUMN_SLUID,
	COLUMN_COUNT
};

static const struct {
	const char *name;
	bool needed;
} columns[COLUMN_COUNT] = {
	[COLUMN_JOB_ID] = { "JobID", true },
	[COLUMN_JOB_ID_RAW] = { "JobIDRaw", false },
	[COLUMN_DB_INDEX] = { "DBIndex", false },
	[COLUMN_CLUSTER] = { "Cluster", true },
	[COLUMN_USER] = { "User", false },
	[COLUMN_ACCOUNT] = { "Account", false },
	[COLUMN_PARTITION] = { "Partition", false },
	[COLUMN_QOS] = { "QOS", false },
	[COLUMN_RESERVATION] = { "Reservation", false },
	[COLUMN_NAME] = { "JobName", false },
	[COLUMN_STATE] = { "State", true },
	[COLUMN_EXIT_CODE] = { "ExitCode", false },
	[COLUMN_SUBMIT] = { "Submit", true },
	[COLUMN_ELIGIBLE] = { "Eligible", true },
	[COLUMN_START] = { "Start", true },
	[COLUMN_END] = { "End", true },
	[COLUMN_SUSPENDED] = { "Suspended", false },
	[COLUMN_NODES] = { "NNodes", false },
	[COLUMN_TASKS] = { "NTasks", false },
	[COLUMN_NODELIST] = { "NodeList", true },
	[COLUMN_REASON] = { "Reason", false },
	[COLUMN_RESTARTS] = { "Restarts", false },
	[COLUMN_SLUID] = { "SLUID", false },
};

/* Which column stands where; -1: it is not there. */
struct reader {
	struct lens_account_table table;
	int places[COLUMN_COUNT];
};

struct lens_accounting *lens_accounting_create(void)
{
	struct lens_accounting *accounting = calloc(1, sizeof(*accounting));

	if (accounting == NULL)
		return NULL;
	accounting->arena = lens_arena_create();
	if (accounting->arena != NULL)
		return accounting;
	free(accounting);
	return NULL;
}

void lens_accounting_destroy(struct lens_accounting *accounting)
{
	int saved = errno;

	if (accounting == NULL)
		return;
	lens_arena_destroy(accounting->arena);
	free(accounting->records);
	free(accounting);
	errno = saved;
}

size_t lens_accounting_count(const struct lens_accounting *accounting)
{
	return accounting->count;
}

const struct lens_account_record *lens_accounting_at(const struct lens_accounting *accounting,
						     size_t index)
{
	return &accounting->records[index];
}

static int places_find(struct reader *reader, struct lens_error *err)
{
	const struct lens_account_table *table = &reader->table;

	for (int k = 0; k < COLUMN_COUNT; k++) {
		reader->places[k] = -1;
		for (size_t i = 0; i < table->width; i++) {
			if (strcasecmp(table->values[i], columns[k].name) == 0)
				reader->places[k] = (int)i;
		}
		if (columns[k].needed && reader->places[k] == -1)
			return lens_error_set(
				err,
				"%s: the column %s is missing; save the output with --format=%s",
				table->source, columns[k].name, LENS_ACCOUNTING_COLUMNS);
	}
	return 0;
}

static const char *value_of(const struct reader *reader, enum column column)
{
	int place = reader->places[column];

	return place == -1 ? "" : reader->table.values[place];
}

static int wrong(const struct reader *reader, enum column column, struct lens_error *err)
{
	struct lens_shown shown;

	return lens_error_set(err, "%s:%zu: %s is `%s`, which is not what sacct writes there",
			      reader->table.source, reader->table.row_line, columns[column].name,
			      lens_shown_value(&shown, value_of(reader, column)));
}

static int times_read(const struct reader *reader, struct lens_account_record *out,
		      struct lens_error *err)
{
	const struct {
		enum column column;
		int64_t *time;
	} times[] = {
		{ COLUMN_SUBMIT, &out->submit },
		{ COLUMN_ELIGIBLE, &out->eligible },
		{ COLUMN_START, &out->start },
		{ COLUMN_END, &out->end },
	};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		if (lens_account_time(value_of(reader, times[i].column), times[i].time) == -1)
			return wrong(reader, times[i].column, err);
	}
	if (lens_account_duration(value_of(reader, COLUMN_SUSPENDED), &out->suspended) == -1)
		return wrong(reader, COLUMN_SUSPENDED, err);
	return 0;
}

static int numbers_read(const struct reader *reader, struct lens_account_record *out,
			struct lens_error *err)
{
	const char *raw = reader->places[COLUMN_JOB_ID_RAW] == -1
				  ? NULL
				  : value_of(reader, COLUMN_JOB_ID_RAW);

	if (lens_account_id(value_of(reader, COLUMN_JOB_ID), raw, out) == -1) {
		if (raw != NULL)
			return wrong(reader, COLUMN_JOB_ID, err);
		return lens_error_set(
			err,
			"%s:%zu: an element's or a component's own number is not there: "
			"save the output with the column JobIDRaw",
			reader->table.source, reader->table.row_line);
	}
	lens_uint64_parse(value_of(reader, COLUMN_DB_INDEX), &out->index);
	lens_uint32_parse(value_of(reader, COLUMN_NODES), &out->nodes);
	lens_uint32_parse(value_of(reader, COLUMN_TASKS), &out->tasks);
	out->restarts = LENS_RECORD_NONE;
	lens_uint32_parse(value_of(reader, COLUMN_RESTARTS), &out->restarts);
	return 0;
}

/* `CANCELLED by 33`: the state, and who. */
static void state_split(struct lens_account_record *record)
{
	static const char by[] = " by ";
	char *blank = strchr(record->state, ' ');

	record->cancelled_by = "";
	if (blank == NULL)
		return;
	if (strncmp(blank, by, sizeof(by) - 1) == 0)
		record->cancelled_by = blank + sizeof(by) - 1;
	*blank = '\0';
}

static int texts_read(const struct reader *reader, struct lens_arena *arena,
		      struct lens_account_record *out, struct lens_error *err)
{
	/* What sacct writes where it has nothing. */
	static const char *const none[] = { "", "None assigned", "None", "Unknown" };
	const struct {
		enum column column;
		char **text;
	} texts[] = {
		{ COLUMN_NAME, &out->name },
		{ COLUMN_CLUSTER, &out->cluster },
		{ COLUMN_USER, &out->user },
		{ COLUMN_ACCOUNT, &out->account },
		{ COLUMN_PARTITION, &out->partition },
		{ COLUMN_QOS, &out->qos },
		{ COLUMN_RESERVATION, &out->reservation },
		{ COLUMN_NODELIST, &out->nodelist },
		{ COLUMN_SLUID, &out->sluid },
		{ COLUMN_REASON, &out->reason },
		{ COLUMN_STATE, &out->state },
		{ COLUMN_EXIT_CODE, &out->exit_code },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const char *value = value_of(reader, texts[i].column);

		if (texts[i].column != COLUMN_NAME &&
		    lens_words_have(none, sizeof(none) / sizeof(none[0]), value))
			value = "";
		*texts[i].text = lens_arena_copy(arena, value, strlen(value));
		if (*texts[i].text == NULL)
			return lens_error_set(err, "out of memory");
	}
	state_split(out);
	return 0;
}

static struct lens_account_record *record_add(struct lens_accounting *accounting)
{
	struct lens_account_record *record;

	if (accounting->count == accounting->room) {
		size_t room = accounting->room == 0 ? 64 : accounting->room * 2;

		record = reallocarray(accounting->records, room, sizeof(*record));
		if (record == NULL)
			return NULL;
		accounting->records = record;
		accounting->room = room;
	}
	record = &accounting->records[accounting->count];
	memset(record, 0, sizeof(*record));
	return record;
}

static int row_take(struct lens_accounting *accounting, const struct reader *reader,
		    struct lens_error *err)
{
	struct lens_account_record *record = record_add(accounting);

	if (record == NULL)
		return lens_error_set(err, "out of memory");
	if (numbers_read(reader, record, err) == -1 || times_read(reader, record, err) == -1 ||
	    texts_read(reader, accounting->arena, record, err) == -1)
		return -1;
	accounting->count++;
	return 0;
}

int lens_accounting_read(struct lens_accounting *accounting, FILE *in, const char *source,
			 const char *delimiter, struct lens_error *err)
{
	struct reader reader;
	int rc = -1;

	if (lens_account_table_open(&reader.table, in, source, delimiter, err) == -1 ||
	    places_find(&reader, err) == -1)
		goto out;
	while ((rc = lens_account_table_next(&reader.table, err)) == 1) {
		if (row_take(accounting, &reader, err) == -1) {
			rc = -1;
			break;
		}
	}
out:
	lens_account_table_clear(&reader.table);
	return rc;
}
