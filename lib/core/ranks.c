/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/ranks.h"

#include "lib/core/env.h"
#include "lib/core/number.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const names[] = {
	[LENS_RANKS_AUTO] = "auto",
	[LENS_RANKS_TASK] = "task",
	[LENS_RANKS_LAUNCHER] = "launcher",
};

int lens_ranks_parse(const char *text, enum lens_ranks *out)
{
	for (size_t i = 0; text && i < COUNT(names); i++) {
		if (strcasecmp(text, names[i]) == 0) {
			*out = (enum lens_ranks)i;
			return 0;
		}
	}
	return -1;
}

const char *lens_ranks_name(enum lens_ranks ranks)
{
	return names[ranks];
}

/* Programs that start ranks, by the last part of their path. */
static const char *const launchers[] = {
	"torchrun", "accelerate", "deepspeed", "ft_launcher", "orted", "prted", "mpirun", "mpiexec",
};

/* The same as Python modules. */
static const char *const launcher_modules[] = {
	"torch.distributed.run",
	"torch.distributed.launch",
	"torchrun",
	"accelerate.commands.launch",
	"deepspeed.launcher.runner",
	"nvidia_resiliency_ext.fault_tolerance.launcher",
};

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_among(const char *word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

/* The launcher that ARGV runs, borrowed; NULL when it runs none that is known. */
static const char *known_launcher(char *const *argv)
{
	const char *program;

	if (!argv || !argv[0])
		return NULL;
	program = last_part(argv[0]);
	if (is_among(program, launchers, COUNT(launchers)) || strncmp(program, "hydra_", 6) == 0)
		return program;
	if (strncmp(program, "python", 6) != 0)
		return NULL;
	for (size_t i = 1; argv[i] && argv[i][0] == '-'; i++)
		if (strcmp(argv[i], "-m") == 0)
			return argv[i + 1] && is_among(argv[i + 1], launcher_modules,
						       COUNT(launcher_modules))
				       ? argv[i + 1]
				       : NULL;
	return NULL;
}

/* The number at the end of `8` or `a100:8`; 0 when there is none. */
static uint64_t gpus_of_count(const char *part)
{
	const char *colon = strrchr(part, ':');
	uint64_t number;

	return lens_uint64_parse(colon ? colon + 1 : part, &number) ? 0 : number;
}

/* The same of `gres/gpu:2` or `gres/gpu:a100=2`; 0 for a TRES that is no GPU. */
static uint64_t gpus_of_tres(const char *part)
{
	const char *end;
	uint64_t number;

	if (strncmp(part, "gres/gpu", 8) != 0 && strncmp(part, "gres:gpu", 8) != 0)
		return 0;
	end = strrchr(part, '=');
	if (!end)
		end = strrchr(part + 8, ':');
	return !end || lens_uint64_parse(end + 1, &number) ? 0 : number;
}

/* The sum of what ADD makes of each part of TEXT, a list with commas; NULL has none. */
static uint64_t sum_parts(const char *text, uint64_t (*add)(const char *part))
{
	uint64_t sum = 0;
	char *copy = text ? strdup(text) : NULL;
	char *rest = NULL;

	if (!copy)
		return 0;
	for (char *part = strtok_r(copy, ",", &rest); part; part = strtok_r(NULL, ",", &rest))
		sum += add(part);
	free(copy);
	return sum;
}

static uint64_t one(const char *part)
{
	(void)part;
	return 1;
}

uint64_t lens_ranks_gpus_per_task(const struct lens_ranks_step *step)
{
	uint64_t tasks = step->tasks ? step->tasks : 1;
	uint64_t nodes = step->nodes ? step->nodes : 1;
	uint64_t gpus = sum_parts(lens_env_get(step->env, "SLURM_GPUS_PER_TASK"), gpus_of_count);

	if (!gpus)
		gpus = sum_parts(lens_env_get(step->env, "SLURM_TRES_PER_TASK"), gpus_of_tres);
	if (!gpus)
		gpus = sum_parts(lens_env_get(step->env, "SLURM_GPUS"), gpus_of_count) / tasks;
	if (!gpus)
		gpus = sum_parts(lens_env_get(step->env, "SLURM_GPUS_PER_NODE"), gpus_of_count) *
		       nodes / tasks;
	if (!gpus)
		gpus = sum_parts(lens_env_get(step->env, "SLURM_JOB_GPUS"), one) * nodes / tasks;
	return gpus;
}

bool lens_ranks_are_launched(enum lens_ranks choice, const struct lens_ranks_step *step,
			     struct lens_error *reason)
{
	const char *launcher = known_launcher(step->argv);
	uint64_t gpus;

	if (choice != LENS_RANKS_AUTO) {
		lens_error_set(reason, "a task is a %s: chosen",
			       choice == LENS_RANKS_LAUNCHER ? "launcher" : "rank");
		return choice == LENS_RANKS_LAUNCHER;
	}
	if (launcher) {
		lens_error_set(reason, "a task is a launcher: it runs %s", launcher);
		return true;
	}
	gpus = lens_ranks_gpus_per_task(step);
	if (step->nodes && step->tasks == step->nodes && gpus > 1) {
		lens_error_set(reason, "a task is a launcher: one a node with %llu GPUs",
			       (unsigned long long)gpus);
		return true;
	}
	lens_error_set(reason, "a task is a rank");
	return false;
}
