/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/spankhost/self.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HUNG_MS     3000 /* how long a descriptor may outlive its process */
#define FD_MAX      256
#define CLONE_STACK (1024 * 1024)

struct host_self host_self = { .hook = HOOK_NONE };
struct spank_handle host_handle = { HOST_MAGIC };

const struct host_watch *host_watch;

static bool inside;

bool host_plugin_turn(bool into)
{
	bool before = inside;

	if (host_watch && into != before) {
		if (into)
			host_watch->enter();
		else
			host_watch->leave();
	}
	inside = into;
	return before;
}

const char *const host_hook_names[] = {
	[HOOK_INIT] = "init",
	[HOOK_JOB_PROLOG] = "job_prolog",
	[HOOK_INIT_POST_OPT] = "init_post_opt",
	[HOOK_LOCAL_USER_INIT] = "local_user_init",
	[HOOK_USER_INIT] = "user_init",
	[HOOK_TASK_INIT_PRIVILEGED] = "task_init_privileged",
	[HOOK_TASK_INIT] = "task_init",
	[HOOK_TASK_POST_FORK] = "task_post_fork",
	[HOOK_TASK_EXIT] = "task_exit",
	[HOOK_JOB_EPILOG] = "job_epilog",
	[HOOK_SLURMD_EXIT] = "slurmd_exit",
	[HOOK_EXIT] = "exit",
	[HOOK_NONE] = "",
};

static void *plugin;
const char *host_plugin_name = "";
static spank_f *hooks[HOOK_NONE];

static void die(const char *what)
{
	fprintf(stderr, "# spankhost: %s: %s\n", what, strerror(errno));
	abort();
}

void host_plugin_load(void)
{
	const char *path = host_site(host_self.host)->plugin;
	const char *type;

	plugin = dlopen(path, RTLD_LAZY);
	if (!plugin) {
		fprintf(stderr, "# spankhost: %s\n", dlerror());
		abort();
	}
	type = dlsym(plugin, "plugin_type");
	if (!type || strcmp(type, "spank") != 0)
		die("no SPANK plugin");
	host_plugin_name = dlsym(plugin, "plugin_name");
	if (!host_plugin_name)
		die("a plugin without a name");
	for (size_t i = 0; i < HOOK_NONE; i++) {
		char name[64];

		snprintf(name, sizeof(name), "slurm_spank_%s", host_hook_names[i]);
		*(void **)&hooks[i] = dlsym(plugin, name);
	}
}

void host_plugin_unload(void)
{
	size_t left;

	dlclose(plugin);
	left = host_watch ? host_watch->left() : 0;
	if (left)
		host_record(HOST_LEFT, (int)left, "", 0);
}

/* Which descriptors are open: 1, and 2 when an exec keeps it. */
static void fds_list(char out[FD_MAX])
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;

	memset(out, 0, FD_MAX);
	while (directory && (entry = readdir(directory))) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] == '.' || fd == dirfd(directory) || fd >= FD_MAX)
			continue;
		out[fd] = fcntl(fd, F_GETFD) & FD_CLOEXEC ? 1 : 2;
	}
	if (directory)
		closedir(directory);
}

static int threads_count(void)
{
	DIR *directory = opendir("/proc/self/task");
	int count = 0;

	while (directory && readdir(directory))
		count++;
	if (directory)
		closedir(directory);
	return count - 2;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Runs the hook here and now, and records what it answered and left behind. */
static int run(void *argument)
{
	const struct host_site *site = host_site(host_self.host);
	char before[FD_MAX], after[FD_MAX];
	int threads = threads_count();
	struct host_event *event;
	int count = 0, rc;
	uint64_t began, took;

	while (site->arguments && site->arguments[count])
		count++;
	fds_list(before);
	host_plugin_turn(true);
	began = now_ns();
	rc = hooks[host_self.hook](&host_handle, count, (char **)site->arguments);
	took = now_ns() - began;
	host_plugin_turn(false);
	fds_list(after);
	event = host_record(HOST_HOOK, rc, "", 0);
	event->ns = took;
	event->threads_added = threads_count() - threads;
	for (size_t i = 0; i < FD_MAX; i++) {
		event->fds_added += !!after[i] - !!before[i];
		event->fds_inherited += after[i] == 2 && !before[i];
	}
	*(int *)argument = rc;
	return 0;
}

/* ContainSpank: the hook runs in a child that shares the memory, not the descriptors, and
 * that ends by _exit. */
static int run_cloned(void)
{
	char *stack = malloc(CLONE_STACK);
	int rc = 0;
	pid_t pid;

	if (!stack)
		die("clone");
	pid = clone(run, stack + CLONE_STACK, CLONE_VM | SIGCHLD, &rc);
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		die("clone");
	free(stack);
	return rc;
}

int host_hook_run(enum host_hook hook, struct host_task *task)
{
	bool cloned =
		host_site(host_self.host)->contain_spank && host_self.context == S_CTX_REMOTE &&
		(hook == HOOK_USER_INIT || hook == HOOK_TASK_POST_FORK || hook == HOOK_TASK_EXIT);
	int rc = 0;

	if (!hooks[hook])
		return 0;
	host_self.hook = hook;
	host_self.task = task;
	if (cloned)
		rc = run_cloned();
	else
		run(&rc);
	host_self.hook = HOOK_NONE;
	host_self.task = NULL;
	return rc;
}

static void fd_put(int from, int to)
{
	if (from < 0)
		close(to);
	else if (dup2(from, to) < 0)
		die("dup2");
}

void host_stdio_set(int in, int out)
{
	fd_put(in, 0);
	fd_put(out, 1);
	fd_put(out, 2);
}

void host_become_user(void)
{
	gid_t gid = host_uid();

	if (getuid() != 0)
		return;
	if (setgroups(1, &gid) || setresgid(gid, gid, gid) ||
	    setresuid(host_uid(), host_uid(), host_uid()))
		die("setresuid");
}

static void *idle(void *argument)
{
	(void)argument;
	for (;;)
		pause();
	return NULL;
}

/* slurmstepd and slurmd have threads of their own, which a fork leaves behind. */
void host_threads_start(int count)
{
	pthread_t thread;

	for (int i = 0; i < count; i++)
		if (pthread_create(&thread, NULL, idle, NULL) != 0)
			die("pthread_create");
}

static void child(int fd, char *const *env, int (*body)(void *argument), void *argument)
{
	int null, code;

	prctl(PR_SET_NAME, host_self.role);
	/* High, as Slurm's own are: plugins find the low numbers as they are there. */
	host_self.user_fd = fcntl(fd, F_DUPFD_CLOEXEC, 200);
	if (host_self.user_fd < 0 || close_range(3, 199, 0) || close_range(201, ~0U, 0))
		die("descriptors");
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	host_stdio_set(null, host_self.user_fd);
	close(null);
	environ = host_env_copy(env);
	code = body(argument);
	_exit(code);
}

static int remaining(const struct timespec *since)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return HUNG_MS - (int)((now.tv_sec - since->tv_sec) * 1000 +
			       (now.tv_nsec - since->tv_nsec) / 1000000);
}

/* Reads FD to its end, as Slurm does, though not for ever once PID is gone. The wait status. */
static int read_output(int fd, pid_t pid)
{
	struct pollfd poller = { .fd = fd, .events = POLLIN };
	struct timespec ended = { 0 };
	bool gone = false, done = false;
	char *text = NULL, part[4096];
	size_t length = 0;
	int status = 0;

	while (!done) {
		if (poll(&poller, 1, 50) > 0) {
			ssize_t got = read(fd, part, sizeof(part));

			done = got <= 0;
			if (got > 0) {
				text = realloc(text, length + (size_t)got);
				memcpy(text + length, part, (size_t)got);
				length += (size_t)got;
			}
		}
		if (!gone && waitpid(pid, &status, WNOHANG) == pid) {
			gone = true;
			clock_gettime(CLOCK_MONOTONIC, &ended);
		}
		if (!done && gone && remaining(&ended) < 0) {
			host_record(HOST_HUNG, 0, "", 0);
			break;
		}
	}
	if (!gone)
		waitpid(pid, &status, 0);
	if (length)
		host_record(host_self.context == S_CTX_SLURMD ||
					    host_self.context == S_CTX_JOB_SCRIPT
				    ? HOST_LOGGED
				    : HOST_OUTPUT,
			    0, text, length);
	free(text);
	return status;
}

/* What the process wrote, which is where the host itself says why it gave up. */
static const char *last_output(const struct host *host)
{
	const char *text = "";

	for (const struct host_event *e = NULL; (e = host_event_next(host, e));)
		if (e->kind == HOST_OUTPUT || e->kind == HOST_LOGGED)
			text = e->text;
	return text;
}

int host_process_run(struct host *host, const char *role, enum spank_context context, uint32_t node,
		     char *const *env, int (*body)(void *argument), void *argument)
{
	struct host_self seen = host_self;
	int fds[2], status;
	pid_t pid;

	host_self.host = host;
	host_self.profile = &host_profiles[host_site(host)->release];
	host_self.role = role;
	host_self.context = context;
	host_self.node = node;
	host_self.hook = HOOK_NONE;
	host_self.process = host_process_number(host);
	if (pipe2(fds, O_CLOEXEC) < 0)
		die("pipe");
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0)
		child(fds[1], env, body, argument);
	close(fds[1]);
	status = read_output(fds[0], pid);
	close(fds[0]);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT)
		fprintf(stderr, "%s\n", last_output(host));
	if (WIFSIGNALED(status))
		host_record(HOST_CRASH, WTERMSIG(status), "", 0);
	host_self = seen;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
