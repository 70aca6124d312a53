/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/answer.h"
#include "lib/job/wait_status.h"

#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static struct lens_job_answer full_answer(void)
{
	return (struct lens_job_answer){
		.found = true,
		.job = 36,
		.attempt = 2,
		.state = "FAILED",
		.completing = true,
		.raw_state = 0x8005,
		.reason = "NonZeroExitCode",
		.exit_code = "3:0",
		.derived = "0:15",
		.submit = 100,
		.eligible = 101,
		.start = 102,
		.end = 110,
		.suspended = 4,
		.name = "train, \xc3\xa9=1",
		.user = "ml",
		.partition = "gpu",
		.account = "a",
		.qos = "normal",
		.reservation = "r",
		.nodelist = "n[1-2],x3",
		.uid = 0,
		.nodes = 3,
		.tasks = 8,
		.cpus = 16,
		.array_job = 30,
		.array_task = 0,
		.het_leader = 35,
		.het_offset = 1,
		.cron = true,
	};
}

static void goes_through_a_record(void **state)
{
	struct lens_job_answer answer = full_answer(), back;
	struct lens_carrier *record = lens_carrier_create();

	(void)state;
	assert_int_equal(lens_job_answer_write(&answer, record), 0);
	assert_int_equal(lens_job_answer_read(&back, record), 0);
	assert_true(back.found && back.completing && back.cron);
	assert_int_equal(back.job, 36);
	assert_int_equal(back.attempt, 2);
	assert_int_equal(back.raw_state, 0x8005);
	assert_string_equal(back.state, "FAILED");
	assert_string_equal(back.reason, "NonZeroExitCode");
	assert_string_equal(back.exit_code, "3:0");
	assert_string_equal(back.derived, "0:15");
	assert_string_equal(back.name, answer.name);
	assert_string_equal(back.user, "ml");
	assert_string_equal(back.partition, "gpu");
	assert_string_equal(back.account, "a");
	assert_string_equal(back.qos, "normal");
	assert_string_equal(back.reservation, "r");
	assert_string_equal(back.nodelist, "n[1-2],x3");
	assert_int_equal(back.submit, 100);
	assert_int_equal(back.eligible, 101);
	assert_int_equal(back.start, 102);
	assert_int_equal(back.end, 110);
	assert_int_equal(back.suspended, 4);
	assert_int_equal(back.uid, 0);
	assert_int_equal(back.nodes, 3);
	assert_int_equal(back.tasks, 8);
	assert_int_equal(back.cpus, 16);
	assert_int_equal(back.array_job, 30);
	assert_int_equal(back.array_task, 0);
	assert_int_equal(back.het_leader, 35);
	assert_int_equal(back.het_offset, 1);
	lens_job_answer_clear(&back);
	lens_carrier_destroy(record);
}

static void leaves_out_what_is_not_known(void **state)
{
	struct lens_job_answer answer, back;
	struct lens_carrier *record = lens_carrier_create();

	(void)state;
	lens_job_answer_init(&answer);
	answer.found = true;
	answer.job = 5;
	assert_int_equal(lens_job_answer_write(&answer, record), 0);
	assert_int_equal(lens_carrier_count(record), 3); /* found, attempt, job */
	assert_int_equal(lens_job_answer_read(&back, record), 0);
	assert_null(back.state);
	assert_int_equal(back.array_task, LENS_ANSWER_NONE);
	assert_int_equal(back.uid, LENS_ANSWER_NONE);
	lens_job_answer_clear(&back);
	lens_carrier_destroy(record);
}

/* What does not fit into nanoseconds. */
static void takes_no_time_beyond_reach(void **state)
{
	struct lens_carrier *record = lens_carrier_create();
	struct lens_job_answer answer;

	(void)state;
	assert_non_null(record);
	assert_int_equal(lens_carrier_set(record, "submit", "-1"), 0);
	assert_int_equal(lens_carrier_set(record, "start", "9223372036854775807"), 0);
	assert_int_equal(lens_carrier_set(record, "end", "9223372036"), 0);
	assert_int_equal(lens_job_answer_read(&answer, record), 0);
	assert_int_equal(answer.submit, 0);
	assert_int_equal(answer.start, 0);
	assert_true(answer.end == 9223372036);
	lens_job_answer_clear(&answer);
	lens_carrier_destroy(record);
}

static void says_that_it_is_forgotten(void **state)
{
	struct lens_job_answer answer, back;
	struct lens_carrier *record = lens_carrier_create();

	(void)state;
	lens_job_answer_init(&answer);
	assert_int_equal(lens_job_answer_write(&answer, record), 0);
	assert_string_equal(lens_carrier_get(record, "found"), "0");
	assert_int_equal(lens_job_answer_read(&back, record), 0);
	assert_false(back.found);
	lens_carrier_destroy(record);
}

static void knows_the_states(void **state)
{
	struct lens_job_answer answer;

	(void)state;
	assert_string_equal(lens_job_state_name(0x8003), "COMPLETED");
	assert_string_equal(lens_job_state_name(0x800b), "OUT_OF_MEMORY");
	assert_string_equal(lens_job_state_name(0x8000), "PENDING");
	assert_string_equal(lens_job_state_name(0xfe), "UNKNOWN");
	lens_job_answer_init(&answer);
	assert_false(lens_job_answer_running(&answer));
	answer.state = "RUNNING";
	assert_true(lens_job_answer_running(&answer));
	answer.completing = true;
	assert_false(lens_job_answer_running(&answer));
	answer.state = "PENDING";
	assert_true(lens_job_answer_pending(&answer));
}

static void takes_a_wait_status_apart(void **state)
{
	static const struct {
		uint32_t status;
		int exit_code, signal;
		bool core;
		const char *type, *text;
	} cases[] = {
		{ 0, 0, 0, false, "", "0:0" },
		{ 256, 1, 0, false, "exit_1", "1:0" },
		{ 32512, 127, 0, false, "exit_127", "127:0" },
		{ 9, -1, 9, false, "SIGKILL", "0:9" },
		{ 139, -1, 11, true, "SIGSEGV", "0:11" },
		{ 36, -1, 36, false, "SIGRTMIN+2", "0:36" },
		{ 253, -1, 125, true, "signal_125", "0:125" }, /* Slurm's own, out of memory */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lens_wait_status status = lens_wait_status_decode(cases[i].status);
		char text[LENS_ERROR_TYPE];

		assert_int_equal(status.exit_code, cases[i].exit_code);
		assert_int_equal(status.signal, cases[i].signal);
		assert_int_equal(status.core, cases[i].core);
		lens_wait_status_type(text, &status);
		assert_string_equal(text, cases[i].type);
		lens_wait_status_text(text, &status);
		assert_string_equal(text, cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goes_through_a_record),
		cmocka_unit_test(leaves_out_what_is_not_known),
		cmocka_unit_test(takes_no_time_beyond_reach),
		cmocka_unit_test(says_that_it_is_forgotten),
		cmocka_unit_test(knows_the_states),
		cmocka_unit_test(takes_a_wait_status_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
