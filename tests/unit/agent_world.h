/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_AGENT_WORLD_H
#define LENS_TESTS_AGENT_WORLD_H

#include "cmd/command.h"
#include "lib/core/hash.h"
#include "lib/core/statedir.h"
#include "lib/core/step_id.h"
#include "lib/core/text.h"
#include "lib/job/status.h"

#include "tests/unit/fault_receiver.h"
#include "tests/unit/scratch.h"

#include <sys/syscall.h>
#include <time.h>

/*
 * The agent as it is, keeper and sender, in processes of their own, over a state directory of
 * the test's. The keeper's monotonic clock is ahead by what the test says; the sender's is true.
 * For one test program, whose main hands `sender` on.
 */
struct world {
	struct scratch *scratch;
	int state; /* the state directory */
	pid_t agent;
	struct fault_receiver *receiver;
	struct lens_status status; /* as read last */
};

static int64_t *ahead_s; /* shared by this process and the keeper; NULL in the sender */

int clock_gettime(clockid_t clock, struct timespec *out)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, out);

	if (rc == 0 && ahead_s != NULL && clock == CLOCK_MONOTONIC)
		out->tv_sec += (time_t)__atomic_load_n(ahead_s, __ATOMIC_SEQ_CST);
	return rc;
}

static inline void clock_advance(int64_t seconds)
{
	__atomic_add_fetch(ahead_s, seconds, __ATOMIC_SEQ_CST);
}

static inline const char *name_of(struct lens_state_name name)
{
	static char text[LENS_STATE_NAME + sizeof("state/")];

	name.node = lens_name_number("n1");
	memcpy(text, "state/", sizeof("state/"));
	lens_state_name_format(text + strlen("state/"), &name);
	return text;
}

/* A step that is over: a span, and one for each of TASKS tasks from rank FIRST on. */
static inline void journal_put(struct world *world, uint32_t job, uint32_t step, int first,
			       int tasks)
{
	struct lens_text text = LENS_TEXT_INIT;

	lens_text_addf(&text,
		       "v=1,t=100700000000,m=500,e=step_open,job=%u,leader=%u,attempt=0,"
		       "cluster=mini,node=n1,step=%u,kind=%s,nodeid=0\n",
		       job, job, step, step == LENS_STEP_BATCH ? "batch" : "step");
	for (int rank = 0; rank < tasks; rank++)
		lens_text_addf(&text,
			       "v=1,t=100700000100,m=600,e=task_open,rank=%d,local=%d,nodeid=0,"
			       "pid=%d,export=1\n",
			       first + rank, rank, rank + 10);
	lens_text_adds(&text, "v=1,t=110700000000,m=10000000500,e=step_end\n");
	scratch_write(world->scratch,
		      name_of((struct lens_state_name){
			      .kind = LENS_STATE_JOURNAL, .job = job, .step = step, .pid = 42 }),
		      text.data);
	lens_text_clear(&text);
}

/* The note of a job that is over, about which slurmctld was asked. */
static inline void note_put(struct world *world, uint32_t job)
{
	struct lens_text text = LENS_TEXT_INIT;

	lens_text_addf(&text,
		       "v=1,t=100500000000,m=1,e=note,job=%u,leader=%u,attempt=0,cluster=mini,"
		       "node=n1,lens=1,first=1\n"
		       "v=1,t=100600000000,m=2,e=answer,when=start,found=1,job=%u,attempt=0,"
		       "state=RUNNING,submit=90,eligible=90,start=100\n"
		       "v=1,t=110900000000,m=9,e=epilog,attempt=0,nodelist=n1,first=1\n"
		       "v=1,t=111000000000,m=10,e=answer,when=end,found=1,job=%u,attempt=0,"
		       "state=COMPLETED,submit=90,eligible=90,start=100,end=110\n",
		       job, job, job, job);
	scratch_write(world->scratch,
		      name_of((struct lens_state_name){ .kind = LENS_STATE_ENDED, .job = job }),
		      text.data);
	lens_text_clear(&text);
}

static void (*keeper_begins)(void); /* called in the keeper's process first; NULL: nothing */

/* The agent with SETTINGS, lines of lens.conf; what it would tell a terminal goes to a file. */
static inline pid_t agent_fork(struct world *world, const char *settings, bool once)
{
	char config[512];
	char *argv[] = { "agent", "--config", config, once ? "--once" : NULL, NULL };
	struct lens_text text = LENS_TEXT_INIT;
	pid_t pid;

	lens_text_addf(&text, "StateDir=%s/state\nAgentUser=nobody\n%s", world->scratch->path,
		       settings);
	scratch_write(world->scratch, "lens.conf", text.data);
	lens_text_clear(&text);
	snprintf(config, sizeof(config), "%s/lens.conf", world->scratch->path);
	pid = scratch_fork();
	assert_int_not_equal(pid, -1);
	if (pid == 0) {
		if (freopen(scratch_path(world->scratch, "agent.err"), "a", stderr) == NULL)
			_exit(98);
		if (keeper_begins != NULL)
			keeper_begins();
		_exit(lens_agent_main(once ? 4 : 3, argv));
	}
	return pid;
}

static inline void agent_start(struct world *world, const char *more)
{
	char settings[256];

	snprintf(settings, sizeof(settings), "Protocol=http/json\nEndpoint=http://127.0.0.1:%d\n%s",
		 world->receiver->port, more);
	world->agent = agent_fork(world, settings, false);
}

static inline void agent_stop(struct world *world)
{
	kill(world->agent, SIGTERM);
	assert_int_equal(scratch_wait(world->agent), 0);
	world->agent = 0;
}

static inline void status_look(struct world *world)
{
	lens_status_read(world->state, &world->status, NULL);
}

static inline int visit_count(void *context, const struct lens_state_name *name, const char *text)
{
	(void)name;
	(void)text;
	++*(size_t *)context;
	return 0;
}

/* Notes and journals that are there. */
static inline size_t files_left(const struct world *world)
{
	size_t count = 0;

	assert_int_equal(lens_statedir_each(world->state, visit_count, &count), 0);
	return count;
}

static inline bool is_drained(struct world *world)
{
	return files_left(world) == 0;
}

/* Waits for IS; what does not come in SECONDS (true ones) fails the test. */
static inline void wait_for(struct world *world, bool (*is)(struct world *world), int seconds)
{
	char *log;

	for (int round = 0; round < seconds * 100; round++) {
		if (is(world))
			return;
		if (waitpid(world->agent, NULL, WNOHANG) != 0)
			break;
		usleep(10000);
	}
	log = scratch_read(world->scratch, "state/agent.log");
	fail_msg("not after %d s; %zu files left; the agent's log:\n%s", seconds, files_left(world),
		 log != NULL ? log : "");
}

static inline int world_setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	void *scratch = NULL;

	if (world == NULL || scratch_setup(&scratch) != 0)
		return -1;
	world->scratch = scratch;
	if (mkdirat(world->scratch->fd, "state", 0700) != 0)
		return -1;
	world->state = openat(world->scratch->fd, "state", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*state = world;
	return world->state == -1 ? -1 : 0;
}

static inline int world_teardown(void **state)
{
	struct world *world = *state;
	void *scratch = world->scratch;

	if (world->agent > 0) {
		kill(world->agent, SIGKILL);
		waitpid(world->agent, NULL, 0);
	}
	if (world->receiver != NULL)
		fault_receiver_destroy(world->receiver);
	close(world->state);
	free(world);
	return scratch_teardown(&scratch);
}

#endif
