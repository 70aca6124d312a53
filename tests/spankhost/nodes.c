/* SPDX-License-Identifier: Apache-2.0 */
/* slurmd, prolog, epilog, and the order of a job's processes on its nodes. */
#include "tests/spankhost/self.h"

#include <slurm/slurm.h>
#include <stdlib.h>
#include <unistd.h>

struct script {
	const struct host_job *job;
	bool epilog;
};

/* A process of its own that plays one hook; init is not called, so no option is registered. */
static int script_body(void *argument)
{
	const struct script *script = argument;

	host_self.job = script->job;
	environ = host_env_script(script->job, host_self.node, script->epilog);
	close(0); /* the next descriptor that is opened gets this number */
	host_plugin_load();
	host_hook_run(script->epilog ? HOOK_JOB_EPILOG : HOOK_JOB_PROLOG, NULL);
	host_plugin_unload();
	return 0;
}

static void script_run(struct host *host, const struct host_job *job, uint32_t node, bool epilog)
{
	struct script script = { .job = job, .epilog = epilog };

	if (host_site(host)->run_in_job)
		return;
	host_process_run(host, epilog ? "epilog" : "prolog", S_CTX_JOB_SCRIPT, node, NULL,
			 script_body, &script);
}

void host_prolog(struct host *host, const struct host_job *job, uint32_t node)
{
	script_run(host, job, node, false);
}

void host_epilog(struct host *host, const struct host_job *job, uint32_t node)
{
	script_run(host, job, node, true);
}

static int slurmd_body(void *argument)
{
	enum host_hook hook = *(enum host_hook *)argument;

	host_threads_start(3);
	host_plugin_load();
	host_hook_run(HOOK_INIT, NULL);
	if (hook == HOOK_SLURMD_EXIT)
		host_hook_run(HOOK_SLURMD_EXIT, NULL);
	host_plugin_unload();
	return 0;
}

static void slurmd_run(struct host *host, enum host_hook hook, bool again)
{
	char **env = host_daemon_env(0);

	if (again)
		host_env_set(&env, "SLURMD_RECONF", "1");
	host_process_run(host, "slurmd", S_CTX_SLURMD, 1, env, slurmd_body, &hook);
	host_env_free(env);
}

void host_slurmd(struct host *host)
{
	slurmd_run(host, HOOK_INIT, false);
}

void host_slurmd_again(struct host *host)
{
	slurmd_run(host, HOOK_INIT, true);
}

void host_slurmd_exit(struct host *host)
{
	slurmd_run(host, HOOK_SLURMD_EXIT, false);
}

static uint32_t first_node(const struct host_job *job)
{
	return job->first ? job->first : 1;
}

void host_job_begin(struct host *host, const struct host_job *job)
{
	for (uint32_t i = 0; i < job->nodes; i++)
		host_prolog(host, job, first_node(job) + i);
	for (uint32_t i = 0; host_site(host)->contain && i < job->nodes; i++)
		host_extern(host, job, first_node(job) + i);
}

void host_job_end(struct host *host, const struct host_job *job)
{
	for (uint32_t i = 0; i < job->nodes; i++)
		host_epilog(host, job, first_node(job) + i);
}
