/* SPDX-License-Identifier: Apache-2.0 */
/* The keeper's side, with senders that do what the test wants. */
#include "cmd/agent_sender.h"

#include "cmd/agent_sender_start.h"
#include "lib/core/frame.h"
#include "lib/otlp/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <cmocka.h>

#include "tests/unit/scratch.h"

typedef void script(int fd);

static script *next_script; /* of the sender that is started next */

struct world {
	struct agent_log *log;
	struct lens_config *config;
	struct agent_sender *sender;
	struct lens_export_result result;
};

int agent_sender_settings(struct lens_text *out, const struct lens_config *config,
			  enum lens_exporter_kind kind, const char *user_agent,
			  struct lens_error *err)
{
	(void)config;
	(void)kind;
	(void)user_agent;
	(void)err;
	lens_text_adds(out, "the settings");
	return 0;
}

pid_t agent_sender_spawn(const char *user, int *fd, struct lens_error *err)
{
	int ends[2];
	pid_t pid;

	(void)err;
	assert_string_equal(user, "nobody");
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	pid = scratch_fork();
	if (pid == 0) {
		close(ends[0]);
		next_script(ends[1]);
		_exit(3);
	}
	close(ends[1]);
	*fd = ends[0];
	return pid;
}

/* In the sender. */

static void say(int fd, enum lens_relay_kind kind, const void *body, size_t length)
{
	struct lens_frame_writer writer = { 0 };

	if (lens_frame_add(&writer, (uint32_t)kind, body, length) != 0 ||
	    lens_frame_flush(&writer, fd) != 1)
		_exit(4);
}

/* The body of the next message of KIND, or the end. */
static const struct lens_text *hear(int fd, enum lens_relay_kind kind)
{
	static struct lens_frame_reader reader;

	if (reader.limit == 0)
		lens_frame_reader_init(&reader, LENS_RELAY_TO_SENDER_MAX);
	if (lens_frame_read(&reader, fd, NULL) != 1 || reader.kind != (uint32_t)kind)
		_exit(5);
	return &reader.body;
}

static void answer(int fd, uint32_t number)
{
	struct lens_export_result result = { .verdict = LENS_VERDICT_DONE,
					     .retry_after_ms = -1,
					     .rejected = 2,
					     .message = "two were not taken" };
	struct lens_text text = LENS_TEXT_INIT;

	if (lens_relay_result_write(&text, number, &result) != 0)
		_exit(6);
	say(fd, LENS_RELAY_RESULT, text.data, text.length);
}

static void begin(int fd)
{
	if (strcmp(hear(fd, LENS_RELAY_SETTINGS)->data, "the settings") != 0)
		_exit(7);
	say(fd, LENS_RELAY_READY, NULL, 0);
}

static uint32_t request(int fd)
{
	const struct lens_text *body = hear(fd, LENS_RELAY_REQUEST);
	uint32_t number;

	memcpy(&number, body->data, sizeof(number));
	if (strcmp(body->data + sizeof(number), "spans") != 0)
		_exit(8);
	return number;
}

static void honest(int fd)
{
	begin(fd);
	for (;;)
		answer(fd, request(fd));
}

static void faulty(int fd)
{
	hear(fd, LENS_RELAY_SETTINGS);
	say(fd, LENS_RELAY_FAULT, "CertificateFile:\n\x1b[2J is none", 30);
	pause();
}

static void dies_in_a_request(int fd)
{
	begin(fd);
	request(fd);
}

static void answers_unasked(int fd)
{
	begin(fd);
	answer(fd, 1);
	pause();
}

static void answers_another_request(int fd)
{
	begin(fd);
	answer(fd, request(fd) + 1);
	pause();
}

static void says_too_much(int fd)
{
	char much[LENS_RELAY_TO_KEEPER_MAX + 1] = "";

	begin(fd);
	request(fd);
	say(fd, LENS_RELAY_RESULT, much, sizeof(much));
	pause();
}

static void is_ready_twice(int fd)
{
	begin(fd);
	say(fd, LENS_RELAY_READY, NULL, 0);
	pause();
}

static void does_not_read(int fd)
{
	begin(fd);
	pause();
}

/* In the keeper. */

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	if (world == NULL)
		return -1;
	world->log = agent_log_create("agent");
	world->config = lens_config_create();
	if (world->log == NULL || world->config == NULL)
		return -1;
	world->sender =
		agent_sender_create(world->config, LENS_EXPORTER_HTTP_PROTOBUF, "test", world->log);
	*state = world;
	return world->sender == NULL ? -1 : 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	agent_sender_destroy(world->sender);
	lens_config_destroy(world->config);
	agent_log_destroy(world->log);
	free(world);
	return 0;
}

/* Steps until there is something to tell. */
static enum agent_sender_event event_await(struct world *world)
{
	for (int round = 0; round < 1000; round++) {
		enum agent_sender_event event = agent_sender_step(world->sender, &world->result);
		struct pollfd fd;
		int64_t timeout = -1;

		if (event != AGENT_SENDER_NOTHING)
			return event;
		agent_sender_poll(world->sender, &fd, &timeout);
		assert_true(timeout >= 0 || agent_sender_free(world->sender));
		poll(&fd, 1, timeout >= 0 && timeout < 5000 ? (int)timeout : 5000);
	}
	fail_msg("nothing happens");
	return AGENT_SENDER_NOTHING;
}

static void ready(struct world *world, script *sender)
{
	next_script = sender;
	assert_int_equal(event_await(world), AGENT_SENDER_READY);
	assert_true(agent_sender_free(world->sender));
}

static int submit(struct world *world)
{
	return agent_sender_submit(world->sender, (const uint8_t *)"spans", 5);
}

static void assert_retry(struct world *world, const char *why)
{
	assert_int_equal(event_await(world), AGENT_SENDER_ANSWER);
	assert_int_equal(world->result.verdict, LENS_VERDICT_RETRY);
	assert_int_equal(world->result.retry_after_ms, -1);
	assert_non_null(strstr(world->result.message, why));
	assert_int_equal(agent_sender_pid(world->sender), 0);
}

static void requests_are_answered_one_after_the_other(void **state)
{
	struct world *world = *state;

	assert_int_equal(submit(world), -1); /* nobody is there yet */
	ready(world, honest);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(submit(world), 0);
		assert_false(agent_sender_free(world->sender));
		assert_int_equal(submit(world), -1);
		assert_int_equal(event_await(world), AGENT_SENDER_ANSWER);
		assert_int_equal(world->result.verdict, LENS_VERDICT_DONE);
		assert_int_equal(world->result.rejected, 2);
		assert_string_equal(world->result.message, "two were not taken");
	}
}

static void a_fault_is_told_and_tried_again(void **state)
{
	struct world *world = *state;

	next_script = faulty;
	assert_int_equal(event_await(world), AGENT_SENDER_FAULT);
	assert_int_equal(
		strncmp(agent_sender_fault(world->sender), "CertificateFile:??[2J is none", 29), 0);
	assert_int_equal(agent_sender_pid(world->sender), 0);
	assert_false(agent_sender_free(world->sender));
	/* Not at once, but soon. */
	assert_int_equal(agent_sender_step(world->sender, &world->result), AGENT_SENDER_NOTHING);
	assert_int_equal(agent_sender_pid(world->sender), 0);
	ready(world, honest);
	assert_string_equal(agent_sender_fault(world->sender), "");
}

static void a_request_of_a_sender_that_died_is_put_off(void **state)
{
	struct world *world = *state;

	ready(world, dies_in_a_request);
	assert_int_equal(submit(world), 0);
	assert_retry(world, "ended with status 3");
	ready(world, honest);
	assert_int_equal(submit(world), 0);
	assert_int_equal(event_await(world), AGENT_SENDER_ANSWER);
	assert_int_equal(world->result.verdict, LENS_VERDICT_DONE);
}

static void an_answer_to_nothing_ends_it(void **state)
{
	struct world *world = *state;

	ready(world, answers_unasked);
	assert_int_equal(event_await(world), AGENT_SENDER_FAULT);
	assert_non_null(strstr(agent_sender_fault(world->sender), "what it should not"));
	assert_int_equal(agent_sender_pid(world->sender), 0);
}

static void an_answer_to_another_request_acknowledges_nothing(void **state)
{
	struct world *world = *state;

	ready(world, answers_another_request);
	assert_int_equal(submit(world), 0);
	assert_retry(world, "what it should not");
}

static void too_long_an_answer_ends_it(void **state)
{
	struct world *world = *state;

	ready(world, says_too_much);
	assert_int_equal(submit(world), 0);
	assert_retry(world, "more than is taken");
}

static void being_ready_twice_ends_it(void **state)
{
	struct world *world = *state;

	ready(world, is_ready_twice);
	assert_int_equal(event_await(world), AGENT_SENDER_FAULT);
	assert_int_equal(agent_sender_pid(world->sender), 0);
}

static void nobody_waits_for_one_that_does_not_read(void **state)
{
	struct world *world = *state;
	size_t length = 8 * 1024 * 1024;
	uint8_t *bytes = calloc(1, length);
	struct timespec from, to;

	ready(world, does_not_read);
	assert_int_equal(agent_sender_submit(world->sender, bytes, length), 0);
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < 10; i++)
		assert_int_equal(agent_sender_step(world->sender, &world->result),
				 AGENT_SENDER_NOTHING);
	clock_gettime(CLOCK_MONOTONIC, &to);
	assert_true(to.tv_sec - from.tv_sec < 5);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(requests_are_answered_one_after_the_other, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_fault_is_told_and_tried_again, setup, teardown),
		cmocka_unit_test_setup_teardown(a_request_of_a_sender_that_died_is_put_off, setup,
						teardown),
		cmocka_unit_test_setup_teardown(an_answer_to_nothing_ends_it, setup, teardown),
		cmocka_unit_test_setup_teardown(an_answer_to_another_request_acknowledges_nothing,
						setup, teardown),
		cmocka_unit_test_setup_teardown(too_long_an_answer_ends_it, setup, teardown),
		cmocka_unit_test_setup_teardown(being_ready_twice_ends_it, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_waits_for_one_that_does_not_read, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
