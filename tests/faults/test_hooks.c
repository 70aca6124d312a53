/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each call of each kind that the hooks make fails once, and from there on: they succeed all the
 * same, nothing is left, and what the agent will read is what was meant.
 */
#include "tests/spankhost/jobs.h"

#include "lib/core/record.h"
#include "lib/core/statedir.h"
#include "tests/faults/preloaded.h"

#include <fcntl.h>
#include <sys/mman.h>

static const char *const kind_names[] = FAULT_NAMES;
/* Of a job with everything that is optional. */
static const char *const options[] = { "lens-strategy=all_ranks", "lens-run-id=r 1", NULL };

static struct fault_plan *plan;
static faults_arm_fn *arm;

static void enter(void)
{
	arm(true);
}

static void leave(void)
{
	arm(false);
}

static faults_left_fn *blocks_left;

/* libc keeps the words of a look-up that failed until they were asked for. */
static size_t left(void)
{
	dlerror();
	dlerror();
	return blocks_left();
}

/* One job as far as it has come, and the one process of it that is played again and again. */
struct play {
	struct scene *scene;
	struct host_job job;
	struct host_step step;
	char **user, **batch;
};

typedef void play_fn(struct play *play);

static void play_slurmd(struct play *play)
{
	host_slurmd(play->scene->host);
}

static void play_sbatch(struct play *play)
{
	const struct host_submission submission = { .env = play->user, .options = options };
	struct host_job job = { .id = play->job.id, .nodes = 1, .tasks = 1 };

	host_submit(play->scene->host, &submission, &job, false);
	host_job_clear(&job);
}

static void play_srun(struct play *play)
{
	const struct host_submission submission = { .env = play->batch };
	struct host_step step = { .nodes = 1, .tasks = 1 };

	host_srun(play->scene->host, &submission, &play->job, &step);
	host_step_clear(&step);
}

static void play_prolog(struct play *play)
{
	host_prolog(play->scene->host, &play->job, 1);
}

static void play_batch(struct play *play)
{
	const struct host_step step = { .tasks = 1 };

	host_batch(play->scene->host, &play->job, &step);
}

static void play_step(struct play *play)
{
	host_step_run(play->scene->host, &play->job, &play->step);
}

static void play_epilog(struct play *play)
{
	host_epilog(play->scene->host, &play->job, 1);
}

/* --- the state directory, taken down and put back */

#define FILES 16
struct saved {
	size_t count;
	struct {
		char name[256];
		char *bytes;
		size_t length;
	} files[FILES];
};

static void state_path(const struct play *play, char out[520], const char *name)
{
	snprintf(out, 520, "%s/state/%s", play->scene->path, name);
}

static char *file_read(const char *path, size_t *length)
{
	FILE *file = fopen(path, "r");
	char *bytes = calloc(1, 1 << 16);

	assert_non_null(file);
	assert_non_null(bytes);
	*length = fread(bytes, 1, (1 << 16) - 1, file);
	fclose(file);
	return bytes;
}

/* Calls VISIT for each file's path and name. */
static void state_each(const struct play *play,
		       void (*visit)(void *context, const char *path, const char *name),
		       void *context)
{
	struct dirent *entry;
	char path[520];
	DIR *directory;

	state_path(play, path, "");
	directory = opendir(path);
	if (!directory) /* what made it fail may be what makes it */
		return;
	while ((entry = readdir(directory))) {
		if (entry->d_name[0] == '.')
			continue;
		state_path(play, path, entry->d_name);
		visit(context, path, entry->d_name);
	}
	closedir(directory);
}

static void save_one(void *context, const char *path, const char *name)
{
	struct saved *saved = context;

	assert_true(saved->count < FILES);
	snprintf(saved->files[saved->count].name, sizeof(saved->files->name), "%s", name);
	saved->files[saved->count].bytes = file_read(path, &saved->files[saved->count].length);
	saved->count++;
}

static void state_restore(const struct play *play, const struct saved *saved)
{
	scene_state_empty(play->scene);
	for (size_t i = 0; i < saved->count; i++) {
		char path[520];
		FILE *file;

		state_path(play, path, saved->files[i].name);
		file = fopen(path, "w");
		assert_non_null(file);
		assert_int_equal(fwrite(saved->files[i].bytes, 1, saved->files[i].length, file),
				 saved->files[i].length);
		fclose(file);
		assert_int_equal(chmod(path, 0600), 0);
	}
}

static void saved_clear(struct saved *saved)
{
	for (size_t i = 0; i < saved->count; i++)
		free(saved->files[i].bytes);
}

/* --- what the agent would read */

/* The keys of a record, and which it is: its file, event and rank. */
struct known {
	char file[32]; /* of a journal job and step, else "" */
	char event[32];
	uint64_t rank;
	char keys[1024]; /* "job leader attempt " */
};

/* What a run without a fault writes; every other may write less, never half. */
struct knowledge {
	struct known records[32];
	size_t count;
};

struct reading {
	const struct play *play;
	struct knowledge *knowledge; /* to add to, or to check by */
	const struct saved *before;
	bool learn;
	char file[32];
};

/* Whether LINE is what was to be written in one piece, or was there before. */
static bool is_meant(const struct reading *reading, const char *line, size_t length)
{
	size_t end = plan->lines_length;

	for (size_t at = 0; at < end; at += strlen(plan->lines + at) + 1) {
		const char *meant = plan->lines + at;

		meant += strncmp(meant, ",\n", 2) == 0 ? 2 : 0;
		if (strncmp(meant, line, length) == 0 && meant[length] == '\n')
			return true;
	}
	for (size_t i = 0; i < reading->before->count; i++) {
		const char *found = memmem(reading->before->files[i].bytes,
					   reading->before->files[i].length, line, length);

		if (found && found[length] == '\n')
			return true;
	}
	return false;
}

/* What a record may lack: `boot` where /proc does not tell, `first` where the node could not make sure
 * (the spans of the start then wait for the epilog). */
static bool is_optional(const char *key)
{
	return strcmp(key, "boot") == 0 || strcmp(key, "first") == 0;
}

static void keys_check(struct reading *reading, const struct lens_carrier *record, const char *line)
{
	uint64_t rank = lens_record_number(record, "rank", 0);
	struct known *known = NULL;

	for (size_t i = 0; i < reading->knowledge->count; i++) {
		struct known *one = &reading->knowledge->records[i];

		if (strcmp(one->file, reading->file) == 0 &&
		    strcmp(one->event, lens_record_event(record)) == 0 && one->rank == rank)
			known = one;
	}
	if (reading->learn && !known) {
		assert_true(reading->knowledge->count < 32);
		known = &reading->knowledge->records[reading->knowledge->count++];
		snprintf(known->file, sizeof(known->file), "%s", reading->file);
		snprintf(known->event, sizeof(known->event), "%s", lens_record_event(record));
		known->rank = rank;
		for (size_t i = 0; i < lens_carrier_count(record); i++)
			if (!is_optional(lens_carrier_key(record, i)))
				snprintf(known->keys + strlen(known->keys),
					 sizeof(known->keys) - strlen(known->keys), "%s ",
					 lens_carrier_key(record, i));
		return;
	}
	/* An event that comes of a fault alone is told by its own tests. */
	for (const char *at = known ? known->keys : ""; *at; at += strcspn(at, " ") + 1) {
		char key[64];

		snprintf(key, sizeof(key), "%.*s", (int)strcspn(at, " "), at);
		if (!lens_carrier_get(record, key))
			fail_msg("half a record, without %s, is read as a whole one: %s", key,
				 line);
	}
}

/* A line as the agent reads it: alone in a file. */
static void line_check(struct reading *reading, const char *line, size_t length)
{
	int fd = memfd_create("line", MFD_CLOEXEC);
	struct lens_records *records;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, line, length), length);
	assert_int_equal(write(fd, "\n", 1), 1);
	records = lens_records_read(fd);
	assert_non_null(records);
	if (lens_records_count(records) == 1) {
		if (!is_meant(reading, line, length))
			fail_msg("half a line is read as a whole one: %s", line);
		keys_check(reading, lens_records_at(records, 0), line);
	}
	lens_records_destroy(records);
	close(fd);
}

static void file_check(void *context, const char *path, const char *name)
{
	struct reading *reading = context;
	struct lens_state_name parsed;
	size_t length;
	char *bytes, *line, *end;

	if (lens_state_name_parse(&parsed, name) != 0)
		return;
	reading->file[0] = '\0';
	if (parsed.kind == LENS_STATE_JOURNAL)
		snprintf(reading->file, sizeof(reading->file), "%u.%u", parsed.job, parsed.step);
	bytes = file_read(path, &length);
	for (line = bytes; (end = memchr(line, '\n', length - (size_t)(line - bytes)));
	     line = end + 1) {
		*end = '\0';
		line_check(reading, line, (size_t)(end - line));
	}
	free(bytes);
}

/* --- the loop */

/* The descriptors that each process of the host has more at its end. */
static void assert_no_descriptors(const struct host *host)
{
	int added[64] = { 0 };

	for (const struct host_event *e = NULL; (e = host_event_next(host, e));) {
		if (e->kind != HOST_HOOK || e->process >= 64 || !strcmp(e->hook, "task_init"))
			continue;
		added[e->process] += e->fds_added;
	}
	for (size_t i = 0; i < 64; i++)
		assert_true(added[i] <= 0);
}

static void run_once(struct play *play, play_fn *body, const struct saved *before,
		     struct knowledge *knowledge, bool learn)
{
	struct reading reading = {
		.play = play, .knowledge = knowledge, .before = before, .learn = learn
	};

	state_restore(play, before);
	host_destroy(play->scene->host);
	play->scene->host = host_create(&play->scene->site);
	assert_non_null(play->scene->host);
	plan->seen = plan->hits = 0;
	plan->lines_length = 0;
	body(play);
	scene_harmless(play->scene);
	assert_no_descriptors(play->scene->host);
	state_each(play, file_check, &reading);
}

/* Every call of KIND in BODY: how many there were. */
static uint32_t each_call(struct play *play, play_fn *body, const struct saved *before,
			  struct knowledge *knowledge, enum fault_kind kind, bool onwards)
{
	uint32_t number = 0;

	do {
		plan->kind = kind;
		plan->at = ++number;
		plan->onwards = onwards;
		run_once(play, body, before, knowledge, false);
	} while (plan->hits > 0);
	plan->at = 0;
	return number - 1;
}

static void each_kind(struct play *play, play_fn *body, const char *name)
{
	struct saved before = { 0 };
	struct knowledge knowledge = { 0 };
	uint32_t calls = 0;

	state_each(play, save_one, &before);
	plan->at = 0;
	run_once(play, body, &before, &knowledge, true);
	for (enum fault_kind kind = 0; kind < FAULT_KINDS; kind++) {
		uint32_t count = each_call(play, body, &before, &knowledge, kind, false);

		each_call(play, body, &before, &knowledge, kind, true);
		print_message("# %s: %u calls of %s\n", name, count, kind_names[kind]);
		calls += count;
	}
	assert_true(calls > 0);
	state_restore(play, &before);
	saved_clear(&before);
}

/* --- the processes, in the order of a job */

static void play_begin(struct play *play, struct scene *scene)
{
	*play = (struct play){ .scene = scene, .user = host_env_copy(scene_user_env()) };
	play->job = (struct host_job){ .id = 50, .nodes = 1, .tasks = 1 };
	play->step = (struct host_step){ .nodes = 1, .tasks = 1 };
	scene_argument(scene, "Environment=test");
	scene_release(scene, HOST_26_05);
}

static void play_end(struct play *play)
{
	host_env_free(play->user);
	host_env_free(play->batch);
	host_step_clear(&play->step);
	host_job_clear(&play->job);
}

static void submit(struct play *play)
{
	jobs_submit(play->scene, &play->job, options, play->user);
}

static void run_batch(struct play *play)
{
	struct host_submission submission = { 0 };

	play->batch = jobs_batch(play->scene, &play->job);
	submission.env = play->batch;
	assert_int_equal(host_srun(play->scene->host, &submission, &play->job, &play->step), 0);
}

/* A stand-in for the agent, which is there in a moment and gone. */
static void agent_put(struct play *play)
{
	struct scene *scene = play->scene;

	snprintf(scene->texts[1], sizeof(scene->texts[1]), "AgentPath=/bin/true");
}

static void slurmd_init(void **state)
{
	struct play play;

	play_begin(&play, *state);
	agent_put(&play);
	each_kind(&play, play_slurmd, "slurmd");
	play_end(&play);
}

static void sbatch(void **state)
{
	struct play play;

	play_begin(&play, *state);
	each_kind(&play, play_sbatch, "sbatch");
	play_end(&play);
}

static void srun_in_a_job(void **state)
{
	struct play play;

	play_begin(&play, *state);
	submit(&play);
	host_prolog(play.scene->host, &play.job, 1);
	run_batch(&play);
	each_kind(&play, play_srun, "srun");
	play_end(&play);
}

static void prolog(void **state)
{
	struct play play;

	play_begin(&play, *state);
	submit(&play);
	agent_put(&play);
	each_kind(&play, play_prolog, "prolog");
	play_end(&play);
}

static void prolog_after_a_requeue(void **state)
{
	struct play play;

	play_begin(&play, *state);
	submit(&play);
	host_prolog(play.scene->host, &play.job, 1);
	play.job.restarts = 1;
	each_kind(&play, play_prolog, "prolog after a requeue");
	play_end(&play);
}

static void batch_script(void **state)
{
	struct play play;

	play_begin(&play, *state);
	submit(&play);
	host_prolog(play.scene->host, &play.job, 1);
	each_kind(&play, play_batch, "batch");
	play_end(&play);
}

static void step_of_a_task(void **state)
{
	struct play play;

	play_begin(&play, *state);
	submit(&play);
	host_prolog(play.scene->host, &play.job, 1);
	run_batch(&play);
	each_kind(&play, play_step, "step");
	play_end(&play);
}

static void epilog(void **state)
{
	struct play play;

	play_begin(&play, *state);
	submit(&play);
	host_prolog(play.scene->host, &play.job, 1);
	run_batch(&play);
	play_step(&play);
	each_kind(&play, play_epilog, "epilog");
	play_end(&play);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		scene_test(slurmd_init),
		scene_test(sbatch),
		scene_test(srun_in_a_job),
		scene_test(prolog),
		scene_test(prolog_after_a_requeue),
		scene_test(batch_script),
		scene_test(step_of_a_task),
		scene_test(epilog),
	};
	const struct host_watch watch = { .enter = enter, .leave = leave, .left = left };

	(void)argc;
	preloaded_begin(argv);
	plan = ((faults_plan_fn *)preloaded_find(FAULTS_PLAN))();
	arm = (faults_arm_fn *)preloaded_find(FAULTS_ARM);
	blocks_left = (faults_left_fn *)preloaded_find(FAULTS_LEFT);
	host_watch = &watch;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
