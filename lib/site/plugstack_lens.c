/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/site/plugstack.h"

#include "lib/core/config.h"
#include "lib/site/plugin_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONFIGLESS "/run/slurm/conf/plugstack.conf"

char *lens_plugstack_path(const char *named)
{
	char *path = *named == '/' ? strdup(named) : lens_config_path_beside("plugstack.conf");

	if (path != NULL && access(path, F_OK) != 0 && access(CONFIGLESS, F_OK) == 0) {
		free(path);
		path = strdup(CONFIGLESS);
	}
	return path;
}

bool lens_plugstack_is_lens(const struct lens_plugstack_line *line, const char *plugin_dir)
{
	const char *slash = strrchr(line->plugin, '/');
	struct lens_plugin_file file = { 0 };
	char *path;

	if (strcmp(slash != NULL ? slash + 1 : line->plugin, LENS_PLUGIN_FILE) == 0)
		return true;
	path = lens_plugstack_find(line->plugin, plugin_dir);
	if (path != NULL && lens_plugin_file_read(&file, path, NULL) == 0 &&
	    strcmp(file.type, "spank") != 0)
		file.name[0] = '\0';
	free(path);
	return strcmp(file.name, "lens") == 0;
}
