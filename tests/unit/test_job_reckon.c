/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/reckon.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/reckon_sample.h"

/* How attempts are made of rows and numbered. */

#define HEADER \
	"JobIDRaw|JobID|DBIndex|Cluster|User|State|ExitCode|Submit|Eligible|Start|End|NodeList\n"
#define ROW(job, index, state, submit, eligible, start, end)                                  \
	job "|" job "|" index "|mini|ml|" state "|0:0|" submit "|" eligible "|" start "|" end \
	    "|n1\n"

static const char *const releases[] = { "22.05", "24.11", "26.05" };
#define RELEASES (sizeof(releases) / sizeof(releases[0]))

static void number_is(const struct reckon_sample *sample, uint32_t job, size_t nth,
		      enum lens_reckon_number number, uint32_t attempt)
{
	const struct lens_reckon_attempt *found = reckon_sample_attempt(sample, job, nth);

	assert_non_null(found);
	assert_int_equal(found->number, number);
	if (number == LENS_RECKON_TOLD || number == LENS_RECKON_COUNTED)
		assert_int_equal(found->attempt, attempt);
}

static void attempts_are_numbered_on_every_release(void **state)
{
	(void)state;
	for (size_t i = 0; i < RELEASES; i++) {
		struct reckon_sample sample = reckon_sample_file(releases[i], &reckon_all_kept);
		enum lens_reckon_number number = i == 0 ? LENS_RECKON_COUNTED : LENS_RECKON_TOLD;

		/* By command, by a node that failed, and after its end. */
		static const uint32_t twice[] = { 4, 18, 20 };

		for (size_t k = 0; k < sizeof(twice) / sizeof(twice[0]); k++) {
			number_is(&sample, twice[k], 0, number, 0);
			number_is(&sample, twice[k], 1, number, 1);
			assert_null(reckon_sample_attempt(&sample, twice[k], 2));
			assert_true(reckon_sample_attempt(&sample, twice[k], 0)->again);
			assert_false(reckon_sample_attempt(&sample, twice[k], 1)->again);
			assert_int_equal(reckon_sample_attempt(&sample, twice[k], 0)->first_submit,
					 0);
			assert_int_equal(
				reckon_sample_attempt(&sample, twice[k], 1)->first_submit,
				reckon_sample_attempt(&sample, twice[k], 0)->first->submit);
		}
		number_is(&sample, 2, 0, number, 0);
		assert_null(reckon_sample_attempt(&sample, 2, 1));
		assert_int_equal(reckon_sample_attempt(&sample, 2, 0)->step_count, 3);
		reckon_sample_clear(&sample);
	}
}

/* On 22.05, when nobody knows what was purged: a job that waited may be a later attempt. */
static void without_a_first_row_there_is_no_number(void **state)
{
	struct reckon_sample sample = reckon_sample_file("22.05", &reckon_nothing_known);
	struct lens_reckon_wish wish = reckon_nothing_known;

	(void)state;
	number_is(&sample, 2, 0, LENS_RECKON_COUNTED, 0);
	number_is(&sample, 4, 1, LENS_RECKON_COUNTED, 1);
	number_is(&sample, 7, 0, LENS_RECKON_UNKNOWN, 0);
	number_is(&sample, 6, 0, LENS_RECKON_UNKNOWN, 0);
	reckon_sample_clear(&sample);

	wish.kept_since = 1796069162; /* when job 7 was submitted */
	sample = reckon_sample_file("22.05", &wish);
	number_is(&sample, 7, 0, LENS_RECKON_COUNTED, 0);
	reckon_sample_clear(&sample);
	wish.kept_since++;
	sample = reckon_sample_file("22.05", &wish);
	number_is(&sample, 7, 0, LENS_RECKON_UNKNOWN, 0);
	reckon_sample_clear(&sample);

	/* Newer ones say it. */
	sample = reckon_sample_file("24.11", &reckon_nothing_known);
	number_is(&sample, 7, 0, LENS_RECKON_TOLD, 0);
	reckon_sample_clear(&sample);

	wish = reckon_nothing_known;
	wish.oldest_attempt = 3;
	sample = reckon_sample_text(HEADER ROW("7", "1", "PREEMPTED", "10", "16", "16", "20")
					    ROW("7", "2", "COMPLETED", "20", "26", "26", "30"),
				    &wish);
	number_is(&sample, 7, 0, LENS_RECKON_COUNTED, 3);
	number_is(&sample, 7, 1, LENS_RECKON_COUNTED, 4);
	assert_int_equal(reckon_sample_attempt(&sample, 7, 1)->first_submit, 0);
	reckon_sample_clear(&sample);
}

static void rows_come_in_any_order_and_twice(void **state)
{
	struct reckon_sample sample = reckon_sample_text(
		HEADER ROW("7", "2", "COMPLETED", "20", "26", "26",
			   "30") ROW("7.0", "2", "COMPLETED", "26", "26", "26",
				     "30") ROW("7", "1", "REQUEUED", "10", "10", "10", "20")
			ROW("7.0", "1", "CANCELLED", "10", "10", "10",
			    "20") ROW("7.1", "1", "CANCELLED", "11", "11", "11", "20")
				ROW("7", "2", "COMPLETED", "20", "26", "26", "30")
					ROW("7.0", "2", "COMPLETED", "26", "26", "26", "30"),
		&reckon_nothing_known);

	(void)state;
	assert_int_equal(lens_reckon_count(sample.reckon), 2);
	number_is(&sample, 7, 0, LENS_RECKON_COUNTED, 0);
	number_is(&sample, 7, 1, LENS_RECKON_COUNTED, 1);
	assert_int_equal(reckon_sample_attempt(&sample, 7, 0)->step_count, 2);
	assert_int_equal(reckon_sample_attempt(&sample, 7, 1)->step_count, 1);
	reckon_sample_clear(&sample);
}

/* A cluster that lost its state counts its jobs from 1 again. */
static void a_number_that_is_used_again(void **state)
{
	struct reckon_sample sample = reckon_sample_text(
		HEADER ROW("7", "1", "COMPLETED", "10", "10", "10", "20")
			ROW("7", "9", "REQUEUED", "90", "99", "99", "100")
				ROW("7", "10", "COMPLETED", "100", "110", "110", "120"),
		&reckon_nothing_known);

	(void)state;
	number_is(&sample, 7, 0, LENS_RECKON_REUSED, 0);
	number_is(&sample, 7, 1, LENS_RECKON_COUNTED, 0);
	number_is(&sample, 7, 2, LENS_RECKON_COUNTED, 1);
	reckon_sample_clear(&sample);

	sample = reckon_sample_text(
		"JobID|Cluster|User|State|Submit|Eligible|Start|End|NodeList|Restarts\n"
		"7|mini|ml|REQUEUED|10|10|10|20|n1|2\n"
		"7|mini|ml|COMPLETED|90|90|90|99|n1|0\n"
		"7|mini|ml|COMPLETED|99|99|99|110|n1|1\n",
		&reckon_nothing_known);
	number_is(&sample, 7, 0, LENS_RECKON_REUSED, 0);
	number_is(&sample, 7, 1, LENS_RECKON_TOLD, 0);
	number_is(&sample, 7, 2, LENS_RECKON_TOLD, 1);
	reckon_sample_clear(&sample);

	/* Another user's. */
	sample = reckon_sample_text("JobID|Cluster|User|State|Submit|Eligible|Start|End|NodeList\n"
				    "7|mini|ml|REQUEUED|10|10|10|20|n1\n"
				    "7|mini|other|COMPLETED|90|90|90|99|n1\n",
				    &reckon_nothing_known);
	number_is(&sample, 7, 0, LENS_RECKON_REUSED, 0);
	number_is(&sample, 7, 1, LENS_RECKON_COUNTED, 0);
	reckon_sample_clear(&sample);
}

static void clusters_do_not_mix(void **state)
{
	struct reckon_sample sample =
		reckon_sample_text("JobID|Cluster|State|Submit|Eligible|Start|End|NodeList\n"
				   "7|east|REQUEUED|10|10|10|20|n1\n"
				   "7|west|COMPLETED|20|20|20|99|n1\n",
				   &reckon_nothing_known);

	(void)state;
	assert_int_equal(lens_reckon_count(sample.reckon), 2);
	number_is(&sample, 7, 0, LENS_RECKON_COUNTED, 0);
	number_is(&sample, 7, 1, LENS_RECKON_COUNTED, 0);
	reckon_sample_clear(&sample);
}

static void a_resized_job_is_one_attempt(void **state)
{
	(void)state;
	for (size_t i = 0; i < RELEASES; i++) {
		struct reckon_sample sample = reckon_sample_file(releases[i], &reckon_all_kept);
		const struct lens_reckon_attempt *attempt = reckon_sample_attempt(&sample, 22, 0);

		assert_non_null(attempt);
		assert_null(reckon_sample_attempt(&sample, 22, 1));
		assert_int_equal(attempt->attempt, 0);
		assert_int_equal(attempt->first->nodes, 2);
		assert_int_equal(attempt->last->nodes, 1);
		assert_string_equal(attempt->last->state, "COMPLETED");
		assert_int_equal(attempt->step_count, 3);
		reckon_sample_clear(&sample);
	}
}

static void what_is_under_way(void **state)
{
	struct reckon_sample sample = reckon_sample_text(
		HEADER ROW(
			"7", "1", "RUNNING", "10", "10", "12",
			"Unknown") "8|8|2|mini|ml|PENDING|0:0|10|Unknown|Unknown|Unknown|None assigned\n"
				   "9|9|3|mini|ml|CANCELLED by 33|0:0|10|Unknown|11|11|None assigned\n",
		&reckon_all_kept);

	(void)state;
	assert_true(lens_reckon_started(reckon_sample_attempt(&sample, 7, 0)));
	assert_false(lens_reckon_ended(reckon_sample_attempt(&sample, 7, 0)));
	assert_false(lens_reckon_started(reckon_sample_attempt(&sample, 8, 0)));
	assert_false(lens_reckon_ended(reckon_sample_attempt(&sample, 8, 0)));
	assert_false(lens_reckon_started(reckon_sample_attempt(&sample, 9, 0)));
	assert_true(lens_reckon_ended(reckon_sample_attempt(&sample, 9, 0)));
	reckon_sample_clear(&sample);
	lens_reckon_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attempts_are_numbered_on_every_release),
		cmocka_unit_test(without_a_first_row_there_is_no_number),
		cmocka_unit_test(rows_come_in_any_order_and_twice),
		cmocka_unit_test(a_number_that_is_used_again),
		cmocka_unit_test(clusters_do_not_mix),
		cmocka_unit_test(a_resized_job_is_one_attempt),
		cmocka_unit_test(what_is_under_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
