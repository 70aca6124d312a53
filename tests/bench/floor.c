/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin that knows all that it tells: task_init sets as many variables of about the same sizes
 * as lens.so and writes one line, and so takes what no plugin that does this can go below.
 */
#include <slurm/slurm.h>
#include <slurm/spank.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

SPANK_PLUGIN(floor, 1);

#define LINE 160 /* bytes of a task_open record */

static const char *const short_names[] = {
	"NEMO_LENS_ENABLED",
	"NEMO_LENS_EXPORT_STRATEGY",
	"NEMO_LENS_RUN_ID",
	"TRACEPARENT",
};
static const char *const long_names[] = { "OTEL_RESOURCE_ATTRIBUTES", "SLURM_LENS_MARK" };

static char long_value[1400];
static int line_fd = -1;

static int ignore(int flag, const char *value, int remote)
{
	(void)flag;
	(void)value;
	(void)remote;
	return 0;
}

/* The options that the benchmark's job is submitted with. */
static struct spank_option options[] = {
	{ (char *)"lens", (char *)"on", (char *)"ignored", 2, 0, ignore },
	{ (char *)"lens-strategy", (char *)"name", (char *)"ignored", 1, 0, ignore },
};

int slurm_spank_init(spank_t sp, int ac, char **av)
{
	(void)ac;
	(void)av;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		spank_option_register(sp, &options[i]);
	memset(long_value, 'v', sizeof(long_value) - 1);
	line_fd = open("/dev/shm", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	return 0;
}

int slurm_spank_task_init(spank_t sp, int ac, char **av)
{
	(void)ac;
	(void)av;
	for (size_t i = 0; i < sizeof(short_names) / sizeof(short_names[0]); i++)
		spank_setenv(sp, short_names[i], "a value", 1);
	for (size_t i = 0; i < sizeof(long_names) / sizeof(long_names[0]); i++)
		spank_setenv(sp, long_names[i], long_value, 1);
	return write(line_fd, long_value, LINE) == LINE ? 0 : -1;
}
