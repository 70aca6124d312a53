/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/spankhost/quirks.h"

#include <dirent.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* One answer of the probe; the fields point into the file's text. */
struct answer {
	const char *role; /* with @node */
	uint32_t job;
	const char *hook;
	const char *question;
	const char *text;
};

struct answers {
	struct answer *list;
	size_t count;
	char **texts; /* back the answers */
	size_t text_count;
	uint32_t first_job; /* J */
};

/* A row of the table. */
struct row {
	char *role, *hooks, *questions, *text;
	unsigned int line;
};

static char *read_all(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t length = 0, got;

	if (!file)
		return NULL;
	do {
		text = realloc(text, length + 65537);
		if (!text)
			abort();
		got = fread(text + length, 1, 65536, file);
		length += got;
		text[length] = '\0';
	} while (got);
	fclose(file);
	return text;
}

static void answers_add(struct answers *answers, char *text)
{
	char *line, *lines = text;

	while ((line = strsep(&lines, "\n"))) {
		struct answer answer = { .role = strsep(&line, "\t") };
		const char *job = strsep(&line, "\t");

		answer.hook = strsep(&line, "\t");
		answer.question = strsep(&line, "\t");
		answer.text = line;
		if (!answer.text)
			continue;
		answer.job = (uint32_t)strtoul(job, NULL, 10);
		if (answer.job && (!answers->first_job || answer.job < answers->first_job))
			answers->first_job = answer.job;
		answers->list =
			realloc(answers->list, (answers->count + 1) * sizeof(*answers->list));
		if (!answers->list)
			abort();
		answers->list[answers->count++] = answer;
	}
}

static void answers_keep(struct answers *answers, char *text)
{
	answers->texts =
		realloc(answers->texts, (answers->text_count + 1) * sizeof(*answers->texts));
	if (!answers->texts)
		abort();
	answers->texts[answers->text_count++] = text;
	answers_add(answers, text);
}

static void answers_clear(struct answers *answers)
{
	for (size_t i = 0; i < answers->text_count; i++)
		free(answers->texts[i]);
	free(answers->texts);
	free(answers->list);
}

static int answers_read(struct answers *answers, const char *logs)
{
	DIR *directory = opendir(logs);
	struct dirent *entry;

	if (!directory)
		return -1;
	while ((entry = readdir(directory))) {
		char path[512];
		char *text;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", logs, entry->d_name);
		text = read_all(path);
		if (text)
			answers_keep(answers, text);
	}
	closedir(directory);
	return answers->count ? 0 : -1;
}

/* Whether NAME is in LIST, comma separated, or LIST is `*`. */
static bool listed(const char *list, const char *name)
{
	size_t length = strlen(name);

	if (strcmp(list, "*") == 0)
		return true;
	for (const char *at = list; (at = strstr(at, name)); at += length)
		if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
			return true;
	return false;
}

/* `J` and `J+1` are the scenario's job ids, `+` is any value, `open` may be a pipe as well. */
static bool is(const struct answers *answers, const char *wanted, const char *text)
{
	char number[16];

	if (strcmp(wanted, "+") == 0)
		return strcmp(text, "-") != 0;
	if (wanted[0] == 'J' && (wanted[1] == '\0' || wanted[1] == '+')) {
		snprintf(number, sizeof(number), "%u",
			 answers->first_job + (wanted[1] ? (uint32_t)atoi(wanted + 2) : 0));
		return strcmp(number, text) == 0;
	}
	while (*wanted && *text) {
		if (strncmp(wanted, "open", 4) == 0 && strncmp(text, "pipe", 4) == 0) {
			wanted += 4;
			text += 4;
		} else if (*wanted++ != *text++) {
			return false;
		}
	}
	return *wanted == *text;
}

static int count_runs(const struct answers *answers, const struct row *row, FILE *out)
{
	char *hooks = strdup(row->hooks), *rest = hooks, *hook;
	int differences = 0;

	while ((hook = strsep(&rest, ","))) {
		int count = 0;

		for (size_t i = 0; i < answers->count; i++)
			count += strcmp(answers->list[i].role, row->role) == 0 &&
				 strcmp(answers->list[i].hook, hook) == 0 &&
				 strcmp(answers->list[i].question, "run") == 0;
		if (count != atoi(row->text)) {
			fprintf(out, "%u: %s %s ran %d times, not %s\n", row->line, row->role, hook,
				count, row->text);
			differences++;
		}
	}
	free(hooks);
	return differences;
}

/* Every answer has to be one of the row's, and each of the row's has to be given. */
static int compare_question(const struct answers *answers, const struct row *row,
			    const char *question, FILE *out)
{
	char *copy = strdup(row->text), *rest = copy, *wanted;
	char *alternatives[8];
	bool seen[8] = { false };
	size_t count = 0;
	int differences = 0;

	while ((wanted = strsep(&rest, "|")) && count < 8)
		alternatives[count++] = wanted;
	for (size_t i = 0; i < answers->count; i++) {
		const struct answer *answer = &answers->list[i];
		bool found = false;

		if (strcmp(answer->role, row->role) != 0 || !listed(row->hooks, answer->hook) ||
		    strcmp(answer->question, question) != 0)
			continue;
		for (size_t a = 0; a < count; a++)
			if (is(answers, alternatives[a], answer->text))
				found = seen[a] = true;
		if (!found && ++differences)
			fprintf(out, "%u: %s %s %s is %s, not %s\n", row->line, row->role,
				answer->hook, question, answer->text, row->text);
	}
	for (size_t a = 0; a < count; a++)
		if (!seen[a] && ++differences)
			fprintf(out, "%u: %s %s %s was never %s\n", row->line, row->role,
				row->hooks, question, alternatives[a]);
	free(copy);
	return differences;
}

static int compare_row(const struct answers *answers, const struct row *row, FILE *out)
{
	char *questions = strdup(row->questions), *rest = questions, *question;
	int differences = 0;

	if (strcmp(row->questions, "runs") == 0)
		differences = count_runs(answers, row, out);
	else
		while ((question = strsep(&rest, ",")))
			differences += compare_question(answers, row, question, out);
	free(questions);
	return differences;
}

/* The fields of LINE; false where it is for another release or about ids that are not there. */
static bool row_parse(struct row *row, char *line, const char *release, bool ids)
{
	if (line[0] >= '0' && line[0] <= '9') {
		const char *releases = strsep(&line, " ");

		if (!listed(releases, release))
			return false;
	}
	row->role = strsep(&line, " ");
	row->hooks = strsep(&line, " ");
	row->questions = strsep(&line, " ");
	row->text = line;
	if (!row->text)
		return false;
	return ids || strcmp(row->questions, "run") != 0;
}

int quirks_compare(const char *table, const char *release, const char *scenario, const char *logs,
		   bool ids, size_t *rows, FILE *out)
{
	struct answers answers = { 0 };
	char *text = read_all(table), *rest = text, *line;
	char heading[64];
	bool within = false;
	unsigned int number = 0;
	int differences = 0;
	size_t looked = 0;

	if (!text || answers_read(&answers, logs)) {
		fprintf(out, "no table at %s, or no logs in %s\n", table, logs);
		differences = -1;
		goto out;
	}
	snprintf(heading, sizeof(heading), "[%s]", scenario);
	while ((line = strsep(&rest, "\n"))) {
		struct row row = { .line = ++number };

		if (line[0] == '[')
			within = strcmp(line, heading) == 0;
		if (!within || line[0] == '[' || line[0] == '#' || line[0] == '\0' ||
		    !row_parse(&row, line, release, ids))
			continue;
		looked++;
		differences += compare_row(&answers, &row, out);
	}
	if (rows)
		*rows = looked;
	if (!looked) {
		fprintf(out, "no row for %s on %s\n", scenario, release);
		differences = -1;
	}
out:
	answers_clear(&answers);
	free(text);
	return differences;
}
