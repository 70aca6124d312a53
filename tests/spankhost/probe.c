/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A SPANK plugin for tests: it writes down what its host answers, one line for each answer,
 * `ROLE@NODE <tab> JOB <tab> HOOK <tab> QUESTION <tab> ANSWER`, into DIR/PID of plugstack's
 * log=DIR, a directory that all users can write. A real Slurm and the fake host are asked
 * the same; quirks.txt holds what both have to answer.
 */
#include "tests/spankhost/names.h"

#include <errno.h>
#include <fcntl.h>
#include <slurm/slurm.h>
#include <slurm/spank.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

extern char **environ;

SPANK_PLUGIN(probe, 1);

#define SLURM_LIMIT 131072

static char directory[256];

static const char *role(spank_t sp, const char *hook)
{
	static char text[32];
	uint32_t step = 0;

	switch (spank_context()) {
	case S_CTX_ALLOCATOR:
		return "submit";
	case S_CTX_LOCAL:
		return "srun";
	case S_CTX_SLURMD:
		return "slurmd";
	case S_CTX_JOB_SCRIPT:
		return strstr(hook, "epilog") ? "epilog" : "prolog";
	case S_CTX_REMOTE:
		break;
	default:
		return "unknown";
	}
	if (!sp || spank_get_item(sp, S_JOB_STEPID, &step) != ESPANK_SUCCESS)
		return "remote";
	switch (step) {
	case SLURM_BATCH_SCRIPT:
		return "batch";
	case SLURM_EXTERN_CONT:
		return "extern";
	case SLURM_INTERACTIVE_STEP:
		return "interactive";
	default:
		snprintf(text, sizeof(text), "step%u", step);
		return text;
	}
}

/* One answer. What a value says is for the reader: here it is only made one line of text. */
static void tell(spank_t sp, const char *hook, const char *question, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void tell(spank_t sp, const char *hook, const char *question, const char *format, ...)
{
	const char *node = spank_context() == S_CTX_REMOTE || spank_context() == S_CTX_JOB_SCRIPT
				   ? getenv("SLURMD_NODENAME")
				   : NULL;
	char path[300], answer[512], line[1024];
	uint32_t job = 0;
	va_list args;
	int fd, length;

	va_start(args, format);
	vsnprintf(answer, sizeof(answer), format, args);
	va_end(args);
	if (sp && (spank_context() == S_CTX_REMOTE || spank_context() == S_CTX_JOB_SCRIPT))
		spank_get_item(sp, S_JOB_ID, &job);
	length = snprintf(line, sizeof(line), "%s@%s\t%u\t%s\t%s\t%s\n", role(sp, hook),
			  node ? node : "-", job, hook, question, *answer ? answer : "''");
	snprintf(path, sizeof(path), "%s/%d", directory, getpid());
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return;
	fchmod(fd, 0666); /* the process's other ids write here, too */
	if (write(fd, line, (size_t)length) != length)
		fchmod(fd, 0);
	close(fd);
}

static void tell_item(spank_t sp, const char *hook, const char *name, spank_err_t rc,
		      long long value)
{
	char question[64];

	snprintf(question, sizeof(question), "rc.%s", name);
	tell(sp, hook, question, "%s", spankhost_rc_name(rc));
	if (rc != ESPANK_SUCCESS)
		return;
	snprintf(question, sizeof(question), "item.%s", name);
	tell(sp, hook, question, "%lld", value);
}

static void ask_numbers(spank_t sp, const char *hook)
{
	static const struct {
		spank_item_t item;
		const char *name;
	} items[] = {
		{ S_JOB_ID, "S_JOB_ID" },
		{ S_JOB_UID, "S_JOB_UID" },
		{ S_JOB_STEPID, "S_JOB_STEPID" },
		{ S_JOB_NNODES, "S_JOB_NNODES" },
		{ S_JOB_NODEID, "S_JOB_NODEID" },
		{ S_JOB_LOCAL_TASK_COUNT, "S_JOB_LOCAL_TASK_COUNT" },
		{ S_JOB_TOTAL_TASK_COUNT, "S_JOB_TOTAL_TASK_COUNT" },
		{ S_TASK_ID, "S_TASK_ID" },
		{ S_TASK_GLOBAL_ID, "S_TASK_GLOBAL_ID" },
		{ S_TASK_EXIT_STATUS, "S_TASK_EXIT_STATUS" },
		{ S_SLURM_RESTART_COUNT, "S_SLURM_RESTART_COUNT" },
		{ S_JOB_ARRAY_ID, "S_JOB_ARRAY_ID" },
		{ S_JOB_ARRAY_TASK_ID, "S_JOB_ARRAY_TASK_ID" },
	};

	for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
		uint32_t value = 0;
		spank_err_t rc = spank_get_item(sp, items[i].item, &value);

		tell_item(sp, hook, items[i].name, rc, value);
	}
}

static void ask_others(spank_t sp, const char *hook)
{
	char **list = NULL;
	char *text = NULL;
	pid_t pid = 0;
	int count = 0;
	spank_err_t rc;

	rc = spank_get_item(sp, S_TASK_PID, &pid);
	tell(sp, hook, "rc.S_TASK_PID", "%s", spankhost_rc_name(rc));
	if (rc == ESPANK_SUCCESS)
		tell(sp, hook, "item.S_TASK_PID", "%s",
		     pid == -1         ? "-1"
		     : pid == getpid() ? "self"
		     : pid > 0         ? "another"
				       : "none");
	rc = spank_get_item(sp, S_JOB_ARGV, &count, &list);
	tell(sp, hook, "rc.S_JOB_ARGV", "%s", spankhost_rc_name(rc));
	rc = spank_get_item(sp, S_SLURM_VERSION, &text);
	tell(sp, hook, "rc.S_SLURM_VERSION", "%s", spankhost_rc_name(rc));
	tell(sp, hook, "context", "%d", (int)spank_context());
	tell(sp, hook, "remote", "%d", spank_remote(sp));
}

/* The value of NAME in ENV; `-` when it has none. */
static const char *find(char *const *env, const char *name)
{
	size_t length = strlen(name);

	for (; env && *env; env++)
		if (strncmp(*env, name, length) == 0 && (*env)[length] == '=')
			return *env + length + 1;
	return "-";
}

static void ask_environment(spank_t sp, const char *hook)
{
	static const char *const names[] = {
		"PATH",
		"HOME",
		"PROBE_USER",
		"PROBE_SET",
		"SLURM_JOB_ID",
		"SLURM_ARRAY_JOB_ID",
		"SLURM_ARRAY_TASK_ID",
		"SLURM_JOB_NAME",
		"SLURM_CLUSTER_NAME",
		"SLURM_JOB_PARTITION",
		"SLURM_JOB_NUM_NODES",
		"SLURM_NTASKS",
		"SLURM_JOB_NODELIST",
		"SLURM_NODELIST",
		"SLURM_HET_JOB_ID",
		"SLURMD_NODENAME",
		"SLURM_JOB_USER",
		"SLURM_STEP_ID",
		"SLURM_PROCID",
		"SLURM_LOCALID",
		"SLURM_NODEID",
		"SLURM_RESTART_COUNT",
		"SLURM_JOB_RESTART_COUNT",
		"SPANK_PROBE",
		"SLURM_SPANK_PROBE",
		"_SLURM_SPANK_OPTION_probe_probe_value",
		"SLURM_SPANK__SLURM_SPANK_OPTION_probe_probe_value",
		"SPANK__SLURM_SPANK_OPTION_probe_probe_value",
		"SLURM_JOB_EXIT_CODE2",
		"SLURM_JOB_START_TIME",
		"SLURM_JOB_SLUID",
		"ENVIRONMENT",
	};
	char **env = NULL;
	spank_err_t rc = spank_get_item(sp, S_JOB_ENV, &env);
	bool own = spank_context() != S_CTX_REMOTE;

	tell(sp, hook, "rc.S_JOB_ENV", "%s", spankhost_rc_name(rc));
	if (rc != ESPANK_SUCCESS && !own)
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value;
		char question[96];

		snprintf(question, sizeof(question), "env.%s", names[i]);
		value = find(own ? environ : env, names[i]);
		/* The machine's own: that there is one is all that counts. */
		if (*value == '/')
			value = "set";
		tell(sp, hook, question, "%.200s", value);
	}
	tell(sp, hook, "own.SLURMD_NODENAME", "%s",
	     getenv("SLURMD_NODENAME") ? getenv("SLURMD_NODENAME") : "-");
}

/* Slurm's false success at 128 KiB, and what a short buffer gets. */
static void ask_limits(spank_t sp, const char *hook)
{
	static const char name[] = "PROBE_BIG";
	size_t fits = SLURM_LIMIT - 1 - 2 - strlen(name);
	char *big = malloc(SLURM_LIMIT);
	char *back = malloc(SLURM_LIMIT);
	char small[4] = "";
	spank_err_t rc;

	if (big && back) {
		memset(big, 'b', SLURM_LIMIT);
		big[fits + 1] = '\0';
		rc = spank_setenv(sp, name, big, 1);
		tell(sp, hook, "limit.beyond", "%s %s", spankhost_rc_name(rc),
		     spankhost_rc_name(spank_getenv(sp, name, back, SLURM_LIMIT)));
		big[fits] = '\0';
		rc = spank_setenv(sp, name, big, 1);
		tell(sp, hook, "limit.within", "%s %s", spankhost_rc_name(rc),
		     spankhost_rc_name(spank_getenv(sp, name, back, SLURM_LIMIT)));
		rc = spank_getenv(sp, name, small, sizeof(small));
		tell(sp, hook, "limit.short", "%s %s", spankhost_rc_name(rc), small);
		spank_unsetenv(sp, name);
	}
	free(big);
	free(back);
}

static void ask_calls(spank_t sp, const char *hook)
{
	char text[64] = "";

	tell(sp, hook, "rc.getenv", "%s",
	     spankhost_rc_name(spank_getenv(sp, "PROBE_NONE", text, sizeof(text))));
	tell(sp, hook, "rc.setenv", "%s",
	     spankhost_rc_name(spank_setenv(sp, "PROBE_SET", hook, 1)));
	tell(sp, hook, "rc.setenv.again", "%s",
	     spankhost_rc_name(spank_setenv(sp, "PROBE_SET", "again", 0)));
	tell(sp, hook, "rc.unsetenv", "%s", spankhost_rc_name(spank_unsetenv(sp, "PROBE_NONE")));
	/* Slurm 22.05 dies of it in prolog and epilog, and in a het srun after init_post_opt. */
	if (spank_context() == S_CTX_JOB_SCRIPT ||
	    (spank_context() == S_CTX_LOCAL && strncmp(hook, "init", 4) != 0))
		return;
	tell(sp, hook, "rc.control", "%s",
	     spankhost_rc_name(spank_job_control_setenv(sp, "PROBE", hook, 1)));
}

static const char *target(int fd)
{
	struct stat status, null;

	if (fstat(fd, &status) < 0)
		return "closed";
	if (S_ISFIFO(status.st_mode))
		return "pipe";
	if (stat("/dev/null", &null) == 0 && status.st_rdev == null.st_rdev &&
	    S_ISCHR(status.st_mode))
		return "null";
	return "open";
}

static int option_given(int value, const char *argument, int remote)
{
	tell(NULL, "option", value ? "value" : "flag", "%d %s", remote,
	     !argument ? "NULL" : argument);
	return argument && strcmp(argument, "bad") == 0 ? -1 : 0;
}

static struct spank_option options[] = {
	{ (char *)"probe-flag", (char *)"on|off", (char *)"a flag", 2, 0, option_given },
	{ (char *)"probe-value", (char *)"TEXT", (char *)"a value", 1, 1, option_given },
};

static void ask_options(spank_t sp, const char *hook)
{
	char *argument = NULL;
	spank_err_t rc = spank_option_getopt(sp, &options[1], &argument);

	tell(sp, hook, "getopt.value", "%s %s", spankhost_rc_name(rc), argument ? argument : "-");
	rc = spank_option_getopt(sp, &options[0], &argument);
	tell(sp, hook, "getopt.flag", "%s", spankhost_rc_name(rc));
	tell(sp, hook, "rc.register", "%s",
	     spankhost_rc_name(spank_option_register(sp, &options[0])));
}

static int ask(spank_t sp, int count, char **arguments, const char *hook)
{
	for (int i = 0; i < count; i++)
		if (strncmp(arguments[i], "log=", 4) == 0)
			snprintf(directory, sizeof(directory), "%s", arguments[i] + 4);
	tell(sp, hook, "run", "%u/%u", getuid(), geteuid());
	tell(sp, hook, "fds", "%s %s %s", target(0), target(1), target(2));
	ask_numbers(sp, hook);
	ask_others(sp, hook);
	ask_environment(sp, hook);
	if (strcmp(hook, "init") != 0)
		ask_options(sp, hook);
	if (strcmp(hook, "task_init") == 0)
		ask_limits(sp, hook);
	ask_calls(sp, hook);
	return 0;
}

int slurm_spank_init(spank_t sp, int count, char **arguments)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		spank_err_t rc = spank_option_register(sp, &options[i]);

		if (i == 0 && count && strncmp(arguments[0], "log=", 4) == 0)
			snprintf(directory, sizeof(directory), "%s", arguments[0] + 4);
		tell(sp, "init", "rc.register", "%s", spankhost_rc_name(rc));
	}
	return ask(sp, count, arguments, "init");
}

#define HOOK(name)                                                      \
	int slurm_spank_##name(spank_t sp, int count, char **arguments) \
	{                                                               \
		return ask(sp, count, arguments, #name);                \
	}

HOOK(job_prolog)
HOOK(init_post_opt)
HOOK(local_user_init)
HOOK(user_init)
HOOK(task_init_privileged)
HOOK(task_init)
HOOK(task_post_fork)
HOOK(task_exit)
HOOK(job_epilog)
HOOK(slurmd_exit)
HOOK(exit)
