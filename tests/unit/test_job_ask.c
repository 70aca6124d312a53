/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/ask.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <cmocka.h>

/* Until ASK has come to an end, as the agent's loop waits; its status. */
static int finish(struct lens_ask *ask, struct lens_job_answer *out, struct lens_error *err)
{
	int status;

	while ((status = lens_ask_finish(ask, out, err)) == 1) {
		struct pollfd fd = { .fd = lens_ask_fd(ask), .events = POLLIN };

		assert_int_not_equal(poll(&fd, 1, (int)lens_ask_remaining_ms(ask)), -1);
	}
	return status;
}

/* libslurm ends the process that asks without a slurm.conf: the child, not the agent. */
static void no_slurm_conf_is_no_answer(void **state)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_job_answer answer;
	struct lens_ask *ask;

	(void)state;
	assert_int_equal(setenv("SLURM_CONF", "/nonexistent/slurm.conf", 1), 0);
	ask = lens_ask_start(1, &err);
	assert_non_null(ask);
	assert_int_equal(finish(ask, &answer, &err), -1);
	assert_non_null(strstr(err.text, "slurmctld"));
	lens_ask_destroy(ask);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
	assert_int_equal(errno, ECHILD);
}

static void a_question_given_up_leaves_no_child(void **state)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_ask *ask = lens_ask_start(1, &err);

	(void)state;
	assert_non_null(ask);
	assert_true(lens_ask_remaining_ms(ask) >= 1 &&
		    lens_ask_remaining_ms(ask) <= LENS_ASK_DEADLINE_MS);
	errno = EINTR;
	lens_ask_destroy(ask);
	assert_int_equal(errno, EINTR);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	lens_ask_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_slurm_conf_is_no_answer),
		cmocka_unit_test(a_question_given_up_leaves_no_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
