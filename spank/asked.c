/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/asked.h"

#include "lib/core/mark.h"
#include "lib/core/ranks.h"
#include "spank/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* This process's command line, each word with its NUL. */
static void read_command_line(struct lens_text *out)
{
	FILE *file = fopen("/proc/self/cmdline", "re");
	char bytes[4096];
	size_t length;

	while (file && (length = fread(bytes, 1, sizeof(bytes), file)) > 0)
		lens_text_add(out, bytes, length);
	if (file)
		fclose(file);
}

/* The words of LINE, borrowed, in an array that the caller frees; NULL: none or no memory. */
static char **split(const struct lens_text *line, size_t *count)
{
	char **words;

	*count = 0;
	for (size_t i = 0; i < line->length; i++)
		*count += line->data[i] == '\0';
	words = *count ? calloc(*count, sizeof(*words)) : NULL;
	if (!words)
		return NULL;
	words[0] = line->data;
	for (size_t i = 1; i < *count; i++)
		words[i] = words[i - 1] + strlen(words[i - 1]) + 1;
	return words;
}

static bool is_het(char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(words[i], ":") == 0)
			return true;
	return false;
}

void lens_asked_hand_on(spank_t sp)
{
	struct lens_text line = LENS_TEXT_INIT, asked = LENS_TEXT_INIT;
	char *const *command;
	size_t count, behind = lens_facts_argv(sp, &command);
	char **words;

	read_command_line(&line);
	words = line.failed ? NULL : split(&line, &count);
	if (words && behind && behind < count && !is_het(words, count - behind))
		lens_ranks_asked(&asked, words + 1, count - behind - 1);
	if (asked.length && !asked.failed)
		setenv(LENS_ASKED_NAME, asked.data, 1);
	else
		unsetenv(LENS_ASKED_NAME);
	free(words);
	lens_text_clear(&asked);
	lens_text_clear(&line);
}
