/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/random_id.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define COUNT 2000

static int id_compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct lens_span_id));
}

/* No two are the same, and every bit is on in some and off in some. */
static void ids_differ_in_every_bit(void **state)
{
	static struct lens_span_id ids[COUNT];
	uint8_t on[8] = { 0 }, off[8] = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(lens_span_id_random(&ids[i]), 0);
		for (size_t j = 0; j < sizeof(on); j++) {
			on[j] |= ids[i].bytes[j];
			off[j] |= (uint8_t)~ids[i].bytes[j];
		}
	}
	for (size_t j = 0; j < sizeof(on); j++) {
		assert_int_equal(on[j], 0xff);
		assert_int_equal(off[j], 0xff);
	}
	qsort(ids, COUNT, sizeof(ids[0]), id_compare);
	for (size_t i = 1; i < COUNT; i++)
		assert_int_not_equal(id_compare(&ids[i - 1], &ids[i]), 0);
}

/* All of a trace id is random: its low seven bytes are what samplers look at. */
static void a_child_does_not_repeat_its_parents_ids(void **state)
{
	struct lens_trace_id own, theirs;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(lens_trace_id_random(&own), 0);
	if (fork() == 0) {
		lens_trace_id_random(&own);
		_exit(write(fds[1], &own, sizeof(own)) != (ssize_t)sizeof(own));
	}
	assert_int_equal(read(fds[0], &theirs, sizeof(theirs)), sizeof(theirs));
	assert_int_equal(lens_trace_id_random(&own), 0);
	assert_memory_not_equal(own.bytes, theirs.bytes, 8);
	assert_memory_not_equal(own.bytes + 8, theirs.bytes + 8, 8);
	wait(NULL);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_differ_in_every_bit),
		cmocka_unit_test(a_child_does_not_repeat_its_parents_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
