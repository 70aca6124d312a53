/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/ranks.h"
#include "lib/core/words.h"

#include <stddef.h>
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

/* The launcher that ARGV runs, borrowed; NULL when it runs none that is known. */
static const char *known_launcher(char *const *argv, size_t argc)
{
	const char *program;

	if (argc == 0 || !argv[0])
		return NULL;
	program = last_part(argv[0]);
	if (lens_words_have(launchers, COUNT(launchers), program) ||
	    strncmp(program, "hydra_", 6) == 0)
		return program;
	if (strncmp(program, "python", 6) != 0)
		return NULL;
	for (size_t i = 1; i < argc && argv[i] && argv[i][0] == '-'; i++)
		if (strcmp(argv[i], "-m") == 0)
			return i + 1 < argc && argv[i + 1] &&
					       lens_words_have(launcher_modules,
							       COUNT(launcher_modules), argv[i + 1])
				       ? argv[i + 1]
				       : NULL;
	return NULL;
}

bool lens_ranks_are_launched(enum lens_ranks choice, const struct lens_ranks_step *step,
			     struct lens_error *reason)
{
	const char *launcher = known_launcher(step->argv, step->argc);
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
