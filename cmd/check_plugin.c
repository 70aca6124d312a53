/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cmd/check.h"

#include "lib/site/plugin_file.h"

#include <stdlib.h>
#include <string.h>

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static const char *plugin_dir(const struct check *check)
{
	return *check->site.plugin_dir != '\0' ? check->site.plugin_dir : LENS_DEFAULT_PLUGIN_DIR;
}

static void problem_add(void *context, const char *text)
{
	check_add(context, CHECK_FAIL, "plugstack", "%s", text);
}

static void lines_look(struct check *check, const char *path)
{
	for (size_t i = 0; i < check->stack.count; i++) {
		const struct lens_plugstack_line *line = &check->stack.lines[i];

		if (!lens_plugstack_is_lens(line, plugin_dir(check)))
			continue;
		if (check->line == NULL) {
			check->line = line;
			continue;
		}
		check_add(check, CHECK_FAIL, "plugstack",
			  "%s:%u: lens stands at %s:%u already: its hooks run twice", line->file,
			  line->number, check->line->file, check->line->number);
		check_remedy(check, "take one of the lines out");
	}
	if (check->line != NULL)
		return;
	check_add(check, CHECK_FAIL, "plugstack", "%s and what it includes have no line for lens",
		  path);
	check_remedy(check, "add `optional " LENS_PLUGIN_FILE "` there, then restart slurmd");
}

static void required_check(struct check *check)
{
	if (!check->line->required)
		return;
	check_add(check, CHECK_WARNING, "plugstack",
		  "%s:%u: lens is required: where it cannot be loaded, after an upgrade of Slurm "
		  "say, no job starts",
		  check->line->file, check->line->number);
	check_remedy(check, "write optional");
}

static void version_check(struct check *check, const char *path,
			  const struct lens_plugin_file *file)
{
	char built[LENS_SLURM_VERSION], here[LENS_SLURM_VERSION];

	lens_slurm_version_format(built, file->slurm);
	lens_slurm_version_format(here, check->slurm);
	if (check->slurm == 0) {
		check_add(check, CHECK_WARNING, "plugin",
			  "%s is for Slurm %s; which Slurm is installed here cannot be seen in %s",
			  path, built, plugin_dir(check));
		return;
	}
	if (!lens_plugin_fits(file->slurm, check->slurm)) {
		check_add(check, CHECK_FAIL, "plugin",
			  "%s was built for Slurm %s, and here is %s, which does not load it", path,
			  built, here);
		check_remedy(check, "build or install slurm-lens for Slurm %s", here);
		return;
	}
	check_add(check, CHECK_OK, "plugin", "%s%s%s for Slurm %s, by %s:%u", path,
		  *file->version != '\0' ? ", version " : "", file->version, here,
		  check->line->file, check->line->number);
	if (*file->version == '\0' || strcmp(file->version, PACKAGE_VERSION) == 0)
		return;
	check_add(check, CHECK_WARNING, "plugin",
		  "the plugin is version %s and this program " PACKAGE_VERSION, file->version);
	check_remedy(check, "install both from one version");
}

static void file_check(struct check *check)
{
	char *path = lens_plugstack_find(check->line->plugin, plugin_dir(check));
	struct lens_error err = LENS_ERROR_INIT;
	struct lens_plugin_file file;

	if (path == NULL) {
		check_add(check, CHECK_FAIL, "plugin", "%s:%u: there is no %s%s%s",
			  check->line->file, check->line->number, check->line->plugin,
			  *check->line->plugin != '/' ? " in " : "",
			  *check->line->plugin != '/' ? plugin_dir(check) : "");
		check_remedy(check, "install slurm-lens on this machine, or set the path right");
	} else if (lens_plugin_file_read(&file, path, &err) != 0) {
		check_add(check, CHECK_FAIL, "plugin", "%s", err.text);
		check_remedy(check, "install slurm-lens anew");
	} else if (file.slurm == 0 || strcmp(file.type, "spank") != 0) {
		check_add(check, CHECK_FAIL, "plugin", "%s is no SPANK plugin", path);
		check_remedy(check, "install slurm-lens anew");
	} else {
		version_check(check, path, &file);
	}
	free(path);
}

/* Slurm calls each hook in the order of the lines: as lens itself says in slurmd's log. */
static void order_check(struct check *check)
{
	for (const struct lens_plugstack_line *line = check->line + 1;
	     line < check->stack.lines + check->stack.count; line++) {
		char *path = lens_plugstack_find(line->plugin, plugin_dir(check));
		struct lens_plugin_file file = { 0 };

		if (path != NULL && lens_plugin_file_read(&file, path, NULL) == 0 &&
		    file.task_init && strcmp(file.name, "lens") != 0) {
			check_add(check, CHECK_WARNING, "order",
				  "%s:%u: %s comes after lens and acts when a task starts: a "
				  "container plugin there replaces what lens tells its tasks",
				  line->file, line->number, last_part(line->plugin));
			check_remedy(check, "put lens's line last");
		}
		free(path);
	}
}

void check_plugin(struct check *check)
{
	struct lens_error err = LENS_ERROR_INIT;
	char *path = check->plugstack != NULL ? strdup(check->plugstack)
					      : lens_plugstack_path(check->site.plugstack);

	check->slurm = lens_plugin_dir_slurm(plugin_dir(check));
	if (check->slurm == 0)
		check->slurm = lens_slurm_version_parse(check->site.version);
	if (path == NULL) {
		check->rows.failed = true;
		return;
	}
	if (lens_plugstack_read(&check->stack, path, problem_add, check, &err) != 0) {
		check_add(check, CHECK_FAIL, "plugstack", "%s", err.text);
		check_remedy(
			check,
			"Slurm loads plugins from there alone: write `optional " LENS_PLUGIN_FILE
			"` into it, or name another file with --plugstack");
	} else {
		lines_look(check, path);
	}
	free(path);
	if (check->line == NULL)
		return;
	required_check(check);
	file_check(check);
	order_check(check);
}
