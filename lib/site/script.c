/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/site/script.h"

#include "lib/core/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int word_add(struct lens_script *script, struct lens_text *text, unsigned int line)
{
	struct lens_script_word *longer =
		reallocarray(script->words, script->count + 1, sizeof(*script->words));
	char *word = lens_text_take(text);

	if (longer != NULL)
		script->words = longer;
	if (longer == NULL || word == NULL) {
		free(word);
		return -1;
	}
	longer[script->count++] = (struct lens_script_word){ word, line };
	return 0;
}

/*
 * Moves *AT behind the next word, which is added to WORD; an escaped blank is of it if
 * KEEP_BLANKS. 1: there is one; 0: the line ends; -1:
 * *QUOTE is not closed.
 */
static int word_read(struct lens_text *word, const char **at, bool keep_blanks, char *quote)
{
	bool escaped = false;
	const char *c = *at;

	*quote = '\0';
	while (isspace((unsigned char)*c))
		c++;
	for (; *c != '\0'; c++) {
		if (*quote == '\0' && !(escaped && keep_blanks) && isspace((unsigned char)*c))
			break;
		if (!escaped && *c == '\\') {
			escaped = true;
			continue;
		}
		if (!escaped && *quote != '\0' && *c == *quote) {
			*quote = '\0';
			continue;
		}
		if (!escaped && *quote == '\0' && (*c == '"' || *c == '\'')) {
			*quote = *c;
			continue;
		}
		if (!escaped && *quote == '\0' && *c == '#')
			break;
		escaped = false;
		lens_text_add(word, c, 1);
	}
	*at = c;
	if (*quote != '\0')
		return -1;
	return word->length > 0 ? 1 : 0;
}

static int directive_read(struct lens_script *out, const char *line, unsigned int number,
			  bool keep_blanks, struct lens_error *err)
{
	struct lens_text word = LENS_TEXT_INIT;
	char quote;
	int rc;

	while ((rc = word_read(&word, &line, keep_blanks, &quote)) == 1) {
		if (word_add(out, &word, number) != 0) {
			rc = lens_error_set(err, "out of memory");
			break;
		}
	}
	if (rc == -1 && quote != '\0')
		lens_error_set(err, "line %u: %c is not closed: sbatch refuses the script", number,
			       quote);
	lens_text_clear(&word);
	return rc;
}

/* What follows the word that makes LINE a directive; NULL: it is none. */
static const char *directive(const char *line)
{
	if (strncmp(line, "#SBATCH", strlen("#SBATCH")) == 0)
		return line + strlen("#SBATCH");
	if (strncmp(line, "#SLURM", strlen("#SLURM")) == 0)
		return line + strlen("#SLURM");
	return NULL;
}

static bool is_command(const char *line)
{
	while (isspace((unsigned char)*line))
		line++;
	return *line != '\0' && *line != '#';
}

int lens_script_read(struct lens_script *out, const char *text, uint32_t slurm,
		     struct lens_error *err)
{
	bool keep_blanks = slurm >= LENS_SCRIPT_BLANKS_SINCE, commands = false;
	unsigned int number = 0;
	int rc = 0;

	*out = (struct lens_script){ 0 };
	while (rc == 0 && *text != '\0') {
		size_t length = strcspn(text, "\n");
		char *line = strndup(text, length);
		const char *words = line != NULL ? directive(line) : NULL;

		number++;
		if (line == NULL)
			rc = lens_error_set(err, "out of memory");
		else if (words != NULL && !commands)
			rc = directive_read(out, words, number, keep_blanks, err);
		else if (words != NULL && out->late_line == 0 && strstr(words, "--lens") != NULL)
			out->late_line = number;
		else if (words == NULL)
			commands = commands || is_command(line);
		free(line);
		text += length + (text[length] == '\n');
	}
	return rc;
}

void lens_script_clear(struct lens_script *script)
{
	for (size_t i = 0; i < script->count; i++)
		free(script->words[i].text);
	free(script->words);
	*script = (struct lens_script){ 0 };
}
