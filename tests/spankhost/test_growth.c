/* SPDX-License-Identifier: Apache-2.0 */
/* Ten thousand steps in one process: nothing of the plugin's grows. Slurm ends its processes after one
 * step each, which hides a leak but does not excuse it. */
#include "tests/spankhost/jobs.h"

#include <malloc.h>
#include <sys/mman.h>

#define STEPS 10000u
#define WARM_UP \
	5000u /* steps until everybody has what is kept for good, malloc in its own caches too */
#define TIDY 100u /* steps whose journals may lie there */

/* What a process has that could grow. */
struct usage {
	size_t heap; /* bytes in use */
	size_t fds, maps;
};

struct growth {
	struct scene *scene;
	struct usage *first, *last; /* shared with the process that runs the steps */
};

static size_t count_entries(const char *path)
{
	DIR *directory = opendir(path);
	size_t count = 0;

	while (directory && readdir(directory))
		count++;
	if (directory)
		closedir(directory);
	return count;
}

static size_t count_maps(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[512];
	size_t count = 0;

	while (file && fgets(line, sizeof(line), file))
		count += strchr(line, '\n') != NULL;
	if (file)
		fclose(file);
	return count;
}

static struct usage usage_now(void)
{
	struct usage usage = { .fds = count_entries("/proc/self/fd"), .maps = count_maps() };

	usage.heap = mallinfo2().uordblks;
	return usage;
}

/* In the process of the steps. */
static int look(void *context, uint32_t number)
{
	struct growth *growth = context;

	if (number % TIDY == TIDY - 1) {
		if (jobs_records(growth->scene, "step_end") != TIDY)
			return 1;
		scene_state_empty(growth->scene);
	}
	if (number == WARM_UP - 1)
		*growth->first = usage_now();
	if (number == STEPS - 1)
		*growth->last = usage_now();
	return 0;
}

static void ten_thousand_steps_leave_nothing(void **state)
{
	static const char *const all[] = { "lens-strategy=all_ranks", "lens-attr=team=a b,x=1",
					   NULL };
	struct scene *scene = *state;
	struct usage *usage = mmap(NULL, 2 * sizeof(*usage), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct growth growth = { .scene = scene, .first = &usage[0], .last = &usage[1] };
	struct host_submission submission = { .options = all };
	struct host_job job = { .id = 40, .nodes = 1, .tasks = 2 };
	struct host_step step = { .nodes = 1, .tasks = 2 };
	char **batch;

	assert_ptr_not_equal(usage, MAP_FAILED);
	scene_release(scene, HOST_22_05);
	jobs_submit(scene, &job, all, scene_user_env());
	host_job_begin(scene->host, &job);
	batch = jobs_batch(scene, &job);
	submission.env = batch;
	assert_int_equal(host_srun(scene->host, &submission, &job, &step), 0);
	scene_harmless(scene);
	scene_state_empty(scene);
	assert_int_equal(host_step_repeat(scene->host, &job, &step, STEPS, look, &growth), 0);
	print_message("# after %u and %u steps: %zu and %zu bytes, %zu and %zu descriptors, "
		      "%zu and %zu mappings\n",
		      WARM_UP, STEPS, usage[0].heap, usage[1].heap, usage[0].fds, usage[1].fds,
		      usage[0].maps, usage[1].maps);
	assert_true(usage[0].fds > 0 && usage[0].maps > 0);
	/* What is freed and kept for the next in malloc's own cache counts as in use, more of it in
	 * newer ones: less than 4 bytes a step, where the smallest block is 24. */
	assert_true(usage[1].heap < usage[0].heap + (size_t)4 * (STEPS - WARM_UP));
	assert_int_equal(usage[1].fds, usage[0].fds);
	/* The heap may have grown by a mapping of its own, not by many. */
	assert_true(usage[1].maps > 0 && usage[1].maps <= usage[0].maps + 4);
	munmap(usage, 2 * sizeof(*usage));
	host_env_free(batch);
	host_step_clear(&step);
	host_job_clear(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scene_test(ten_thousand_steps_leave_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
