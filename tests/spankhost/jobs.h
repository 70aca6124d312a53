/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_SPANKHOST_JOBS_H
#define LENS_TESTS_SPANKHOST_JOBS_H

#include "tests/spankhost/scene.h"

#include <ctype.h>
#include <dirent.h>

/* Jobs as users run them, played on the fake host, and what their tasks were told. */

/* Each test on each release: its own host, its own state. */
#define EVERY_RELEASE(scene, release)                \
	for (enum host_release release = HOST_22_05; \
	     release < HOST_RELEASES && (scene_release(scene, release), true); release++)

/* sbatch with OPTIONS in ENV. */
static inline void jobs_submit(struct scene *scene, struct host_job *job,
			       const char *const *options, char *const *env)
{
	const struct host_submission submission = { .env = env, .options = options };

	assert_int_equal(host_submit(scene->host, &submission, job, false), 0);
}

/* The batch script's environment once it runs; the caller frees. */
static inline char **jobs_batch(struct scene *scene, const struct host_job *job)
{
	const struct host_step step = { .tasks = 1 };
	char **env;

	host_batch(scene->host, job, &step);
	env = host_task_env(scene->host, job->id, SLURM_BATCH_SCRIPT, 0);
	assert_non_null(env);
	return env;
}

/* srun of STEP with OPTIONS in ENV; the tasks' environments are then jobs_task. */
static inline void jobs_srun(struct scene *scene, struct host_job *job, char *const *env,
			     const char *const *options, struct host_step step)
{
	const struct host_submission submission = { .env = env, .options = options };
	bool own = !host_env_get(env, "SLURM_JOB_ID");

	assert_int_equal(host_srun(scene->host, &submission, job, &step), 0);
	if (own)
		host_job_begin(scene->host, job);
	host_step_run(scene->host, job, &step);
	if (own)
		host_job_end(scene->host, job);
	host_step_clear(&step);
}

static inline char **jobs_task(const struct scene *scene, uint32_t job, uint32_t step,
			       uint32_t rank)
{
	char **env = host_task_env(scene->host, job, step, rank);

	if (!env)
		fail_msg("rank %u of step %u of job %u did not run", rank, step, job);
	return env;
}

/* How often KEY is in ENV's resource attributes, and its value as it stands there. */
static inline size_t jobs_attribute(char *const *env, const char *key, char value[512])
{
	const char *at = host_env_get(env, "OTEL_RESOURCE_ATTRIBUTES");
	size_t count = 0, length = strlen(key);

	value[0] = '\0';
	while (at && *at) {
		size_t entry = strcspn(at, ",");

		if (strncmp(at, key, length) == 0 && at[length] == '=') {
			snprintf(value, 512, "%.*s", (int)(entry - length - 1), at + length + 1);
			count++;
		}
		at += entry + (at[entry] == ',');
	}
	return count;
}

static inline void jobs_expect(char *const *env, const char *key, const char *wanted)
{
	char value[512];
	size_t count = jobs_attribute(env, key, value);

	if (count != (wanted != NULL) || (wanted && strcmp(value, wanted) != 0))
		fail_msg("%s is %zu times in the attributes, as \"%s\"; not \"%s\": %s", key, count,
			 value, wanted ? wanted : "(none)",
			 host_env_get(env, "OTEL_RESOURCE_ATTRIBUTES"));
}

/* The trace (1) or span (2) id in ENV's TRACEPARENT. */
static inline void jobs_trace(char *const *env, int part, char out[33])
{
	const char *parent = host_env_get(env, "TRACEPARENT");

	assert_non_null(parent);
	assert_int_equal(strlen(parent), 55);
	snprintf(out, 33, "%.*s", part == 1 ? 32 : 16, parent + (part == 1 ? 3 : 36));
}

static inline bool jobs_exports(char *const *env)
{
	const char *enabled = host_env_get(env, "NEMO_LENS_ENABLED");

	assert_non_null(enabled);
	assert_true(strcmp(enabled, "0") == 0 || strcmp(enabled, "1") == 0);
	return *enabled == '1';
}

/* Records of EVENT in the state directory's files, as lines of text. */
static inline size_t jobs_records(const struct scene *scene, const char *event)
{
	static char text[1 << 20];
	char path[600], wanted[64];
	DIR *directory;
	struct dirent *entry;
	size_t count = 0;

	snprintf(path, sizeof(path), "%s/state", scene->path);
	snprintf(wanted, sizeof(wanted), ",e=%s", event);
	directory = opendir(path);
	assert_non_null(directory);
	while ((entry = readdir(directory))) {
		FILE *file;
		size_t length;

		snprintf(path, sizeof(path), "%s/state/%s", scene->path, entry->d_name);
		file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
		if (!file)
			continue;
		length = fread(text, 1, sizeof(text) - 1, file);
		text[length] = '\0';
		for (const char *at = text; (at = strstr(at, wanted)); at++)
			count++;
		fclose(file);
	}
	closedir(directory);
	return count;
}

/* The files of the state directory whose names have DOTS dots: a note has one, an ended note
 * two, a journal three. */
static inline size_t jobs_files(const struct scene *scene, int dots)
{
	char path[600];
	DIR *directory;
	struct dirent *entry;
	size_t count = 0;

	snprintf(path, sizeof(path), "%s/state", scene->path);
	directory = opendir(path);
	assert_non_null(directory);
	while ((entry = readdir(directory))) {
		int seen = 0;

		for (const char *c = entry->d_name; *c; c++)
			seen += *c == '.';
		count += isdigit((unsigned char)entry->d_name[0]) && seen == dots;
	}
	closedir(directory);
	return count;
}

#endif
