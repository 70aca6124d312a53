/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_SPANKHOST_SELF_H
#define LENS_TESTS_SPANKHOST_SELF_H

#include "tests/spankhost/host.h"

#include <slurm/spank.h>
#include <sys/types.h>

/* What differs between releases. */
struct host_profile {
	const char *version;
	bool option_twice;        /* slurmstepd calls back for the packed option and its variable */
	bool export_none_loses;   /* --export=NONE strips the batch step's options */
	bool script_job_nodelist; /* prolog and epilog have SLURM_JOB_NODELIST, start and end */
	bool script_pipes;        /* their fds 1 and 2 are a pipe that slurmd reads to its end */
	bool control_kills;       /* spank_job_control_* ends a prolog by SIGSEGV */
	bool start_time;          /* SLURM_JOB_START_TIME in a task's environment */
	bool srun_uid_nobody;     /* srun's S_JOB_UID is 99 */
	bool sluid;               /* SLURM_JOB_SLUID */
	bool batch_step_id;       /* SLURM_STEP_ID=-5 in the batch script */
	int stepd_threads;        /* besides the one that runs hooks */
};

extern const struct host_profile host_profiles[HOST_RELEASES];

enum host_hook {
	HOOK_INIT,
	HOOK_JOB_PROLOG,
	HOOK_INIT_POST_OPT,
	HOOK_LOCAL_USER_INIT,
	HOOK_USER_INIT,
	HOOK_TASK_INIT_PRIVILEGED,
	HOOK_TASK_INIT,
	HOOK_TASK_POST_FORK,
	HOOK_TASK_EXIT,
	HOOK_JOB_EPILOG,
	HOOK_SLURMD_EXIT,
	HOOK_EXIT,
	HOOK_NONE,
};

struct host_task {
	uint32_t local, global;
	uint32_t procid; /* in the whole step, which differs in a het one */
	pid_t pid;       /* -1 before it is known */
	bool exited;
	int status;
};

/* An option that the plugin registered. */
struct host_option {
	char name[64];
	int has_arg;
	int val;
	spank_opt_cb_f callback;
	bool found;
	char *argument; /* NULL: none */
};

/* The Slurm process that this process plays: set up after the fork, read by the calls that
 * the plugin makes. */
struct host_self {
	struct host *host;
	const struct host_profile *profile;
	enum spank_context context;
	const char *role;
	uint32_t process;
	uint32_t node;
	const struct host_job *job;
	const struct host_step *step;
	uint32_t step_id;
	uint32_t nnodes, nodeid, local_tasks, total_tasks;
	uint32_t array_job, array_task;
	bool has_job; /* srun knows its job only from local_user_init on */
	char **env;   /* S_JOB_ENV */
	char **argv;
	int argc; /* of argv, which in srun has no NULL behind its words */
	struct host_task *tasks;
	struct host_task *task; /* the one that a task hook is about */
	enum host_hook hook;
	bool stderr_is_users;
	char **control; /* the job control environment */
	struct host_option options[32];
	size_t option_count;
	int user_fd; /* the user's output, or the daemon's log */
};

extern struct host_self host_self;
extern const char *const host_hook_names[];
extern const char *host_plugin_name;

/* The plugin's handle; the tag is spank.h's. */
struct spank_handle {
	unsigned int magic;
};

#define HOST_MAGIC 0x5a4b1057u

extern struct spank_handle host_handle;

/* --- record.c: the list of events, in memory that all processes share */
struct host *host_record_create(const struct host_site *site);
const struct host_site *host_site(const struct host *host);
uint32_t host_process_number(struct host *host);
struct host_event *host_record(enum host_kind kind, int value, const void *text, size_t length);
struct host_event *host_record_env(enum host_kind kind, char *const *env);

/* --- process.c */

/* Plays BODY as a process of its own: host_self is zeroed but for what the arguments
 * say. Its terminal or output is read to its end. The exit code; -1: killed. */
int host_process_run(struct host *host, const char *role, enum spank_context context, uint32_t node,
		     char *const *env, int (*body)(void *argument), void *argument);

void host_plugin_load(void);
bool host_plugin_turn(
	bool into); /* into the plugin or out of it, for host_watch; as it was before */
void host_plugin_unload(void);
int host_hook_run(enum host_hook hook, struct host_task *task); /* the hook's rc */
void host_stdio_set(int in, int out); /* -1: closed; keeps host_self.user_fd; duplicates */
void host_threads_start(int count);
void host_become_user(void); /* for good */

/* --- options.c */
void host_option_variable(char out[128], const char *name, const char *prefix);
int host_option_call(struct host_option *option, const char *argument, int remote);
struct host_option *host_option_find(const char *name);
int host_options_from_user(const char *const *given); /* command line, after the environment */
void host_options_hand_on(void);
void host_options_remote(void);

/* --- nodes.c */
void host_node_list(char out[64], uint32_t first, uint32_t count);
char **host_daemon_env(uint32_t node);

/* --- jobenv.c */
void host_env_allocation(char ***env, const struct host_job *job);
void host_env_batch(char ***env, const struct host_job *job);
void host_env_step(char ***env, const struct host_job *job, const struct host_step *step);
void host_env_task(char ***env, const struct host_task *task);
void host_env_task_exit(char ***env, const struct host_task *task);
char **host_env_export_none(char *const *env, const struct host_profile *profile);
char **host_env_script(const struct host_job *job, uint32_t node, bool epilog);
void host_number_set(char ***env, const char *name, long long number);

#endif
