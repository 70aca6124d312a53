/* SPDX-License-Identifier: Apache-2.0 */
/* What a job of many nodes leaves on each: docs/scale.md reckons with these numbers. */
#include "tests/spankhost/jobs.h"

#define RANKS 8 /* a node */

/* What one node has after the job. */
struct node_files {
	size_t notes, journals;
	size_t note_bytes, journal_bytes;
	size_t exporting; /* tasks that get a span */
};

static size_t occurrences(const char *text, const char *word)
{
	size_t count = 0;

	for (; (text = strstr(text, word)); text += strlen(word))
		count++;
	return count;
}

/* Adds up the file NAME: a note has one or two dots, a journal three. */
static void count_file(struct node_files *files, const char *path, size_t dots)
{
	static char text[1 << 20];
	FILE *file = fopen(path, "r");
	size_t length;

	assert_non_null(file);
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = '\0';
	fclose(file);
	if (dots < 3) {
		files->notes++;
		files->note_bytes += length;
		return;
	}
	files->journals++;
	files->journal_bytes += length;
	files->exporting += occurrences(text, ",export=1");
}

/* The files of all nodes together. */
static struct node_files count_files(const struct scene *scene)
{
	struct node_files files = { 0 };
	char path[600];
	DIR *directory;
	struct dirent *entry;

	snprintf(path, sizeof(path), "%s/state", scene->path);
	directory = opendir(path);
	assert_non_null(directory);
	while ((entry = readdir(directory))) {
		size_t dots = occurrences(entry->d_name, ".");

		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "%s/state/%s", scene->path, entry->d_name);
		count_file(&files, path, dots);
	}
	closedir(directory);
	return files;
}

/* One step of a job on NODES nodes, as a srun of its own starts it. */
static struct node_files play(struct scene *scene, uint32_t nodes, const char *strategy)
{
	const char *const options[] = { "lens", strategy, "lens-sample-rate=0.1", NULL };
	struct host_job job = { .id = 100, .nodes = nodes, .tasks = nodes * RANKS };
	struct node_files files;

	jobs_srun(scene, &job, scene_user_env(), options,
		  (struct host_step){ .nodes = nodes, .tasks = nodes * RANKS });
	scene_harmless(scene);
	files = count_files(scene);
	host_job_clear(&job);
	host_events_clear(scene->host);
	scene_state_clear(scene);
	return files;
}

static void a_node_has_the_same_whatever_the_nodes(void **state)
{
	struct scene *scene = *state;
	struct node_files few, many;

	scene_release(scene, HOST_24_11);
	few = play(scene, 4, "lens-strategy=single_rank");
	many = play(scene, 200, "lens-strategy=single_rank");
	print_message("# a node: note of %zu bytes, journal of %zu bytes, %d ranks\n",
		      many.note_bytes / 200, many.journal_bytes / 200, RANKS);
	assert_int_equal(few.notes, 4);
	assert_int_equal(many.notes, 200);
	assert_int_equal(few.journals, 4);
	assert_int_equal(many.journals, 200);
	assert_int_equal(many.exporting, 1);
	/* Longer are numbers, and the epilog's list of nodes. */
	assert_true(many.journal_bytes / 200 < few.journal_bytes / 4 + 100);
	assert_true(many.note_bytes / 200 < few.note_bytes / 4 + 50);
	assert_true(many.note_bytes / 200 < 400);
	assert_true(many.journal_bytes / 200 < 1000 + RANKS * 250);
}

/* The share of 0.1 is of ranks' own hashes: docs/identity.md. */
static void who_exports(void **state)
{
	static const struct {
		const char *strategy;
		size_t exporting; /* of 40 nodes */
	} cases[] = {
		{ "lens-strategy=single_rank", 1 },
		{ "lens-strategy=first_rank_per_node", 40 },
		{ "lens-strategy=sampled", 37 },
		{ "lens-strategy=all_ranks", 40 * RANKS },
	};
	struct scene *scene = *state;

	scene_release(scene, HOST_24_11);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct node_files files = play(scene, 40, cases[i].strategy);

		if (files.exporting != cases[i].exporting)
			fail_msg("%s: %zu of 320 ranks export, not %zu", cases[i].strategy,
				 files.exporting, cases[i].exporting);
		assert_int_equal(files.journals, 40);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scene_test(a_node_has_the_same_whatever_the_nodes),
		scene_test(who_exports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
