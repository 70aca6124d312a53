/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/job/ask_child.h"

#include "lib/core/clock.h"
#include "lib/core/record.h"
#include "lib/core/spawn.h"
#include "lib/core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MAX (256 * 1024) /* bytes; a node list can be long */

struct lens_ask_child {
	pid_t pid; /* 0 once it was waited for */
	int fd;
	int64_t deadline_ms;
	struct lens_text text;
};

/* Leaves the child PIPE as descriptor 3, /dev/null as 0 to 2 and nothing else. */
static int descriptors_reset(int pipe_end)
{
	if ((pipe_end != 3 && dup2(pipe_end, 3) == -1) || lens_child_stdio() == -1)
		return -1;
	close_range(4, ~0U, 0);
	return 0;
}

__attribute__((noreturn)) static void child_run(lens_ask_fn *ask, const void *question,
						int pipe_end)
{
	struct rlimit no_core = { 0, 0 };
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_carrier *record;
	int torn = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &no_core);
	lens_child_signals();
	alarm(LENS_ASK_DEADLINE_MS / 1000 + 1);
	if (descriptors_reset(pipe_end) == -1)
		_exit(1);
	record = lens_record_create("answer");
	if (record == NULL)
		_exit(1);
	if (ask(question, record, &err) != 0)
		lens_carrier_set(record, "error", err.text);
	_exit(lens_record_append(3, record, &torn) == 0 ? 0 : 1);
}

struct lens_ask_child *lens_ask_child_start(lens_ask_fn *ask, const void *question,
					    struct lens_error *err)
{
	struct lens_ask_child *child = calloc(1, sizeof(*child));
	int ends[2];

	if (child == NULL) {
		lens_error_set(err, "out of memory");
		return NULL;
	}
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) == -1) {
		lens_error_set(err, "pipe: %m");
		free(child);
		return NULL;
	}
	child->pid = fork();
	if (child->pid == 0) {
		fcntl(ends[1], F_SETFL, 0);
		child_run(ask, question, ends[1]);
	}
	close(ends[1]);
	if (child->pid == -1) {
		lens_error_set(err, "fork: %m");
		close(ends[0]);
		free(child);
		return NULL;
	}
	child->fd = ends[0];
	child->deadline_ms = lens_clock_ms() + LENS_ASK_DEADLINE_MS;
	return child;
}

int lens_ask_child_fd(const struct lens_ask_child *child)
{
	return child->fd;
}

int64_t lens_ask_child_remaining_ms(const struct lens_ask_child *child)
{
	int64_t left = child->deadline_ms - lens_clock_ms();

	return left > 0 ? left : 0;
}

/* 1: more may come; 0: the child closed its end or said too much. */
static int pipe_drain(struct lens_ask_child *child)
{
	char chunk[4096];
	ssize_t got;

	while (child->text.length <= ANSWER_MAX) {
		got = read(child->fd, chunk, sizeof(chunk));
		if (got > 0)
			lens_text_add(&child->text, chunk, (size_t)got);
		else if (got == -1 && errno == EINTR)
			continue;
		else
			return got == -1 && errno == EAGAIN ? 1 : 0;
	}
	return 0;
}

static void child_reap(struct lens_ask_child *child, bool murder)
{
	if (child->pid <= 0)
		return;
	if (murder)
		kill(child->pid, SIGKILL);
	while (waitpid(child->pid, NULL, 0) == -1 && errno == EINTR)
		;
	child->pid = 0;
}

static int answer_parse(struct lens_ask_child *child, struct lens_carrier **out,
			struct lens_error *err)
{
	struct lens_carrier *record = NULL;
	size_t length = child->text.length;
	const char *error;

	if (child->text.failed || length == 0 || child->text.data[length - 1] != '\n')
		return lens_error_set(
			err, "slurmctld: no answer (libslurm gave up; is SLURM_CONF right?)");
	child->text.data[length - 1] = '\0';
	record = lens_carrier_create();
	if (record == NULL || lens_carrier_parse(record, child->text.data, NULL) == -1) {
		lens_carrier_destroy(record);
		return lens_error_set(err, "out of memory");
	}
	error = lens_carrier_get(record, "error");
	if (error != NULL) {
		lens_error_set(err, "%s", error);
		lens_carrier_destroy(record);
		return -1;
	}
	*out = record;
	return 0;
}

int lens_ask_child_finish(struct lens_ask_child *child, struct lens_carrier **record,
			  struct lens_error *err)
{
	bool open = pipe_drain(child) == 1;

	if (open && lens_clock_ms() < child->deadline_ms)
		return 1;
	child_reap(child, open);
	if (open)
		return lens_error_set(err, "slurmctld: no answer within %d s",
				      LENS_ASK_DEADLINE_MS / 1000);
	return answer_parse(child, record, err);
}

void lens_ask_child_destroy(struct lens_ask_child *child)
{
	int saved = errno;

	if (child == NULL)
		return;
	child_reap(child, true);
	close(child->fd);
	lens_text_clear(&child->text);
	free(child);
	errno = saved;
}
