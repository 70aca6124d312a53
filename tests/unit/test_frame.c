/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/frame.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

struct pair {
	int near, far;
	struct lens_frame_reader reader;
	struct lens_frame_writer writer;
};

static int setup(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	int ends[2];

	if (pair == NULL || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0)
		return -1;
	pair->near = ends[0];
	pair->far = ends[1];
	lens_frame_reader_init(&pair->reader, 1000);
	*state = pair;
	return 0;
}

static int teardown(void **state)
{
	struct pair *pair = *state;

	lens_frame_reader_clear(&pair->reader);
	lens_frame_writer_clear(&pair->writer);
	close(pair->near);
	if (pair->far != -1)
		close(pair->far);
	free(pair);
	return 0;
}

static int read_one(struct pair *pair)
{
	struct lens_error err = LENS_ERROR_INIT;

	return lens_frame_read(&pair->reader, pair->near, &err);
}

static void frames_come_as_they_went(void **state)
{
	struct pair *pair = *state;

	assert_int_equal(lens_frame_add(&pair->writer, 7, "one", 3), 0);
	assert_int_equal(lens_frame_add(&pair->writer, 8, NULL, 0), 0);
	assert_int_equal(lens_frame_add(&pair->writer, 9, "a\0b", 3), 0);
	assert_int_equal(lens_frame_flush(&pair->writer, pair->far), 1);
	assert_int_equal(read_one(pair), 1);
	assert_int_equal(pair->reader.kind, 7);
	assert_int_equal(pair->reader.length, 3);
	assert_memory_equal(pair->reader.body.data, "one", 3);
	assert_int_equal(read_one(pair), 1);
	assert_int_equal(pair->reader.kind, 8);
	assert_int_equal(pair->reader.length, 0);
	assert_int_equal(read_one(pair), 1);
	assert_int_equal(pair->reader.kind, 9);
	assert_memory_equal(pair->reader.body.data, "a\0b", 3);
	assert_int_equal(read_one(pair), 0);
}

static void a_frame_may_come_byte_by_byte(void **state)
{
	struct pair *pair = *state;
	uint32_t frame[3] = { 5, 4, 0x64636261 };

	for (size_t i = 0; i < sizeof(frame); i++) {
		assert_int_equal(read_one(pair), 0);
		assert_int_equal(write(pair->far, (const char *)frame + i, 1), 1);
	}
	assert_int_equal(read_one(pair), 1);
	assert_int_equal(pair->reader.kind, 5);
	assert_memory_equal(pair->reader.body.data, &frame[2], 4);
}

static void too_long_a_frame_is_refused_before_it_comes(void **state)
{
	struct pair *pair = *state;
	uint32_t head[2] = { 5, 1001 };
	struct lens_error err = LENS_ERROR_INIT;

	assert_int_equal(write(pair->far, head, sizeof(head)), sizeof(head));
	assert_int_equal(lens_frame_read(&pair->reader, pair->near, &err), -1);
	assert_non_null(strstr(err.text, "1001 bytes"));
	assert_null(pair->reader.body.data);
}

static void an_announced_length_takes_no_memory(void **state)
{
	struct pair *pair = *state;
	uint32_t head[2] = { 5, UINT32_MAX };

	pair->reader.limit = UINT32_MAX;
	assert_int_equal(write(pair->far, head, sizeof(head)), sizeof(head));
	assert_int_equal(write(pair->far, "x", 1), 1);
	assert_int_equal(read_one(pair), 0);
	assert_true(pair->reader.body.capacity < 4096);
}

static void the_end_is_an_error_also_inside_a_frame(void **state)
{
	struct pair *pair = *state;
	uint32_t head[2] = { 5, 10 };
	struct lens_error err = LENS_ERROR_INIT;

	assert_int_equal(write(pair->far, head, sizeof(head)), sizeof(head));
	close(pair->far);
	pair->far = -1;
	assert_int_equal(lens_frame_read(&pair->reader, pair->near, &err), -1);
	assert_string_equal(err.text, "the other end has closed");
}

static void a_full_socket_is_waited_for(void **state)
{
	struct pair *pair = *state;
	size_t length = 4 * 1024 * 1024;
	char *bytes = malloc(length);
	int rc;

	assert_non_null(bytes);
	memset(bytes, 'z', length);
	pair->reader.limit = length;
	assert_int_equal(lens_frame_add(&pair->writer, 1, bytes, length), 0);
	assert_int_equal(lens_frame_flush(&pair->writer, pair->far), 0);
	do {
		rc = read_one(pair);
		assert_true(lens_frame_flush(&pair->writer, pair->far) >= 0);
	} while (rc == 0);
	assert_int_equal(rc, 1);
	assert_int_equal(pair->reader.body.length, length);
	assert_memory_equal(pair->reader.body.data, bytes, length);
	free(bytes);
}

static void nobody_there_is_no_signal(void **state)
{
	struct pair *pair = *state;

	close(pair->far);
	pair->far = -1;
	assert_int_equal(lens_frame_add(&pair->writer, 1, "x", 1), 0);
	assert_int_equal(lens_frame_flush(&pair->writer, pair->near), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(frames_come_as_they_went, setup, teardown),
		cmocka_unit_test_setup_teardown(a_frame_may_come_byte_by_byte, setup, teardown),
		cmocka_unit_test_setup_teardown(too_long_a_frame_is_refused_before_it_comes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(an_announced_length_takes_no_memory, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_end_is_an_error_also_inside_a_frame, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_full_socket_is_waited_for, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_there_is_no_signal, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
