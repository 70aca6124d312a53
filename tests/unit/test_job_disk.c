/* SPDX-License-Identifier: Apache-2.0 */
/* A disk that is full or takes nothing, and what the backlog itself writes. */
#include "lib/job/backlog.h"

#include <inttypes.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <time.h>
#include <cmocka.h>

#include "tests/unit/job_world.h"

#define GONE "found=1,job=12345,attempt=1,state=PENDING,submit=111"

static void append(struct world *world, const char *name, const char *line)
{
	int fd = openat(world->scratch->fd, name, O_WRONLY | O_APPEND);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, line, strlen(line)), strlen(line));
	close(fd);
}

/* In a child of its own: no file may grow, as on a full disk; a record then fails with EFBIG. */
static void disk_fill(void)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = 0;
	setrlimit(RLIMIT_FSIZE, &limit);
}

static void disk_clear(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &limit);
}

/* Makes the directory a mount of this child's own. 0, or what to exit with. */
static int mount_own(struct world *world)
{
	const char *path = world->scratch->path;

	if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount(path, path, NULL, MS_BIND, NULL) != 0)
		return 77;
	close(world->scratch->fd); /* it is not on the new mount */
	return open(path, O_RDONLY | O_DIRECTORY) == world->scratch->fd ? 0 : 2;
}

static int mount_again(struct world *world, unsigned long flags)
{
	return mount(NULL, world->scratch->path, NULL, MS_BIND | MS_REMOUNT | flags, NULL);
}

static void child_check(pid_t child)
{
	int code = scratch_wait(child);

	if (code == 77)
		skip(); /* no mounts here */
	assert_int_equal(code, 0);
}

static int full_disk(struct world *world)
{
	disk_fill();
	for (int i = 0; i < 6; i++)
		run(world);
	if (world->asked != 1 || world->result.due_ms != world->now_ms + 60000 ||
	    world->result.unanswered != 0)
		return 1;
	if (!lens_backlog_wrote(world->backlog, NOTE))
		return 2;
	world->now_ms += 60000;
	run_twice(world);
	if (world->asked != 2)
		return 3;
	disk_clear();
	world->now_ms += 60000;
	run_twice(world);
	return world->asked == 3 && strstr(world->spans, "slurm.job_start") != NULL ? 0 : 4;
}

static void a_full_disk_asks_once_a_minute(void **state)
{
	struct world *world = *state;
	pid_t child;

	scratch_write(world->scratch, NOTE, NOTE_LINE(",lens=1,first=1"));
	child = scratch_fork();
	if (child == 0)
		_exit(full_disk(world));
	child_check(child);
}

static int full_disk_at_the_end(struct world *world)
{
	disk_fill();
	for (int i = 0; i < 6; i++)
		run(world);
	return world->asked == 1 && world->result.due_ms == world->now_ms + 60000 &&
			       scratch_has(world->scratch, NOTE)
		       ? 0
		       : 1;
}

static void so_does_the_end_that_nobody_told(void **state)
{
	struct world *world = *state;
	pid_t child;

	world->answer = GONE;
	scratch_write(
		world->scratch, NOTE,
		NOTE_LINE(
			",boot=0000dead,lens=1,first=1") "v=1,t=1,m=1,e=answer,when=start,found=1,job=12345,attempt=0,"
							 "state=RUNNING,submit=90,eligible=90,start=100\n"
							 "v=1,t=1,m=1,e=sent,what=start\n");
	child = scratch_fork();
	if (child == 0)
		_exit(full_disk_at_the_end(world));
	child_check(child);
}

static void its_own_writing_is_no_news(void **state)
{
	struct world *world = *state;

	scratch_write(world->scratch, NOTE, NOTE_LINE(",lens=1"));
	scratch_write(world->scratch, JOURNAL(BATCH), BATCH_LINES);
	assert_false(lens_backlog_wrote(world->backlog, NOTE));
	run_twice(world); /* the window, the answer and that it was sent */
	assert_non_null(strstr(world->spans, "slurm.job_start"));
	assert_true(lens_backlog_wrote(world->backlog, NOTE));
	append(world, NOTE, "v=1,t=120000000000,m=2,e=optin\n");
	assert_false(lens_backlog_wrote(world->backlog, NOTE));
	assert_false(lens_backlog_wrote(world->backlog, ENDED(0)));
}

static int asking(struct world *world)
{
	int rc = mount_own(world);

	if (rc != 0)
		return rc;
	world->reply = LENS_REPLY_PENDING;
	run_twice(world);
	if (world->under_way != 1 || mount_again(world, MS_RDONLY) != 0)
		return 3;
	run(world);
	/* What is due at once would be due for ever. */
	if (world->under_way != 0 || world->result.due_ms != world->now_ms + 10000)
		return 4;
	return mount_again(world, 0) == 0 ? 0 : 5;
}

static void questions_end_with_a_directory_that_takes_nothing(void **state)
{
	struct world *world = *state;
	pid_t child;

	scratch_write(world->scratch, NOTE, NOTE_LINE(",lens=1,first=1"));
	child = scratch_fork();
	if (child == 0)
		_exit(asking(world));
	child_check(child);
}

static int lost_end(struct world *world)
{
	int rc = mount_own(world);

	if (rc != 0)
		return rc;
	run_twice(world);
	if (world->asked != 1 || mount_again(world, MS_RDONLY) != 0)
		return 3;
	run(world); /* the epilog finds it so, too */
	stamp_passes();
	if (mount_again(world, 0) != 0)
		return 4;
	world->answer = GONE;
	for (int i = 0; i < 4; i++)
		run(world);
	if (strstr(world->spans, "slurm.job,") == NULL || scratch_has(world->scratch, NOTE))
		return 5;
	return 0;
}

static void an_end_that_could_not_be_noted_is_found(void **state)
{
	struct world *world = *state;
	pid_t child;

	scratch_write(world->scratch, NOTE, NOTE_LINE(",lens=1,first=1"));
	child = scratch_fork();
	if (child == 0)
		_exit(lost_end(world));
	child_check(child);
}

/* The epilog's record is there, but the file could not be renamed. */
static void an_end_under_the_current_name_is_one(void **state)
{
	struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	struct world *world = *state;

	scratch_write(world->scratch, NOTE, NOTE_LINE(",lens=1") EPILOG_LINE(",first=1"));
	world->answer = COMPLETED;
	run_twice(world);
	assert_true(scratch_has(world->scratch, NOTE)); /* the epilog may be at it */
	assert_int_equal(world->result.due_ms, world->now_ms + 60000);
	assert_int_equal(utimensat(world->scratch->fd, NOTE, old, 0), 0);
	for (int i = 0; i < 4; i++)
		run(world);
	assert_false(scratch_has(world->scratch, NOTE));
	assert_false(scratch_has(world->scratch, ENDED(0)));
	assert_non_null(strstr(world->spans, "slurm.job,"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		world_test(a_full_disk_asks_once_a_minute),
		world_test(so_does_the_end_that_nobody_told),
		world_test(its_own_writing_is_no_news),
		world_test(questions_end_with_a_directory_that_takes_nothing),
		world_test(an_end_that_could_not_be_noted_is_found),
		world_test(an_end_under_the_current_name_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
