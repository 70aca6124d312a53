/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "lib/site/slurm_conf.h"

#include "lib/core/text.h"
#include "lib/site/file.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define BUILT_IN   LENS_SLURM_SYSCONFDIR "/slurm.conf"
#define CONFIGLESS "/run/slurm/conf/slurm.conf"
#define FILE_MAX   (16 * 1024 * 1024)

static const char blanks[] = " \t\r";

char *lens_slurm_conf_path(void)
{
	const char *named = getenv("SLURM_CONF");

	if (named != NULL && *named == '/')
		return strdup(named);
	return strdup(access(BUILT_IN, F_OK) == 0 || access(CONFIGLESS, F_OK) != 0 ? BUILT_IN
										   : CONFIGLESS);
}

/* What KEY is set to in LINE, which is changed; NULL: it is not KEY's. */
static char *line_value(char *line, const char *key)
{
	char *value, *end;

	line[strcspn(line, "#")] = '\0';
	line += strspn(line, blanks);
	if (strncasecmp(line, key, strlen(key)) != 0)
		return NULL;
	value = line + strlen(key);
	value += strspn(value, blanks);
	if (*value != '=')
		return NULL;
	value += 1 + strspn(value + 1, blanks);
	end = value + strcspn(value, blanks);
	if (*value == '"') {
		value++;
		end = value + strcspn(value, "\"");
	}
	*end = '\0';
	return value;
}

char *lens_slurm_conf_get(const char *path, const char *key)
{
	struct lens_text text = LENS_TEXT_INIT;
	struct lens_error err;
	char *found = NULL, *next;

	if (lens_file_read(&text, path, FILE_MAX, &err) != 0)
		lens_text_clear(&text);
	for (char *line = text.data; line != NULL; line = next) {
		char *value;

		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		value = line_value(line, key);
		if (value != NULL) {
			free(found);
			found = strdup(value);
		}
	}
	lens_text_clear(&text);
	return found;
}
