/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_SPANKHOST_HOST_H
#define LENS_TESTS_SPANKHOST_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A fake Slurm for a SPANK plugin: it loads the built .so and plays Slurm's processes, each as a
 * process of its own, with hooks, answers, environments, descriptors and ids as a real
 * Slurm has them, its lies included. quirks.txt holds what both answer, and tests
 * compare both with it. Nothing of slurm-lens is used in here.
 */

enum host_release {
	HOST_22_05,
	HOST_24_11,
	HOST_26_05,
	HOST_RELEASES,
};

extern const char *const host_release_names[HOST_RELEASES]; /* "22.05", ... */

/* A site: what slurm.conf and plugstack.conf say. Strings are borrowed. */
struct host_site {
	enum host_release release;
	const char *plugin;           /* path of the .so */
	const char *const *arguments; /* plugstack's for it; NULL ends them */
	bool contain;                 /* PrologFlags=Alloc,Contain: prologs first, an extern step */
	bool run_in_job;              /* PrologFlags=RunInJob: no SPANK prolog or epilog at all */
	bool contain_spank; /* ContainSpank: hooks of a step in a clone that shares memory */
};

struct host;

struct host *host_create(const struct host_site *site); /* NULL: no memory */
void host_destroy(struct host *host);

/* The ids that jobs run under: www-data as root, else the caller's. */
unsigned int host_uid(void);

/* A job as slurmctld knows it. Job and step functions borrow what it points to. */
struct host_job {
	uint32_t id;        /* this component's */
	uint32_t array_job; /* 0: no array */
	uint32_t array_task;
	uint32_t het_leader; /* 0: no het job */
	uint32_t het_offset; /* which component */
	uint32_t restarts;
	uint32_t nodes; /* n1, n2, ... */
	uint32_t first; /* number of its first node; 0 counts as 1 */
	uint32_t tasks; /* -n */
	int status;     /* wait status at the end; a cancelled job shows 0 here, too */
	char **env;     /* what sbatch sent, NULL ends it; owned, see host_job_clear */
	char **control; /* job control environment NAME=value; owned */
};

void host_job_clear(struct host_job *job);

/* --- the user's side */

struct host_submission {
	char *const *env;           /* the user's environment */
	const char *const *options; /* of the plugin: "name" or "name=value"; NULL ends them */
	const char *const *exports; /* srun --export=ALL,NAME=value; NULL: none */
	bool export_none;           /* --export=NONE */
	uint32_t components;        /* of a het job; 0 counts as 1 */
};

/*
 * sbatch, or salloc when SALLOC. 0 with JOB->env and JOB->control as they reach slurmctld, the rest
 * of JOB as the caller filled it in; else what sbatch exits with, and there is no job.
 */
int host_submit(struct host *host, const struct host_submission *submission, struct host_job *job,
		bool salloc);

/* An option as srun packs it into the launch message. */
struct host_packed {
	char name[64];
	char value[512];
};

/* A step as srun sends it. */
struct host_step {
	uint32_t id;
	uint32_t nodes, first; /* as in a job; 0 counts as 1 */
	uint32_t tasks;
	uint32_t task_offset, node_offset; /* of the component in a het step */
	uint32_t all_tasks;                /* of all components; 0: tasks */
	const char *const *argv;           /* NULL: /bin/true */
	const int *status;                 /* wait status of each task; NULL: 0 */
	bool setup_fails;                  /* no hook between init_post_opt and exit */
	char **env;                        /* srun's, owned, see host_step_clear */
	struct host_packed packed[16];
	size_t packed_count;
};

void host_step_clear(struct host_step *step);

/*
 * srun: inside JOB when the user's environment names one, else with an allocation of its
 * own, JOB, whose env and control are filled in. 0, or srun's exit code.
 */
int host_srun(struct host *host, const struct host_submission *submission, struct host_job *job,
	      struct host_step *step);

/* --- the nodes' side; each call plays to its end */

void host_slurmd(struct host *host);
void host_slurmd_again(struct host *host); /* 24.11, 26.05: scontrol reconfigure */
void host_slurmd_exit(struct host *host);
void host_prolog(struct host *host, const struct host_job *job, uint32_t node);
void host_epilog(struct host *host, const struct host_job *job, uint32_t node);
void host_extern(struct host *host, const struct host_job *job, uint32_t node);
void host_batch(struct host *host, const struct host_job *job, const struct host_step *step);
void host_interactive(struct host *host, const struct host_job *job, const struct host_step *step);
void host_step_run(struct host *host, const struct host_job *job, const struct host_step *step);

/*
 * STEP, COUNT times in a row in one process that loads the plugin once, its tasks hooks alone. After
 * each AFTER is called there with CONTEXT and the number of it, events are forgotten. A hook's rc, or
 * what AFTER says, other than 0 ends it and is returned.
 */
int host_step_repeat(struct host *host, const struct host_job *job, const struct host_step *step,
		     uint32_t count, int (*after)(void *context, uint32_t number), void *context);

/* What comes before and after a job's steps: prologs and extern steps, epilogs. */
void host_job_begin(struct host *host, const struct host_job *job);
void host_job_end(struct host *host, const struct host_job *job);

/* --- what was seen */

enum host_kind {
	HOST_HOOK,    /* value: rc; text: "" */
	HOST_CRASH,   /* value: the signal that ended a process */
	HOST_LOG,     /* value: 1 when the user reads it; text: the line */
	HOST_OUTPUT,  /* text: what reached the user's terminal or output file */
	HOST_LOGGED,  /* text: what was written to slurmd's own stderr */
	HOST_SETENV,  /* value: rc; text: NAME=value, or NAME when unset */
	HOST_EXEC,    /* a task's environment at exec: strings, each ended by NUL */
	HOST_ENVIRON, /* the process's own at its end: as above */
	HOST_LEFT,    /* value: what host_watch said of memory that is left */
	HOST_HUNG,    /* somebody kept a descriptor that Slurm reads to its end */
};

struct host_event {
	enum host_kind kind;
	const char *role; /* "sbatch", "salloc", "srun", "slurmd", "prolog", "batch", ... */
	const char *hook; /* "init", ... ; "" outside one */
	uint32_t process; /* which of the host's processes, from 1 */
	uint32_t node;    /* its number; 0 on the submit side */
	uint32_t job, step, rank;
	int value;
	int threads_added; /* of a hook */
	int fds_added;     /* of a hook */
	int fds_inherited; /* those of them that an exec keeps */
	uint64_t ns;       /* a hook's own time, by the monotonic clock */
	unsigned int euid_after;
	size_t length;
	char text[];
};

/* The event after BEFORE (NULL: the first), or NULL. Lives as long as HOST. */
const struct host_event *host_event_next(const struct host *host, const struct host_event *before);

/* Forgets all events. */
void host_events_clear(struct host *host);

/* The environment that RANK of STEP of JOB got at exec, in the last such event; NULL: none.
 * The caller frees with host_env_free. */
char **host_task_env(const struct host *host, uint32_t job, uint32_t step, uint32_t rank);

/* --- who watches the plugin's memory */

/* ENTER and LEAVE are called around each call into the plugin, also where it calls back; LEFT,
 * when a process has unloaded it: what it says is recorded as HOST_LEFT. NULL: nobody. */
struct host_watch {
	void (*enter)(void);
	void (*leave)(void);
	size_t (*left)(void);
};

extern const struct host_watch *host_watch;

/* --- environments: arrays of NAME=value, NULL at the end */

char **host_env_copy(char *const *env);
void host_env_free(char **env);
const char *host_env_get(char *const *env, const char *name);
void host_env_set(char ***env, const char *name, const char *value); /* NULL VALUE: unset */

#endif
