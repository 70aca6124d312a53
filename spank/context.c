/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/context.h"

#include "lib/core/text.h"

#include <config.h>
#include <stdlib.h>
#include <string.h>

struct lens_context lens_context;

/* lens.conf beside slurm.conf: Slurm hands its place on in SLURM_CONF when it is not the
 * built-in one. The caller frees; NULL: no memory. */
static char *default_config_path(void)
{
	const char *slurm_conf = getenv("SLURM_CONF");
	const char *slash = slurm_conf ? strrchr(slurm_conf, '/') : NULL;
	struct lens_text path = LENS_TEXT_INIT;

	if (slash && slurm_conf[0] == '/')
		lens_text_add(&path, slurm_conf, (size_t)(slash - slurm_conf));
	else
		lens_text_adds(&path, LENS_SLURM_SYSCONFDIR);
	lens_text_adds(&path, "/lens.conf");
	return lens_text_take(&path);
}

const struct lens_config *lens_context_load(int argc, char *const *argv,
					    lens_config_problem_fn *problem, void *context)
{
	char *path;

	if (lens_context.config)
		return lens_context.config;
	path = default_config_path();
	lens_context.config = lens_config_create();
	if (lens_context.config && path)
		lens_config_load(lens_context.config, argc, argv, path, problem, context);
	free(path);
	return lens_context.config;
}

void lens_context_clear(void)
{
	lens_config_destroy(lens_context.config);
	lens_context.config = NULL;
	free(lens_context.submitter);
	lens_context.submitter = NULL;
	lens_options_clear(&lens_context.options);
}
