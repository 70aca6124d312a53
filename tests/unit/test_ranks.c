/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void names_go_there_and_back(void **state)
{
	static const char *const names[] = { "auto", "task", "launcher" };
	static const char *const wrong[] = { NULL, "", "ranks", "task ", "autom" };
	enum lens_ranks ranks = LENS_RANKS_LAUNCHER;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(lens_ranks_parse(names[i], &ranks), 0);
		assert_string_equal(lens_ranks_name(ranks), names[i]);
	}
	assert_int_equal(lens_ranks_parse("TASK", &ranks), 0);
	assert_int_equal(ranks, LENS_RANKS_TASK);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(lens_ranks_parse(wrong[i], &ranks), -1);
	assert_int_equal(ranks, LENS_RANKS_TASK);
}

#define ARGV(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Two tasks on two nodes run ARGV without any GPU: WANT is the end of the reason, NULL: ranks. */
static void expect_command(const char *const *argv, const char *want, int line)
{
	struct lens_ranks_step step = { .argv = (char *const *)argv, .tasks = 2, .nodes = 2 };
	struct lens_error reason = LENS_ERROR_INIT;
	bool launched;

	while (argv[step.argc])
		step.argc++;
	launched = lens_ranks_are_launched(LENS_RANKS_AUTO, &step, &reason);
	if (launched != (want != NULL))
		fail_msg("line %d: %s: %s", line, argv[0], reason.text);
	if (want && !strstr(reason.text, want))
		fail_msg("line %d: `%s` does not name %s", line, reason.text, want);
}

#define assert_launcher(want, ...) expect_command(ARGV(__VA_ARGS__), want, __LINE__)
#define assert_ranks(...)          expect_command(ARGV(__VA_ARGS__), NULL, __LINE__)

static void known_launchers_by_name(void **state)
{
	static const char *const launchers[] = {
		"torchrun", "accelerate", "deepspeed", "ft_launcher",     "orted",
		"prted",    "mpirun",     "mpiexec",   "hydra_pmi_proxy", "hydra_bstrap_proxy",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		assert_launcher(launchers[i], launchers[i]);
	assert_launcher("torchrun", "/opt/venv/bin/torchrun", "--nproc_per_node=8", "train.py");
	assert_launcher("torchrun", "../bin/torchrun");
	assert_ranks("torchrun/train");
	assert_ranks("/opt/torchrun/bin/python", "train.py");
	assert_ranks("torchrun.py");
	assert_ranks("mytorchrun");
	assert_ranks("hydra");
	assert_ranks("Torchrun");
	assert_ranks("bash", "-c", "torchrun train.py");
	assert_ranks("");
}

static void known_launchers_as_python_modules(void **state)
{
	(void)state;
	assert_launcher("torch.distributed.run", "python", "-m", "torch.distributed.run", "x.py");
	assert_launcher("torch.distributed.launch", "/usr/bin/python3.11", "-u", "-m",
			"torch.distributed.launch");
	assert_launcher("torchrun", "python3", "-m", "torchrun");
	assert_ranks("python", "-m");
	assert_ranks("python", "-m", "train");
	assert_ranks("python", "train.py", "-m", "torch.distributed.run");
	assert_ranks("perl", "-m", "torch.distributed.run");
	assert_ranks("python");
}

static void one_task_a_node_with_several_gpus(void **state)
{
	static const struct {
		uint32_t tasks, nodes;
		const char *env;
		uint64_t gpus; /* a task */
		bool launched;
	} cases[] = {
		{ 2, 2, "SLURM_GPUS_PER_TASK=8", 8, true },
		{ 2, 2, "SLURM_GPUS_PER_TASK=a100:8", 8, true },
		{ 2, 2, "SLURM_GPUS_PER_TASK=a100:2,h100:1", 3, true },
		{ 2, 2, "SLURM_GPUS_PER_TASK=1", 1, false },
		{ 4, 2, "SLURM_GPUS_PER_TASK=2", 2, false },
		{ 2, 2, "SLURM_TRES_PER_TASK=cpu:4,gres/gpu:2", 2, true },
		{ 2, 2, "SLURM_TRES_PER_TASK=gres/gpu:a100=2", 2, true },
		{ 2, 2, "SLURM_TRES_PER_TASK=gres:gpu:2", 2, true },
		{ 2, 2, "SLURM_TRES_PER_TASK=cpu:4,gres/shard:2", 0, false },
		{ 2, 2, "SLURM_GPUS=16", 8, true },
		{ 2, 2, "SLURM_GPUS=2", 1, false },
		{ 16, 2, "SLURM_GPUS=16", 1, false },
		{ 2, 2, "SLURM_GPUS_PER_NODE=a100:4", 4, true },
		{ 4, 2, "SLURM_GPUS_PER_NODE=4", 2, false },
		{ 2, 2, "SLURM_JOB_GPUS=0,1,2,3", 4, true },
		{ 2, 2, "SLURM_JOB_GPUS=0", 1, false },
		{ 1, 1, "SLURM_JOB_GPUS=0,1", 2, true },
		{ 2, 0, "SLURM_GPUS_PER_TASK=8", 8, false },
		{ 0, 0, "SLURM_GPUS_PER_TASK=8", 8, false },
		{ 2, 2, "SLURM_GPUS_PER_TASK=", 0, false },
		{ 2, 2, "SLURM_GPUS_PER_TASK=many", 0, false },
		{ 2, 2, "SLURM_GPUS_PER_TASK=-2", 0, false },
		{ 2, 2, "CUDA_VISIBLE_DEVICES=0,1", 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *env[] = { cases[i].env, NULL };
		const char *argv[] = { "python", "train.py", NULL };
		const struct lens_ranks_step step = {
			.argv = (char *const *)argv,
			.argc = 2,
			.env = (char *const *)env,
			.tasks = cases[i].tasks,
			.nodes = cases[i].nodes,
		};
		struct lens_error reason = LENS_ERROR_INIT;

		if (lens_ranks_gpus_per_task(&step) != cases[i].gpus ||
		    lens_ranks_are_launched(LENS_RANKS_AUTO, &step, &reason) != cases[i].launched)
			fail_msg("case %zu, %s: %s", i, cases[i].env, reason.text);
	}
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void expect_asked(const char *const *words, const char *want, int line)
{
	struct lens_text out = LENS_TEXT_INIT;
	size_t count = 0;

	while (words[count])
		count++;
	lens_ranks_asked(&out, (char *const *)words, count);
	if (strcmp(out.data ? out.data : "", want) != 0)
		fail_msg("line %d: `%s`, not `%s`", line, out.data ? out.data : "", want);
	lens_text_clear(&out);
}

#define assert_asked(want, ...) expect_asked(WORDS(__VA_ARGS__), want, __LINE__)

static void what_a_command_line_asks_for(void **state)
{
	(void)state;
	assert_asked("", "-N2", "-n2");
	assert_asked("--gpus-per-task=2", "--gpus-per-task=2");
	assert_asked("--gpus-per-task=a100:2", "-N2", "--gpus-per-task", "a100:2", "-n2");
	assert_asked("--gpus-per-task=1", "--gres=gpu:4", "--gpus-per-task=1", "-G8");
	assert_asked("--gpus=8", "-G8");
	assert_asked("--gpus=8", "-G", "8");
	assert_asked("--gpus=8", "--gpus=4", "--gpus", "8");
	assert_asked("--gpus-per-node=2", "--gpus-per-node=2", "--gres=none");
	assert_asked("--gres=gpu:1", "--gres=gpu:1");
	assert_asked("--tres-per-task=gres/gpu:2", "--tres-per-task=gres/gpu:2");
	assert_asked("", "--gpus-per-task");
	assert_asked("", "--gpus-per-tasks=2", "--gpu-bind=none", "--gpus-per-socket=1");
}

static void a_command_line_says_more_than_the_environment(void **state)
{
	static const struct {
		uint32_t tasks;
		const char *asked;
		uint64_t gpus;
	} cases[] = {
		{ 2, NULL, 4 },
		{ 2, "", 4 },
		{ 2, "--gres=none", 0 },
		{ 2, "--gres=gpu", 1 },
		{ 2, "--gres=gpu:2", 2 },
		{ 2, "--gres=gpu:a100", 1 },
		{ 2, "--gres=gpu:a100:2,nvme:1", 2 },
		{ 4, "--gres=gpu:2", 1 },
		{ 2, "--gres=gpus:2", 0 },
		{ 2, "--gpus-per-task=1", 1 },
		{ 2, "--gpus=2", 1 },
		{ 2, "--gpus-per-node=a100:3", 3 },
		{ 2, "--tres-per-task=gres/gpu:2", 2 },
	};
	static const char *const env[] = { "SLURM_JOB_GPUS=0,1,2,3", NULL };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lens_ranks_step step = {
			.env = (char *const *)env,
			.tasks = cases[i].tasks,
			.nodes = 2,
			.asked = cases[i].asked,
		};

		if (lens_ranks_gpus_per_task(&step) != cases[i].gpus)
			fail_msg("case %zu, %s: %llu", i, cases[i].asked,
				 (unsigned long long)lens_ranks_gpus_per_task(&step));
	}
}

/* A request of its own says more of a step than what the job has. */
static void the_narrowest_request_counts(void **state)
{
	static const char *const env[] = { "SLURM_JOB_GPUS=0,1,2,3", "SLURM_GPUS_PER_NODE=4",
					   "SLURM_GPUS=8", "SLURM_GPUS_PER_TASK=1", NULL };
	const struct lens_ranks_step step = { .env = (char *const *)env, .tasks = 2, .nodes = 2 };
	struct lens_error reason = LENS_ERROR_INIT;

	(void)state;
	assert_int_equal(lens_ranks_gpus_per_task(&step), 1);
	assert_false(lens_ranks_are_launched(LENS_RANKS_AUTO, &step, &reason));
	assert_string_equal(reason.text, "a task is a rank");
}

static void a_choice_beats_what_is_seen(void **state)
{
	static const char *const argv[] = { "torchrun", NULL };
	const struct lens_ranks_step launcher = {
		.argv = (char *const *)argv, .argc = 1, .tasks = 2, .nodes = 2
	};
	const struct lens_ranks_step unknown = { .tasks = 2, .nodes = 2 };
	struct lens_error reason = LENS_ERROR_INIT;

	(void)state;
	assert_false(lens_ranks_are_launched(LENS_RANKS_TASK, &launcher, &reason));
	assert_string_equal(reason.text, "a task is a rank: chosen");
	assert_true(lens_ranks_are_launched(LENS_RANKS_LAUNCHER, &unknown, &reason));
	assert_string_equal(reason.text, "a task is a launcher: chosen");
	assert_false(lens_ranks_are_launched(LENS_RANKS_AUTO, &unknown, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_go_there_and_back),
		cmocka_unit_test(known_launchers_by_name),
		cmocka_unit_test(known_launchers_as_python_modules),
		cmocka_unit_test(one_task_a_node_with_several_gpus),
		cmocka_unit_test(the_narrowest_request_counts),
		cmocka_unit_test(what_a_command_line_asks_for),
		cmocka_unit_test(a_command_line_says_more_than_the_environment),
		cmocka_unit_test(a_choice_beats_what_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
