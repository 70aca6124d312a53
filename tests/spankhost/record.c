/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/spankhost/self.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ARENA_SIZE (64u * 1024 * 1024)

const char *const host_release_names[HOST_RELEASES] = {
	[HOST_22_05] = "22.05",
	[HOST_24_11] = "24.11",
	[HOST_26_05] = "26.05",
};

const struct host_profile host_profiles[HOST_RELEASES] = {
	[HOST_22_05] = { .version = "22.05.8",
			 .option_twice = true,
			 .export_none_loses = true,
			 .control_kills = true,
			 .stepd_threads = 2 },
	[HOST_24_11] = { .version = "24.11.5",
			 .script_job_nodelist = true,
			 .script_pipes = true,
			 .start_time = true,
			 .srun_uid_nobody = true,
			 .stepd_threads = 12 },
	[HOST_26_05] = { .version = "26.05.5",
			 .script_job_nodelist = true,
			 .script_pipes = true,
			 .start_time = true,
			 .srun_uid_nobody = true,
			 .sluid = true,
			 .batch_step_id = true,
			 .stepd_threads = 7 },
};

/* Shared by the host's processes: they are forked from the one that made it. */
struct host {
	struct host_site site;
	uint32_t processes;
	size_t used;
	_Alignas(16) char arena[];
};

struct host *host_record_create(const struct host_site *site)
{
	struct host *host = mmap(NULL, ARENA_SIZE, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (host == MAP_FAILED)
		return NULL;
	host->site = *site;
	return host;
}

struct host *host_create(const struct host_site *site)
{
	return host_record_create(site);
}

void host_destroy(struct host *host)
{
	if (host)
		munmap(host, ARENA_SIZE);
}

const struct host_site *host_site(const struct host *host)
{
	return &host->site;
}

uint32_t host_process_number(struct host *host)
{
	return __atomic_add_fetch(&host->processes, 1, __ATOMIC_SEQ_CST);
}

unsigned int host_uid(void)
{
	return getuid() == 0 ? 33 : getuid();
}

static size_t padded(size_t length)
{
	return (sizeof(struct host_event) + length + 1 + 15) & ~(size_t)15;
}

struct host_event *host_record(enum host_kind kind, int value, const void *text, size_t length)
{
	struct host *host = host_self.host;
	size_t size = padded(length);
	size_t at = __atomic_fetch_add(&host->used, size, __ATOMIC_SEQ_CST);
	struct host_event *event = (void *)(host->arena + at);

	if (sizeof(*host) + at + size > ARENA_SIZE) {
		fprintf(stderr, "# the list of events is full\n");
		abort();
	}
	memset(event, 0, sizeof(*event));
	event->kind = kind;
	event->value = value;
	event->role = host_self.role;
	event->hook = host_hook_names[host_self.hook];
	event->node = host_self.node;
	event->job = host_self.job ? host_self.job->id : 0;
	event->step = host_self.step_id;
	event->rank = host_self.task ? host_self.task->procid : 0;
	event->process = host_self.process;
	event->euid_after = geteuid();
	event->length = length;
	memcpy(event->text, text, length);
	event->text[length] = '\0';
	return event;
}

struct host_event *host_record_env(enum host_kind kind, char *const *env)
{
	struct host_event *event;
	size_t length = 0, at = 0;
	char *text;

	for (size_t i = 0; env && env[i]; i++)
		length += strlen(env[i]) + 1;
	text = malloc(length + 1);
	if (!text)
		abort();
	for (size_t i = 0; env && env[i]; i++) {
		memcpy(text + at, env[i], strlen(env[i]) + 1);
		at += strlen(env[i]) + 1;
	}
	event = host_record(kind, 0, text, length);
	free(text);
	return event;
}

const struct host_event *host_event_next(const struct host *host, const struct host_event *before)
{
	size_t at = 0;

	if (before)
		at = (size_t)((const char *)before - host->arena) + padded(before->length);
	return at < host->used ? (const void *)(host->arena + at) : NULL;
}

void host_events_clear(struct host *host)
{
	host->used = 0;
}

char **host_task_env(const struct host *host, uint32_t job, uint32_t step, uint32_t rank)
{
	const struct host_event *found = NULL;
	char **env = NULL;
	size_t count = 0;

	for (const struct host_event *e = NULL; (e = host_event_next(host, e));)
		if (e->kind == HOST_EXEC && e->job == job && e->step == step && e->rank == rank)
			found = e;
	if (!found)
		return NULL;
	for (size_t at = 0; at < found->length; at += strlen(found->text + at) + 1)
		count++;
	env = calloc(count + 1, sizeof(*env));
	for (size_t at = 0, i = 0; env && at < found->length; at += strlen(found->text + at) + 1)
		env[i++] = strdup(found->text + at);
	return env;
}
