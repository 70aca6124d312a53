/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "lib/site/plugstack.h"

#include "lib/core/text.h"
#include "lib/site/plugin_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONFIGLESS "/run/slurm/conf/plugstack.conf"

char *lens_plugstack_path(const char *named)
{
	const char *conf = getenv("SLURM_CONF");
	const char *slash = conf != NULL && *conf == '/' ? strrchr(conf, '/') : NULL;
	struct lens_text path = LENS_TEXT_INIT;

	if (*named == '/') {
		lens_text_adds(&path, named);
	} else {
		if (slash != NULL)
			lens_text_add(&path, conf, (size_t)(slash - conf));
		else
			lens_text_adds(&path, LENS_SLURM_SYSCONFDIR);
		lens_text_adds(&path, "/plugstack.conf");
	}
	if (!path.failed && access(path.data, F_OK) != 0 && access(CONFIGLESS, F_OK) == 0) {
		lens_text_clear(&path);
		lens_text_adds(&path, CONFIGLESS);
	}
	return lens_text_take(&path);
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
