/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/ranks.h"

#include "lib/core/env.h"
#include "lib/core/number.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

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

/* The same of `gpu`, `gpu:2`, `gpu:a100` or `gpu:a100:2`; one where no number stands. */
static uint64_t gpus_of_gres(const char *part)
{
	const char *end;
	uint64_t number;

	if (strncmp(part, "gpu", 3) != 0 || (part[3] != '\0' && part[3] != ':'))
		return 0;
	end = strrchr(part, ':');
	return !end || lens_uint64_parse(end + 1, &number) ? 1 : number;
}

static uint64_t one(const char *part)
{
	(void)part;
	return 1;
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

/* Ways of asking for GPUs, the narrowest first. An option of srun stands only in its
 * command line (measured on 22.05), a variable is what sbatch or salloc was told. */
static const struct way {
	const char *option;
	char letter; /* the short form; 0: none */
	const char *variable;
	uint64_t (*add)(const char *part);
	enum { A_TASK, A_STEP, A_NODE } of;
} ways[] = {
	{ "--gpus-per-task", 0, "SLURM_GPUS_PER_TASK", gpus_of_count, A_TASK },
	{ "--tres-per-task", 0, "SLURM_TRES_PER_TASK", gpus_of_tres, A_TASK },
	{ "--gpus", 'G', "SLURM_GPUS", gpus_of_count, A_STEP },
	{ "--gpus-per-node", 0, "SLURM_GPUS_PER_NODE", gpus_of_count, A_NODE },
	{ "--gres", 0, NULL, gpus_of_gres, A_NODE },
	{ NULL, 0, "SLURM_JOB_GPUS", one, A_NODE },
};

static uint64_t a_task(const struct way *way, const char *value, const struct lens_ranks_step *step)
{
	uint64_t tasks = step->tasks ? step->tasks : 1;
	uint64_t nodes = step->nodes ? step->nodes : 1;
	uint64_t sum = sum_parts(value, way->add);

	if (way->of == A_NODE)
		return sum * nodes / tasks;
	return way->of == A_STEP ? sum / tasks : sum;
}

uint64_t lens_ranks_gpus_per_task(const struct lens_ranks_step *step)
{
	for (size_t i = 0; step->asked && i < COUNT(ways); i++) {
		size_t length = ways[i].option ? strlen(ways[i].option) : 0;

		if (length && strncmp(step->asked, ways[i].option, length) == 0 &&
		    step->asked[length] == '=')
			return a_task(&ways[i], step->asked + length + 1, step);
	}
	for (size_t i = 0; i < COUNT(ways); i++) {
		const char *value =
			ways[i].variable ? lens_env_get(step->env, ways[i].variable) : NULL;
		uint64_t gpus = a_task(&ways[i], value, step);

		if (gpus)
			return gpus;
	}
	return 0;
}

/* The value that WORD, with NEXT after it (NULL: none), gives WAY; NULL: it is not that option. */
static const char *value_of(const struct way *way, const char *word, const char *next)
{
	size_t length = way->option ? strlen(way->option) : 0;

	/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): no length without an option */
	if (length && strncmp(word, way->option, length) == 0) {
		if (word[length] == '=')
			return word + length + 1;
		if (word[length] == '\0')
			return next;
	}
	if (!way->letter || word[0] != '-' || word[1] != way->letter)
		return NULL;
	return word[2] != '\0' ? word + 2 : next;
}

void lens_ranks_asked(struct lens_text *out, char *const *words, size_t count)
{
	for (size_t i = 0; i < COUNT(ways); i++) {
		const char *value = NULL;

		for (size_t word = 0; word < count; word++) {
			const char *next = word + 1 < count ? words[word + 1] : NULL;
			const char *given = value_of(&ways[i], words[word], next);

			value = given ? given : value;
		}
		if (value) {
			lens_text_addf(out, "%s=%s", ways[i].option, value);
			return;
		}
	}
}
