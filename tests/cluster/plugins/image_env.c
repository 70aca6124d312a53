/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does to a task's environment what container plugins do in task_init: an image's
 * variables, here the lines `NAME=value` of the plugin's argument env=FILE, replace the job's.
 */
#include <slurm/spank.h>
#include <stdio.h>
#include <string.h>

SPANK_PLUGIN(image_env, 1);

/* Container plugins register their options here; slurmd loads no plugin without it (measured on
 * 22.05). */
int slurm_spank_init(spank_t sp, int argc, char **argv)
{
	(void)sp;
	(void)argc;
	(void)argv;
	return ESPANK_SUCCESS;
}

int slurm_spank_task_init(spank_t sp, int argc, char **argv)
{
	char line[4096];
	FILE *file;

	if (argc < 1 || strncmp(argv[0], "env=", 4) != 0)
		return ESPANK_SUCCESS;
	file = fopen(argv[0] + 4, "re");
	if (!file)
		return ESPANK_SUCCESS;
	while (fgets(line, sizeof(line), file)) {
		char *equals = strchr(line, '=');

		line[strcspn(line, "\n")] = '\0';
		if (!equals)
			continue;
		*equals = '\0';
		spank_setenv(sp, line, equals + 1, 1);
	}
	fclose(file);
	return ESPANK_SUCCESS;
}
