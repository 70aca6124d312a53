/* SPDX-License-Identifier: Apache-2.0 */
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

/* A file of the state directory, last written SECONDS after the epoch; its size on disk. */
static uint64_t put(struct world *world, struct lens_state_name name, const char *text,
		    time_t seconds)
{
	struct timespec times[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };
	const char *file = name_of(name);
	struct stat status;

	scratch_write(world->scratch, file, text);
	assert_int_equal(utimensat(world->scratch->fd, file, times, 0), 0);
	assert_int_equal(fstatat(world->scratch->fd, file, &status, 0), 0);
	return (uint64_t)status.st_blocks * 512;
}

static struct lens_state_name journal(uint32_t step)
{
	return (struct lens_state_name){ .kind = LENS_STATE_JOURNAL, .step = step, .pid = 42 };
}

#define STEP                                                                                  \
	"v=1,t=100700000000,m=500,e=step_open,job=12345,leader=12345,attempt=0,cluster=mini," \
	"node=n1,step=0,kind=step,nodeid=0\n"                                                 \
	"v=1,t=100700000100,m=600,e=task_open,rank=0,local=0,nodeid=0,pid=7,export=1\n"       \
	"v=1,t=100700000200,m=700,e=step_end\n"

static void the_oldest_finished_files_go_first(void **state)
{
	struct world *world = *state;
	uint64_t all = 0, one;

	world->verdict = LENS_VERDICT_RETRY;
	one = put(world, journal(7), STEP, 3000);
	all += one + put(world, journal(8), STEP, 2000) + put(world, journal(9), STEP, 4000);
	lens_backlog_limit(world->backlog, all);
	run(world);
	assert_true(scratch_has(world->scratch, JOURNAL(8)));
	assert_int_equal(world->result.capped, 0);

	lens_backlog_limit(world->backlog, all - 1);
	run(world);
	assert_false(scratch_has(world->scratch, JOURNAL(8)));
	assert_true(scratch_has(world->scratch, JOURNAL(7)));
	assert_int_equal(world->result.capped, 2);
	assert_non_null(strstr(world->log, "1 finished files with 2 spans were dropped"));

	lens_backlog_limit(world->backlog, 1);
	run(world);
	assert_false(scratch_has(world->scratch, JOURNAL(7)));
	assert_false(scratch_has(world->scratch, JOURNAL(9)));
	assert_int_equal(world->result.capped, 4);
	assert_string_equal(world->spans, "");

	/* Said when it happens, not for ever. */
	world->log[0] = '\0';
	run(world);
	assert_int_equal(world->result.capped, 0);
	assert_string_equal(world->log, "");
}

static void what_still_runs_stays(void **state)
{
	struct world *world = *state;
	char file[LENS_STATE_NAME], byte;
	int pipes[2];
	pid_t writer;

	strcpy(file, JOURNAL(5));
	put(world, journal(5),
	    "v=1,t=100700000000,m=500,e=step_open,job=12345,attempt=0,cluster=mini,node=n1,step=5,"
	    "kind=step\n",
	    1000);
	assert_int_equal(pipe(pipes), 0);
	writer = scratch_fork();
	if (writer == 0) {
		struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
		int fd = openat(world->scratch->fd, file, O_RDWR);

		if (fcntl(fd, F_SETLK, &lock) != 0 || write(pipes[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	lens_backlog_limit(world->backlog, 1);
	run(world);
	assert_true(scratch_has(world->scratch, file));
	kill(writer, SIGKILL);
	scratch_wait(writer);
	close(pipes[0]);
	close(pipes[1]);
	run(world);
	assert_false(scratch_has(world->scratch, file));
}

static void nothing_of_a_running_job_goes(void **state)
{
	struct world *world = *state;

	world->verdict = LENS_VERDICT_RETRY;
	world->reply = LENS_REPLY_PENDING;
	put(world, (struct lens_state_name){ .kind = LENS_STATE_NOTE }, NOTE_LINE(",lens=1"), 1000);
	put(world, journal(7), STEP, 3000);
	lens_backlog_limit(world->backlog, 1);
	run(world);
	assert_true(scratch_has(world->scratch, JOURNAL(7)));
	assert_true(scratch_has(world->scratch, NOTE));
	assert_int_equal(world->result.capped, 0);
}

/* The first node is found as it is when the spans are made. */
static void what_is_lost_is_counted_as_it_would_be_sent(void **state)
{
	static const char note[] =
		NOTE_LINE(",lens=1") "v=1,t=100800000000,m=2,e=window,"
				     "from=100700000000,to=110700000000,step=4294967291\n"
				     "v=1,t=110900000000,m=9,e=epilog,attempt=0\n";
	struct world *world = *state;

	world->reply = LENS_REPLY_PENDING;
	put(world, (struct lens_state_name){ .kind = LENS_STATE_ENDED }, note, 1000);
	lens_backlog_limit(world->backlog, 1);
	run(world);
	assert_false(scratch_has(world->scratch, ENDED(0)));
	assert_true(world->result.capped >= 2);
}

/* With the receiver away an event costs no reading of all that waits. */
static void what_is_finished_is_read_once_while_nothing_is_sent(void **state)
{
	struct lens_error err = LENS_ERROR_INIT;
	struct world *world = *state;
	char *text;

	put(world, journal(7), STEP, 3000);
	assert_int_equal(lens_backlog_run(world->backlog, false, &world->result, &err), 0);
	/* Of the same size, but nothing that can be read: nobody looks. */
	text = scratch_read(world->scratch, JOURNAL(7));
	memset(text, 'x', strlen(text));
	put(world, journal(7), text, 3000);
	free(text);
	assert_int_equal(lens_backlog_run(world->backlog, false, &world->result, &err), 0);
	assert_int_equal(lens_backlog_run(world->backlog, false, &world->result, &err), 0);
	assert_true(world->result.unsent);
	assert_string_equal(world->log, "");
	/* One that has grown was told something. */
	put(world, journal(7), STEP "v=1,t=111000000000,m=1,e=extern,first=1,nodes=1\n", 3000);
	assert_int_equal(lens_backlog_run(world->backlog, false, &world->result, &err), 0);
	run(world);
	assert_string_equal(world->spans, "slurm.step,slurm.task,");
	assert_false(scratch_has(world->scratch, JOURNAL(7)));
}

/* A full disk: what was sent makes room, nothing is sent twice. */
static void a_full_disk_keeps_nothing_back(void **state)
{
	struct world *world = *state;
	struct rlimit before, none;
	pid_t child;

	put(world, (struct lens_state_name){ .kind = LENS_STATE_NOTE }, NOTE_LINE(",lens=1"),
	    time(NULL));
	put(world, journal(0), STEP, time(NULL));
	put(world, journal(1), STEP "v=1,t=100700000300,m=8", time(NULL));
	child = scratch_fork();
	if (child == 0) {
		/* No file may grow, as on a full disk; a record then fails with EFBIG. */
		signal(SIGXFSZ, SIG_IGN);
		getrlimit(RLIMIT_FSIZE, &before);
		none = before;
		none.rlim_cur = 0;
		setrlimit(RLIMIT_FSIZE, &none);
		run_twice(world);
		_exit(strcmp(world->spans, "slurm.step,slurm.task,slurm.step,slurm.task,") == 0 &&
				      !scratch_has(world->scratch, JOURNAL(0)) &&
				      !scratch_has(world->scratch, JOURNAL(1)) &&
				      strstr(world->log, "cannot be written") != NULL &&
				      strstr(strstr(world->log, "cannot be written") + 1,
					     "cannot be written") == NULL &&
				      strstr(world->log, "1 lines were cut or foreign") != NULL
			      ? 0
			      : 1);
	}
	assert_int_equal(scratch_wait(child), 0);
}

/* In a mount namespace of its own, as root; elsewhere there is nothing to see. */
static void a_read_only_directory_waits_and_heals(void **state)
{
	struct world *world = *state;
	pid_t child;

	if (geteuid() != 0)
		skip();
	put(world, journal(0), STEP, time(NULL));
	child = scratch_fork();
	if (child == 0) {
		const char *path = world->scratch->path;

		if (unshare(CLONE_NEWNS) != 0 ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		    mount(path, path, NULL, MS_BIND, NULL) != 0)
			_exit(77);
		close(world->scratch->fd); /* it is not on the new mount */
		if (open(path, O_RDONLY | O_DIRECTORY) != world->scratch->fd ||
		    mount(NULL, path, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) != 0)
			_exit(2);
		run_twice(world);
		if (world->requests != 0 || world->result.due_ms != world->now_ms + 10000 ||
		    strstr(world->log, "StateDir cannot be written") == NULL)
			_exit(3);
		if (mount(NULL, path, NULL, MS_BIND | MS_REMOUNT, NULL) != 0)
			_exit(4);
		run(world);
		_exit(world->requests == 1 && !scratch_has(world->scratch, JOURNAL(0)) &&
				      strstr(world->log, "can be written again") != NULL
			      ? 0
			      : 5);
	}
	switch (scratch_wait(child)) {
	case 77:
		skip();
	case 0:
		break;
	default:
		fail();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		world_test(the_oldest_finished_files_go_first),
		world_test(what_still_runs_stays),
		world_test(nothing_of_a_running_job_goes),
		world_test(what_is_lost_is_counted_as_it_would_be_sent),
		world_test(what_is_finished_is_read_once_while_nothing_is_sent),
		world_test(a_full_disk_keeps_nothing_back),
		world_test(a_read_only_directory_waits_and_heals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
