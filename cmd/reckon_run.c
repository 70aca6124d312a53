/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/reckon_run.h"

#include "lib/core/env.h"
#include "lib/core/show.h"
#include "lib/core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_MAX ((size_t)1 << 20) /* bytes that reckon_run_read takes */
#define SAID       2048              /* bytes of standard error that are looked at, the last ones */

struct reckon_run {
	const char *name;
	pid_t pid;
	FILE *output;
	int errors; /* its standard error */
};

/* The caller destroys; NULL: no memory. */
static struct lens_env *environment_make(void)
{
	static const char *const passed[] = { "PATH", "HOME", "SLURM_CONF", "SLURM_JWT",
					      "SLURM_CONF_SERVER" };
	struct lens_env *env = lens_env_create(NULL);
	int failed = 0;

	if (env == NULL)
		return NULL;
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
		const char *value = getenv(passed[i]);

		if (value != NULL)
			failed |= lens_env_set(env, passed[i], value);
	}
	/* Seconds of a zone without summer time are the same second everywhere. */
	failed |= lens_env_set(env, "TZ", "UTC0");
	failed |= lens_env_set(env, "SLURM_TIME_FORMAT", "%s");
	failed |= lens_env_set(env, "LC_ALL", "C");
	if (failed == 0)
		return env;
	lens_env_destroy(env);
	return NULL;
}

/* 0, or an errno. */
static int process_start(struct reckon_run *run, const char *const *argv, char *const *env,
			 int output)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t standard;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc != 0)
		return rc;
	rc = posix_spawnattr_init(&attributes);
	if (rc != 0)
		goto out;
	sigemptyset(&standard);
	sigaddset(&standard, SIGPIPE);
	posix_spawnattr_setsigdefault(&attributes, &standard);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	rc = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(&actions, output, 1);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(&actions, run->errors, 2);
	if (rc == 0)
		rc = posix_spawnp(&run->pid, argv[0], &actions, &attributes, (char *const *)argv,
				  env);
	posix_spawnattr_destroy(&attributes);
out:
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

static void run_free(struct reckon_run *run)
{
	if (run->output != NULL)
		fclose(run->output);
	if (run->errors != -1)
		close(run->errors);
	free(run);
}

struct reckon_run *reckon_run_start(const char *const *argv, struct lens_error *err)
{
	struct reckon_run *run = calloc(1, sizeof(*run));
	struct lens_env *env = environment_make();
	int ends[2] = { -1, -1 }, rc = ENOMEM;

	if (run == NULL || env == NULL)
		goto out;
	run->name = argv[0];
	run->errors = memfd_create("stderr", MFD_CLOEXEC);
	rc = errno;
	if (run->errors == -1 || pipe2(ends, O_CLOEXEC) == -1)
		goto out;
	run->output = fdopen(ends[0], "r");
	rc = errno;
	if (run->output == NULL)
		goto out;
	ends[0] = -1;
	rc = process_start(run, argv, lens_env_array(env), ends[1]);
out:
	lens_env_destroy(env);
	if (ends[0] != -1)
		close(ends[0]);
	if (ends[1] != -1)
		close(ends[1]);
	if (run != NULL && run->pid > 0)
		return run;
	if (rc == ENOENT)
		lens_error_set(err,
			       "%s is not in PATH: go where Slurm's commands are, or save its "
			       "output there and read it with --from",
			       argv[0]);
	else
		lens_error_set(err, "%s cannot be run: %s", argv[0], strerror(rc));
	if (run != NULL)
		run_free(run);
	return NULL;
}

FILE *reckon_run_output(struct reckon_run *run)
{
	return run->output;
}

/* The end of what it said on standard error. */
static void said_read(const struct reckon_run *run, char out[SAID])
{
	off_t size = lseek(run->errors, 0, SEEK_END);
	off_t from = size > SAID - 1 ? size - (SAID - 1) : 0;
	ssize_t length = size > 0 ? pread(run->errors, out, SAID - 1, from) : 0;

	out[length > 0 ? length : 0] = '\0';
}

/* The last line in SAID, in place. */
static const char *last_line(char *said)
{
	size_t length = strlen(said);
	const char *line;

	while (length > 0 && said[length - 1] == '\n')
		said[--length] = '\0';
	line = strrchr(said, '\n');
	return line != NULL ? line + 1 : said;
}

static int failure_say(const struct reckon_run *run, struct lens_error *err)
{
	struct lens_shown shown;
	char said[SAID];

	said_read(run, said);
	if (strcasestr(said, "accounting storage is disabled") != NULL)
		return lens_error_set(err, "accounting is off on this cluster "
					   "(AccountingStorageType in slurm.conf): there is "
					   "nothing to reckon from");
	if (strstr(said, "Connection refused") != NULL ||
	    strstr(said, "Unable to contact slurm controller") != NULL ||
	    strstr(said, "Problem talking to the database") != NULL)
		return lens_error_set(err,
				      "slurmdbd does not answer (%s): is it running, and is "
				      "AccountingStorageHost in slurm.conf right?",
				      lens_shown_value(&shown, last_line(said)));
	return lens_error_set(err, "%s failed: %s", run->name,
			      lens_shown_value(&shown, last_line(said)));
}

int reckon_run_end(struct reckon_run *run, struct lens_error *err)
{
	int status = 0, rc;
	char rest[4096];

	/* What a reader that gave up left: else the command would end by a closed pipe. */
	while (fread(rest, 1, sizeof(rest), run->output) > 0)
		;
	do {
		rc = waitpid(run->pid, &status, 0);
	} while (rc == -1 && errno == EINTR);
	rc = 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		rc = failure_say(run, err);
	run_free(run);
	return rc;
}

char *reckon_run_read(const char *const *argv, struct lens_error *err)
{
	struct reckon_run *run = reckon_run_start(argv, err);
	struct lens_text text = LENS_TEXT_INIT;
	char buffer[4096], *all;
	size_t length;

	if (run == NULL)
		return NULL;
	while ((length = fread(buffer, 1, sizeof(buffer), run->output)) > 0) {
		if (text.length < OUTPUT_MAX)
			lens_text_add(&text, buffer, length);
	}
	all = lens_text_take(&text);
	if (reckon_run_end(run, err) == 0 && all != NULL)
		return all;
	if (all == NULL)
		lens_error_set(err, "out of memory");
	free(all);
	return NULL;
}
