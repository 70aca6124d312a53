/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "lib/site/slurm_conf.h"

#include "lib/core/text.h"
#include "lib/site/file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define BUILT_IN   LENS_SLURM_SYSCONFDIR "/slurm.conf"
#define CONFIGLESS "/run/slurm/conf/slurm.conf"
#define FILE_MAX   (16 * 1024 * 1024)

#define FILES_MAX 256 /* that are read: one that includes itself comes to an end, too */

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

struct search {
	const char *key;
	int files; /* that were read */
	char *found;
};

static void file_search(struct search *search, const char *path);

/* Whether LINE of FILE, which is changed, includes another one: that is searched then. */
static bool include_search(struct search *search, const char *file, char *line)
{
	static const char word[] = "include";
	struct lens_text path = LENS_TEXT_INIT;
	const char *slash = strrchr(file, '/');
	char *name;

	line += strspn(line, blanks);
	if (strncasecmp(line, word, strlen(word)) != 0)
		return false;
	name = line + strlen(word);
	if (strchr(blanks, *name) == NULL || *name == '\0')
		return false;
	name += strspn(name, blanks);
	name[strcspn(name, " \t\r#")] = '\0';
	if (*name != '/' && slash != NULL)
		lens_text_add(&path, file, (size_t)(slash - file) + 1);
	lens_text_adds(&path, name);
	if (!path.failed && *name != '\0')
		file_search(search, path.data);
	lens_text_clear(&path);
	return true;
}

static void file_search(struct search *search, const char *path)
{
	struct lens_text text = LENS_TEXT_INIT;
	struct lens_error err;
	char *next;

	if (search->files == FILES_MAX)
		return;
	search->files++;
	if (lens_file_read(&text, path, FILE_MAX, &err) != 0)
		lens_text_clear(&text);
	for (char *line = text.data; line != NULL; line = next) {
		char *value;

		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		if (include_search(search, path, line))
			continue;
		value = line_value(line, search->key);
		if (value != NULL) {
			free(search->found);
			search->found = strdup(value);
		}
	}
	lens_text_clear(&text);
}

char *lens_slurm_conf_get(const char *path, const char *key)
{
	struct search search = { .key = key };

	file_search(&search, path);
	return search.found;
}
