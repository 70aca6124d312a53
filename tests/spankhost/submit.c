/* SPDX-License-Identifier: Apache-2.0 */
/* sbatch, salloc and srun. What they send comes back over the list of events. */
#include "tests/spankhost/self.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REFUSED 255 /* sbatch and salloc with a bad option */

struct submitting {
	const struct host_submission *submission;
	const struct host_job *job;
	const struct host_step *step; /* srun */
	bool own_allocation;
	int refused;
};

/* As one event each: what a process hands to those that play after it. */
#define GIVEN_ENV     "given env"
#define GIVEN_CONTROL "given control"
#define GIVEN_PACKED  "given packed"

static void give(const char *what, char *const *env)
{
	host_record_env(HOST_ENVIRON, env)->hook = what;
}

static char **take(const struct host *host, const char *hook)
{
	const struct host_event *found = NULL;
	char **env;
	size_t count = 0;

	for (const struct host_event *e = NULL; (e = host_event_next(host, e));)
		if (e->kind == HOST_ENVIRON && strcmp(e->hook, hook) == 0)
			found = e;
	for (size_t at = 0; found && at < found->length; at += strlen(found->text + at) + 1)
		count++;
	env = calloc(count + 1, sizeof(*env));
	for (size_t at = 0, i = 0; env && found && at < found->length;
	     at += strlen(found->text + at) + 1)
		env[i++] = strdup(found->text + at);
	return env;
}

static uint32_t components(const struct host_submission *submission)
{
	return submission->components ? submission->components : 1;
}

/* Job control variables become SLURM_SPANK_* of the job's environment. */
static void control_to_environ(void)
{
	for (char *const *c = host_self.control; c && *c; c++) {
		const char *equals = strchr(*c, '=');
		char name[256];

		snprintf(name, sizeof(name), "SLURM_SPANK_%.*s", (int)(equals - *c), *c);
		setenv(name, equals + 1, 1);
	}
}

static int begin(const struct submitting *submitting)
{
	host_plugin_load();
	host_become_user();
	host_hook_run(HOOK_INIT, NULL);
	if (host_options_from_user(submitting->submission->options)) {
		host_hook_run(HOOK_EXIT, NULL);
		return submitting->refused;
	}
	for (uint32_t i = 0; i < components(submitting->submission); i++) {
		host_options_hand_on();
		host_hook_run(HOOK_INIT_POST_OPT, NULL);
	}
	return 0;
}

static int allocator(void *argument)
{
	const struct submitting *submitting = argument;
	int rc = begin(submitting);
	char **sent;

	if (rc)
		return rc;
	control_to_environ();
	if (strcmp(host_self.role, "salloc") == 0)
		host_env_allocation(&environ, submitting->job);
	if (submitting->submission->export_none)
		setenv("SLURM_EXPORT_ENV", "NONE", 1);
	sent = submitting->submission->export_none
		       ? host_env_export_none(environ, host_self.profile)
		       : host_env_copy(environ);
	give(GIVEN_ENV, sent);
	give(GIVEN_CONTROL, host_self.control);
	host_hook_run(HOOK_EXIT, NULL);
	host_plugin_unload();
	return 0;
}

int host_submit(struct host *host, const struct host_submission *submission, struct host_job *job,
		bool salloc)
{
	struct submitting submitting = { .submission = submission, .job = job, .refused = REFUSED };
	int rc = host_process_run(host, salloc ? "salloc" : "sbatch", S_CTX_ALLOCATOR, 0,
				  submission->env, allocator, &submitting);

	if (rc == 0) {
		job->env = take(host, GIVEN_ENV);
		job->control = take(host, GIVEN_CONTROL);
	}
	return rc;
}

static void give_packed(void)
{
	char **packed = host_env_copy(NULL);

	for (size_t i = 0; i < host_self.option_count; i++)
		if (host_self.options[i].found)
			host_env_set(&packed, host_self.options[i].name,
				     host_self.options[i].argument ? host_self.options[i].argument
								   : "");
	give(GIVEN_PACKED, packed);
	host_env_free(packed);
}

/* srun --export=ALL,NAME=value: a name that srun has keeps srun's value. */
static void add_exports(char ***env, const char *const *exports)
{
	for (; exports && *exports; exports++) {
		size_t length = strcspn(*exports, "=");
		char name[256];

		snprintf(name, sizeof(name), "%.*s", (int)length, *exports);
		if (!host_env_get(*env, name))
			host_env_set(env, name, *exports + length + 1);
	}
}

/* An outer sbatch --export=NONE holds for every srun inside, too. */
static bool exports_none(void)
{
	const char *value = getenv("SLURM_EXPORT_ENV");

	return value && strcmp(value, "NONE") == 0;
}

/* The command, in as many pointers as it has words: so srun has it for a het step's component. */
static void argv_take(const struct host_step *step)
{
	static const char *const command[] = { "/bin/true", NULL };
	const char *const *argv = step->argv ? step->argv : command;

	for (host_self.argc = 0; argv[host_self.argc];)
		host_self.argc++;
	host_self.argv = calloc((size_t)host_self.argc, sizeof(*argv));
	if (!host_self.argv)
		abort();
	memcpy(host_self.argv, argv, (size_t)host_self.argc * sizeof(*argv));
}

static int srun(void *argument)
{
	const struct submitting *submitting = argument;
	const struct host_submission *submission = submitting->submission;
	int rc = begin(submitting);
	char **sent;

	if (rc)
		return rc;
	/* before an allocation of its own: what local_user_init adds comes too late for it */
	give(GIVEN_CONTROL, host_self.control);
	host_self.job = submitting->job;
	host_self.step_id = submitting->step->id;
	host_self.nnodes = submitting->step->nodes ? submitting->step->nodes : 1;
	host_self.total_tasks = submitting->step->tasks;
	host_env_step(&environ, submitting->job, submitting->step);
	argv_take(submitting->step);
	host_self.has_job = true;
	host_hook_run(HOOK_LOCAL_USER_INIT, NULL);
	host_self.has_job = false;
	sent = submission->export_none || exports_none()
		       ? host_env_export_none(environ, host_self.profile)
		       : host_env_copy(environ);
	add_exports(&sent, submission->exports);
	give(GIVEN_ENV, sent);
	give_packed();
	host_hook_run(HOOK_EXIT, NULL);
	host_plugin_unload();
	return 0;
}

int host_srun(struct host *host, const struct host_submission *submission, struct host_job *job,
	      struct host_step *step)
{
	struct submitting submitting = {
		.submission = submission,
		.job = job,
		.step = step,
		.own_allocation = !host_env_get(submission->env, "SLURM_JOB_ID"),
		.refused = 1,
	};
	char **packed;
	int rc = host_process_run(host, "srun", S_CTX_LOCAL, 0, submission->env, srun, &submitting);

	if (rc)
		return rc;
	step->env = take(host, GIVEN_ENV);
	if (submitting.own_allocation) {
		job->env = host_env_copy(step->env);
		job->control = take(host, GIVEN_CONTROL);
	}
	packed = take(host, GIVEN_PACKED);
	for (char **p = packed; *p; p++) {
		struct host_packed *to = &step->packed[step->packed_count++];
		size_t length = strcspn(*p, "=");

		snprintf(to->name, sizeof(to->name), "%.*s", (int)length, *p);
		snprintf(to->value, sizeof(to->value), "%s", *p + length + 1);
	}
	host_env_free(packed);
	return 0;
}

void host_job_clear(struct host_job *job)
{
	host_env_free(job->env);
	host_env_free(job->control);
	job->env = job->control = NULL;
}

void host_step_clear(struct host_step *step)
{
	host_env_free(step->env);
	step->env = NULL;
	step->packed_count = 0;
}
