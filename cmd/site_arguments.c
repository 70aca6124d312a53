/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cmd/site_arguments.h"

#include "lib/core/path.h"
#include "lib/site/plugstack.h"
#include "lib/site/slurm_conf.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* PATH, or NULL where root better leaves it alone; it is freed then. sudo may hand SLURM_CONF on. */
static char *trusted(char *path)
{
	struct lens_error err;

	if (path == NULL || geteuid() != 0 || lens_path_check(path, 0, &err) == 0)
		return path;
	free(path);
	return NULL;
}

/* The line among those of STACK; NULL: there is none. */
static const struct lens_plugstack_line *line_find(const struct lens_plugstack *stack,
						   const char *plugin_dir)
{
	for (size_t i = 0; i < stack->count; i++) {
		if (lens_plugstack_is_lens(&stack->lines[i], plugin_dir))
			return &stack->lines[i];
	}
	return NULL;
}

/* LINE's arguments in the place of those that OPTIONS have of an earlier one. */
static int arguments_put(struct common_options *options, const struct lens_plugstack_line *line)
{
	size_t count = line->argument_count, before = options->site_count;
	size_t given = options->argument_count - before;
	char **all = calloc(count + given + 1, sizeof(*all));
	bool failed = false;

	if (all == NULL)
		return -1;
	for (size_t i = 0; !failed && i < count; i++) {
		all[i] = strdup(line->arguments[i]);
		failed = all[i] == NULL;
	}
	if (failed) {
		for (size_t i = 0; i < count; i++)
			free(all[i]);
		free(all);
		return -1;
	}
	for (size_t i = 0; i < before; i++)
		free(options->arguments[i]);
	for (size_t i = 0; i < given; i++)
		all[count + i] = options->arguments[before + i];
	free(options->arguments);
	options->arguments = all;
	options->argument_count = count + given;
	options->site_count = count;
	return 0;
}

int site_arguments_add(struct common_options *options)
{
	char *conf = trusted(lens_slurm_conf_path());
	char *named = conf != NULL ? lens_slurm_conf_get(conf, "PlugStackConfig") : NULL;
	char *plugin_dir = conf != NULL ? lens_slurm_conf_get(conf, "PluginDir") : NULL;
	char *path = conf != NULL ? trusted(lens_plugstack_path(named != NULL ? named : "")) : NULL;
	const struct lens_plugstack_line *line = NULL;
	struct lens_plugstack stack = { 0 };
	struct lens_error err;
	int rc = 0;

	if (path != NULL && lens_plugstack_read(&stack, path, NULL, NULL, &err) == 0)
		line = line_find(&stack, plugin_dir != NULL ? plugin_dir : LENS_DEFAULT_PLUGIN_DIR);
	if (line != NULL)
		rc = arguments_put(options, line);
	lens_plugstack_clear(&stack);
	free(path);
	free(plugin_dir);
	free(named);
	free(conf);
	return rc;
}

int site_config_load(struct lens_config **out, struct common_options *options,
		     lens_config_problem_fn *problem, void *context)
{
	struct lens_config *config = lens_config_create();
	char *path = lens_config_default_path();
	int rc = -1;

	*out = NULL;
	if (config == NULL || path == NULL || site_arguments_add(options) != 0)
		goto out;
	rc = lens_config_load(config, (int)options->argument_count, options->arguments, path,
			      problem, context);
	/* The site's own faults are the site's; nobody asked for them here. */
	rc = rc != 0 && options->argument_count > options->site_count ? -2 : 0;
	if (rc == 0) {
		*out = config;
		config = NULL;
	}
out:
	free(path);
	lens_config_destroy(config);
	return rc;
}
