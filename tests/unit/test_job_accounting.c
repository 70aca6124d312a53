/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/accounting.h"

#include "lib/core/step_id.h"
#include "lib/job/account_value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <time.h>

#define HEADER \
	"JobIDRaw|JobID|Cluster|User|JobName|State|ExitCode|Submit|Eligible|Start|End|NodeList"

static struct lens_accounting *read_text(const char *text, const char *delimiter,
					 struct lens_error *err)
{
	struct lens_accounting *accounting = lens_accounting_create();
	FILE *in = fmemopen((void *)text, strlen(text), "r");

	assert_non_null(accounting);
	assert_non_null(in);
	if (lens_accounting_read(accounting, in, "saved", delimiter, err) == -1) {
		lens_accounting_destroy(accounting);
		accounting = NULL;
	}
	fclose(in);
	return accounting;
}

static void refused(const char *text, const char *message)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_accounting *accounting = read_text(text, NULL, &err);

	assert_null(accounting);
	if (strstr(err.text, message) == NULL)
		fail_msg("`%s`, not `%s`", err.text, message);
}

static void times_are_seconds_or_of_this_zone(void **state)
{
	int64_t at = 7;

	(void)state;
	assert_int_equal(lens_account_time("1796069153", &at), 0);
	assert_int_equal(at, 1796069153);
	assert_int_equal(lens_account_time("Unknown", &at), 0);
	assert_int_equal(at, 0);
	assert_int_equal(lens_account_time("2026-11-30T20:05:53", &at), 0);
	assert_int_equal(at, 1796069153);
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	/* Summer time is the zone's, not the season's in which it is read. */
	assert_int_equal(lens_account_time("2026-07-01T12:00:00", &at), 0);
	assert_int_equal(at, 1782900000);
	assert_int_equal(lens_account_time("2026-12-01T12:00:00", &at), 0);
	assert_int_equal(at, 1796122800);
	setenv("TZ", "UTC0", 1);
	tzset();
	at = 7;
	assert_int_equal(lens_account_time("yesterday", &at), -1);
	assert_int_equal(lens_account_time("2026-13-01T00:00:00", &at), -1);
	assert_int_equal(lens_account_time("2026-11-30T20:05:53x", &at), -1);
	assert_int_equal(lens_account_time("-5", &at), -1);
	assert_int_equal(lens_account_time("99999999999999999999", &at), -1);
	assert_int_equal(at, 7);
}

static void durations(void **state)
{
	int64_t seconds = 7;

	(void)state;
	assert_int_equal(lens_account_duration("00:01:03", &seconds), 0);
	assert_int_equal(seconds, 63);
	assert_int_equal(lens_account_duration("2-03:00:01", &seconds), 0);
	assert_int_equal(seconds, 2 * 86400 + 3 * 3600 + 1);
	assert_int_equal(lens_account_duration("", &seconds), 0);
	assert_int_equal(seconds, 0);
	assert_int_equal(lens_account_duration("x-00:00:01", &seconds), -1);
	assert_int_equal(lens_account_duration("long", &seconds), -1);
}

static void ids(void **state)
{
	struct lens_account_record record = { 0 };

	(void)state;
	assert_int_equal(lens_account_id("36", "36", &record), 0);
	assert_int_equal(record.job, 36);
	assert_int_equal(record.leader, 36);
	assert_false(record.is_step || record.het);
	assert_int_equal(record.array_task, LENS_RECORD_NONE);

	assert_int_equal(lens_account_id("36_3.batch", "39.batch", &record), 0);
	assert_int_equal(record.job, 39);
	assert_int_equal(record.leader, 39);
	assert_int_equal(record.array_job, 36);
	assert_int_equal(record.array_task, 3);
	assert_true(record.is_step);
	assert_int_equal(record.step, LENS_STEP_BATCH);

	assert_int_equal(lens_account_id("50+1.0", "51.0", &record), 0);
	assert_true(record.het);
	assert_int_equal(record.job, 51);
	assert_int_equal(record.leader, 50);
	assert_int_equal(record.offset, 1);
	assert_int_equal(record.step, 0);
	assert_int_equal(record.array_task, LENS_RECORD_NONE);

	assert_int_equal(lens_account_id("36_[4-7%2]", "36", &record), 0);
	assert_int_equal(record.array_task, LENS_RECORD_NONE);
	assert_int_equal(lens_account_id("9.extern", "9.extern", &record), 0);
	assert_int_equal(record.step, LENS_STEP_EXTERN);
	assert_int_equal(lens_account_id("9.interactive", NULL, &record), 0);
	assert_int_equal(record.step, LENS_STEP_INTERACTIVE);
	assert_int_equal(record.job, 9);
	assert_int_equal(lens_account_id("9.TBD", NULL, &record), 0);
	assert_int_equal(record.step, LENS_STEP_EXTERN);

	/* Only the raw number tells which job that is. */
	assert_int_equal(lens_account_id("36_3", NULL, &record), -1);
	assert_int_equal(lens_account_id("50+1", NULL, &record), -1);
	assert_int_equal(lens_account_id("", "", &record), -1);
	assert_int_equal(lens_account_id("4294967296", NULL, &record), -1);
	assert_int_equal(lens_account_id("36x", "36", &record), -1);
}

static bool matches(const char *wish, const char *id, const char *raw)
{
	struct lens_account_record record = { 0 };
	struct lens_account_wish parsed;

	assert_int_equal(lens_account_wish_parse(&parsed, wish), 0);
	assert_int_equal(lens_account_id(id, raw, &record), 0);
	return lens_account_wish_matches(&parsed, &record);
}

static void wishes(void **state)
{
	static const char *const none[] = { "",     "0",  "x",     "36_",   "36+",       "36_3x",
					    "36.0", "-1", "36 37", "36,37", "4294967296" };
	struct lens_account_wish wish;

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_int_equal(lens_account_wish_parse(&wish, none[i]), -1);
	assert_true(matches("36", "36", "36"));
	assert_true(matches("36", "36_3", "39"));
	assert_true(matches("39", "36_3", "39"));
	assert_true(matches("36_3", "36_3", "39"));
	assert_false(matches("36_2", "36_3", "39"));
	assert_false(matches("36_3", "36", "36"));
	assert_true(matches("50", "50+1", "51"));
	assert_true(matches("51", "50+1", "51"));
	assert_true(matches("50+1", "50+1", "51"));
	assert_false(matches("50+0", "50+1", "51"));
	assert_false(matches("50+1", "50", "50"));
	assert_false(matches("37", "36", "36"));
}

static void rows_in_any_order_of_columns(void **state)
{
	static const char text[] =
		"State|JobID|End|SUBMIT|Start|Eligible|Extra|Cluster|NodeList|jobidraw|Restarts|\n"
		"CANCELLED by 33|36_3|40|10|30|20|x|mini|n[1-2]|39|2|\n"
		"\n"
		"COMPLETED|36_3.0|39|30|30|30|x|mini|n1|39.0||\n";
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_accounting *accounting = read_text(text, NULL, &err);
	const struct lens_account_record *record;

	(void)state;
	assert_non_null(accounting);
	assert_int_equal(lens_accounting_count(accounting), 2);
	record = lens_accounting_at(accounting, 0);
	assert_string_equal(record->state, "CANCELLED");
	assert_string_equal(record->cancelled_by, "33");
	assert_int_equal(record->job, 39);
	assert_int_equal(record->submit, 10);
	assert_int_equal(record->eligible, 20);
	assert_int_equal(record->start, 30);
	assert_int_equal(record->end, 40);
	assert_int_equal(record->restarts, 2);
	assert_string_equal(record->nodelist, "n[1-2]");
	assert_string_equal(record->user, "");
	record = lens_accounting_at(accounting, 1);
	assert_true(record->is_step);
	assert_int_equal(record->restarts, LENS_RECORD_NONE);
	assert_string_equal(record->cancelled_by, "");
	lens_accounting_destroy(accounting);
}

/* A user who names his job so that rows of others seem to follow. */
static void names_hold_anything(void **state)
{
	static const char text[] =
		"JobID~9f~Cluster~9f~User~9f~JobName~9f~State~9f~Submit~9f~Eligible~9f~Start~9f~"
		"End~9f~NodeList\n"
		"7~9f~mini~9f~ml~9f~a|b~c\n"
		"8~mini~root~x~COMPLETED~1~1~1~1~n1\n"
		"~9f~COMPLETED~9f~1~9f~1~9f~1~9f~2~9f~n1\n";
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_accounting *accounting = read_text(text, "~9f~", &err);

	(void)state;
	assert_non_null(accounting);
	assert_int_equal(lens_accounting_count(accounting), 1);
	assert_int_equal(lens_accounting_at(accounting, 0)->job, 7);
	assert_string_equal(lens_accounting_at(accounting, 0)->name,
			    "a|b~c\n8~mini~root~x~COMPLETED~1~1~1~1~n1\n");
	lens_accounting_destroy(accounting);
	refused(HEADER "\n7|7|mini|ml|a|b|COMPLETED|0:0|1|1|1|2|n1\n", "saved:2: more columns");
	refused(HEADER "\n7|7|mini|ml|a\n", "saved:2: the row is cut");
}

static void what_is_no_output_of_sacct(void **state)
{
	(void)state;
	refused("\n", "does not begin with the header line");
	refused("7\n", "saved:1: not the header line");
	refused("JobID|Cluster|State|Submit|Eligible|Start|End\n",
		"the column NodeList is missing");
	refused(HEADER "\n7|7|mini|ml|a|COMPLETED|0:0|soon|1|1|2|n1\n",
		"saved:2: Submit is `soon`");
	refused(HEADER "\nx|7|mini|ml|a|COMPLETED|0:0|1|1|1|2|n1\n", "saved:2: JobID is `7`");
	refused("JobID|Cluster|State|Submit|Eligible|Start|End|NodeList\n"
		"36_3|mini|COMPLETED|1|1|1|2|n1\n",
		"with the column JobIDRaw");
}

static void an_empty_output_has_no_row(void **state)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_accounting *accounting = read_text(HEADER "\n", NULL, &err);

	(void)state;
	assert_non_null(accounting);
	assert_int_equal(lens_accounting_count(accounting), 0);
	lens_accounting_destroy(accounting);
	lens_accounting_destroy(NULL);
}

static int zone_set(void **state)
{
	(void)state;
	setenv("TZ", "UTC0", 1);
	tzset();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_seconds_or_of_this_zone),
		cmocka_unit_test(durations),
		cmocka_unit_test(ids),
		cmocka_unit_test(wishes),
		cmocka_unit_test(rows_in_any_order_of_columns),
		cmocka_unit_test(names_hold_anything),
		cmocka_unit_test(what_is_no_output_of_sacct),
		cmocka_unit_test(an_empty_output_has_no_row),
	};

	return cmocka_run_group_tests(tests, zone_set, NULL);
}
