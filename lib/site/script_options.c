/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/site/script_options.h"

#include "lib/core/number.h"
#include "lib/core/show.h"
#include "lib/core/text.h"

#include <stdlib.h>
#include <string.h>

struct reading {
	struct lens_script_options *out;
	const struct lens_script *script;
	size_t next; /* the word to read next */
	/* Of the component; 0: not said. */
	uint32_t tasks, nodes, tasks_per_node;
	bool open; /* a range, `-N 2-4`: Slurm chooses */
	lens_script_problem_fn *problem;
	void *context;
	unsigned int problems;
};

static void problem(struct reading *reading, unsigned int line, const char *text)
{
	reading->problems++;
	if (reading->problem != NULL)
		reading->problem(reading->context, line, text);
}

/* The option that WORD (LENGTH bytes of it, without the dashes) names. NULL with ERR: none, or it
 * may be several. */
static const struct lens_option_spec *option_find(const char *word, size_t length,
						  struct lens_error *err)
{
	const struct lens_option_spec *found = NULL;
	struct lens_text several = LENS_TEXT_INIT;
	struct lens_shown shown;
	size_t count = 0;
	char *names;

	for (size_t i = 0; i < lens_option_count; i++) {
		const char *name = lens_option_specs[i].name;

		if (strncmp(name, word, length) != 0)
			continue;
		if (name[length] == '\0') {
			lens_text_clear(&several);
			return &lens_option_specs[i];
		}
		found = &lens_option_specs[i];
		lens_text_addf(&several, "%s--%s", count++ > 0 ? ", " : "", name);
	}
	names = lens_text_take(&several);
	if (count == 0)
		lens_error_set(err, "--%s is no option of lens: `sbatch --help` lists them",
			       lens_shown_value(&shown, word));
	else if (count > 1)
		lens_error_set(err, "--%s may be %s: write it in full",
			       lens_shown_value(&shown, word), names != NULL ? names : "several");
	free(names);
	return count == 1 ? found : NULL;
}

/* getopt would take `--len` for one of lens's too, but sbatch's own options begin like
 * that: what is shorter is left to sbatch. */
static bool is_lens(const char *word)
{
	return strncmp(word, "--lens", strlen("--lens")) == 0;
}

/* A word that is no option right after an option that takes no further one. */
static void stray_check(struct reading *reading)
{
	const struct lens_script_word *word = &reading->script->words[reading->next];
	struct lens_shown shown;
	struct lens_error text;

	if (reading->next >= reading->script->count || word->text[0] == '-' ||
	    strcmp(word->text, "hetjob") == 0 || strcmp(word->text, "packjob") == 0)
		return;
	lens_error_set(&text,
		       "`%s` is no option: sbatch refuses the script; an option's value "
		       "belongs behind `=`",
		       lens_shown_value(&shown, word->text));
	problem(reading, word->line, text.text);
}

static void lens_read(struct reading *reading, const struct lens_script_word *word)
{
	const char *name = word->text + 2, *equals = strchr(word->text, '=');
	struct lens_error err = LENS_ERROR_INIT;
	const struct lens_option_spec *spec;
	const char *value = equals != NULL ? equals + 1 : NULL;

	reading->out->given = true;
	spec = option_find(name, equals != NULL ? (size_t)(equals - name) : strlen(name), &err);
	if (spec == NULL) {
		problem(reading, word->line, err.text);
		return;
	}
	if (value == NULL && !spec->argument_optional && reading->next < reading->script->count)
		value = reading->script->words[reading->next++].text;
	if (lens_options_set(&reading->out->lens, spec->name, value, &err) != 0)
		problem(reading, word->line, err.text);
	stray_check(reading);
}

/* The value of WORD when it is the option SHORT (`-n`) or LONG (`--ntasks`); else NULL. */
static const char *value_take(struct reading *reading, const char *word, const char *short_name,
			      const char *long_name)
{
	size_t length = strlen(long_name);

	if (short_name != NULL && strncmp(word, short_name, 2) == 0 && word[2] != '\0')
		return word + 2;
	if (strncmp(word, long_name, length) == 0 && word[length] == '=')
		return word + length + 1;
	if (((short_name != NULL && strcmp(word, short_name) == 0) ||
	     strcmp(word, long_name) == 0) &&
	    reading->next < reading->script->count)
		return reading->script->words[reading->next++].text;
	return NULL;
}

static void size_read(struct reading *reading, const char *word)
{
	const struct {
		const char *short_name, *long_name;
		uint32_t *out;
	} sizes[] = {
		{ "-n", "--ntasks", &reading->tasks },
		{ "-N", "--nodes", &reading->nodes },
		{ NULL, "--ntasks-per-node", &reading->tasks_per_node },
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const char *value =
			value_take(reading, word, sizes[i].short_name, sizes[i].long_name);

		if (value == NULL)
			continue;
		if (lens_uint32_parse(value, sizes[i].out) != 0)
			reading->open = true;
		return;
	}
}

/* The tasks of the component: sbatch's default is one, or one a node. 0: not known. */
static uint32_t component_tasks(const struct reading *reading)
{
	uint32_t nodes = reading->nodes != 0 ? reading->nodes : 1;
	uint32_t per_node = reading->tasks_per_node != 0 ? reading->tasks_per_node : 1, product;

	if (reading->open || __builtin_mul_overflow(nodes, per_node, &product))
		return 0;
	return reading->tasks != 0 ? reading->tasks : product;
}

static uint32_t component_nodes(const struct reading *reading, uint32_t tasks)
{
	if (reading->open || reading->nodes != 0)
		return reading->nodes;
	if (reading->tasks_per_node != 0)
		return tasks / reading->tasks_per_node + (tasks % reading->tasks_per_node != 0);
	return tasks == 1 ? 1 : 0;
}

/* A sum of what is known; 0 when one part is not. */
static uint32_t sum(uint32_t a, uint32_t b)
{
	uint32_t total;

	return a == 0 || b == 0 || __builtin_add_overflow(a, b, &total) ? 0 : total;
}

static void component_end(struct reading *reading)
{
	struct lens_script_options *out = reading->out;
	uint32_t tasks = component_tasks(reading), nodes = component_nodes(reading, tasks);

	out->tasks = out->components == 0 ? tasks : sum(out->tasks, tasks);
	out->nodes = out->components == 0 ? nodes : sum(out->nodes, nodes);
	out->components++;
	reading->tasks = reading->nodes = reading->tasks_per_node = 0;
	reading->open = false;
}

int lens_script_options_read(struct lens_script_options *out, const struct lens_script *script,
			     lens_script_problem_fn *problem_fn, void *context)
{
	struct reading reading = {
		.out = out, .script = script, .problem = problem_fn, .context = context
	};

	*out = (struct lens_script_options){ 0 };
	lens_options_init(&out->lens);
	while (reading.next < script->count) {
		const struct lens_script_word *word = &script->words[reading.next++];

		if (strcmp(word->text, "hetjob") == 0 || strcmp(word->text, "packjob") == 0)
			component_end(&reading);
		else if (is_lens(word->text))
			lens_read(&reading, word);
		else
			size_read(&reading, word->text);
	}
	component_end(&reading);
	return reading.problems == 0 ? 0 : -1;
}

void lens_script_options_clear(struct lens_script_options *options)
{
	lens_options_clear(&options->lens);
}
