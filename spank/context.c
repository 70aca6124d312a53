/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/context.h"

#include <stdlib.h>
#include <string.h>

struct lens_context lens_context;

const struct lens_config *lens_context_load(int argc, char *const *argv,
					    lens_config_problem_fn *problem, void *context)
{
	char *path;

	if (lens_context.config)
		return lens_context.config;
	path = lens_config_default_path();
	lens_context.config = lens_config_create();
	if (lens_context.config && path)
		lens_config_load(lens_context.config, argc, argv, path, problem, context);
	/* Half of the settings are not the site's: Inject=never may be in the other half. */
	if (!path || (lens_context.config && lens_context.config->incomplete)) {
		lens_config_destroy(lens_context.config);
		lens_context.config = NULL;
	}
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
