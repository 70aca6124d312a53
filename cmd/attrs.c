/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/command.h"
#include "cmd/json_print.h"
#include "cmd/usage.h"
#include "lib/core/config.h"
#include "lib/core/launch.h"
#include "lib/core/mark.h"
#include "lib/core/number.h"
#include "lib/core/resource.h"
#include "lib/core/settings.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help_text[] =
	"Usage: slurm-lens attrs --stage sbatch|task [OPTION...]\n"
	"\n"
	"Says, from the present environment alone, which resource attributes the plugin would\n"
	"put into it: for the batch script (sbatch) or for a task of an srun (task).\n"
	"\n"
	"  --stage sbatch|task     needed\n"
	"  --format shell|json     shell (the default): a line to eval; json: a flat object\n"
	"  --container-image I     nv.dl.launch.container.image\n"
	"  --help                  say this\n"
	"\n"
	"Exit status: 0 ok; 1 this is no Slurm job and nothing was handed on; 2 usage.\n";

enum { OPTION_STAGE = 256, OPTION_FORMAT, OPTION_IMAGE, OPTION_HELP };

struct request {
	bool task; /* --stage task */
	bool stage_set;
	bool json;
	const char *image;
};

static int take_option(struct request *request, int option, char *const *argv)
{
	switch (option) {
	case OPTION_STAGE:
		request->stage_set = true;
		request->task = strcmp(optarg, "task") == 0;
		return request->task || strcmp(optarg, "sbatch") == 0
			       ? 0
			       : usage_refuse("attrs", "stage", optarg, "sbatch or task");
	case OPTION_FORMAT:
		request->json = strcmp(optarg, "json") == 0;
		return request->json || strcmp(optarg, "shell") == 0
			       ? 0
			       : usage_refuse("attrs", "format", optarg, "shell or json");
	case OPTION_IMAGE:
		request->image = optarg;
		return 0;
	default:
		return usage_unknown("attrs", option, argv);
	}
}

/* 0; 1 when help was asked for; -1 after a line on standard error. */
static int read_options(struct request *request, int argc, char **argv)
{
	static const struct option options[] = {
		{ "stage", required_argument, NULL, OPTION_STAGE },
		{ "format", required_argument, NULL, OPTION_FORMAT },
		{ "container-image", required_argument, NULL, OPTION_IMAGE },
		{ "help", no_argument, NULL, OPTION_HELP },
		{ 0 },
	};
	int option;

	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (option == OPTION_HELP)
			return 1;
		if (take_option(request, option, argv) == -1)
			return -1;
	}
	if (usage_words_none("attrs", argc, argv) == -1)
		return -1;
	return request->stage_set
		       ? 0
		       : usage_wrong("attrs", "--stage sbatch or --stage task is needed");
}

static int add_rank(struct lens_carrier *attributes, const struct lens_env *env, const char *run_id)
{
	uint32_t rank, local, world;

	if (lens_uint32_parse(lens_env_value(env, "SLURM_PROCID"), &rank) ||
	    lens_uint32_parse(lens_env_value(env, "SLURM_LOCALID"), &local) ||
	    lens_uint32_parse(lens_env_value(env, "SLURM_NTASKS"), &world))
		return 0;
	return lens_launch_rank_attributes(attributes, &(struct lens_rank){ rank, world, local },
					   run_id);
}

/* What is derived, before what the environment's carrier says. NULL: no memory. */
static struct lens_carrier *derive(const struct request *request, const struct lens_env *env,
				   const char *run_id)
{
	struct lens_config *config = lens_config_create();
	struct lens_carrier *attributes = NULL;
	struct lens_launch launch = {
		.place = request->task ? LENS_PLACE_STEP : LENS_PLACE_BATCH,
	};
	char host[256] = "";

	if (request->task && gethostname(host, sizeof(host) - 1) == 0)
		launch.host = host;
	if (config)
		attributes = lens_launch_attributes(env, &launch, config, run_id);
	lens_config_destroy(config);
	if (attributes && request->task && add_rank(attributes, env, run_id)) {
		lens_carrier_destroy(attributes);
		return NULL;
	}
	if (attributes && !request->task) {
		lens_carrier_remove(attributes, "slurm.topology.addr");
		lens_carrier_remove(attributes, "slurm.topology.addr_pattern");
	}
	return attributes;
}

static bool holds_identity(const struct lens_carrier *own)
{
	for (size_t i = 0; i < lens_inherited_key_count; i++)
		if (lens_carrier_get(own, lens_identity_keys[i]))
			return true;
	return lens_carrier_get(own, "nemo.run.id") != NULL;
}

static void say_problem(void *context, const char *text)
{
	(void)context;
	fprintf(stderr, "slurm-lens attrs: %s\n", text);
}

/* What the variables choose over ENV's carrier: the run id (else what the carrier OWN has, else the
 * job id) and the user's; what --container-image says. 0 or -1 (memory). */
static int choose(struct lens_carrier *overrides, const struct request *request,
		  const struct lens_env *env, const struct lens_carrier *own)
{
	struct lens_config *config = lens_config_create();
	struct lens_options options;
	struct lens_settings settings = { 0 };
	const char *run;
	int rc = -1;

	lens_options_init(&options);
	if (!config || lens_settings_resolve(&settings, &options, lens_env_array(env), config,
					     say_problem, NULL))
		goto out;
	run = settings.run_id ? settings.run_id : lens_carrier_get(own, "nemo.run.id");
	if (!run)
		run = lens_env_value_nonempty(env, "SLURM_JOB_ID");
	rc = lens_carrier_publish(overrides, "nemo.run.id", run) ||
			     lens_carrier_publish(overrides, "nemo.user.id", settings.user) ||
			     lens_carrier_publish(overrides, "nv.dl.launch.container.image",
						  request->image)
		     ? -1
		     : 0;
out:
	lens_settings_clear(&settings);
	lens_config_destroy(config);
	return rc;
}

/* The attributes; empty when this is no job. NULL: no memory. */
static struct lens_carrier *compose(const struct request *request, const struct lens_env *env)
{
	struct lens_carrier *own = lens_carrier_create();
	struct lens_carrier *derived = NULL, *overrides = lens_carrier_create(), *result = NULL;
	bool in_job = lens_env_value_nonempty(env, "SLURM_JOB_ID") != NULL;

	if (!own || !overrides ||
	    lens_carrier_parse(own, lens_env_value(env, LENS_ATTRIBUTES_NAME), NULL))
		goto out;
	lens_resource_normalise(own);
	if (!in_job && !holds_identity(own)) {
		result = lens_carrier_create();
		goto out;
	}
	if (choose(overrides, request, env, own))
		goto out;
	if (in_job)
		derived = derive(request, env, lens_carrier_get(overrides, "nemo.run.id"));
	if (in_job && !derived)
		goto out;
	result = lens_carrier_compose(derived, own, overrides);
out:
	lens_carrier_destroy(own);
	lens_carrier_destroy(derived);
	lens_carrier_destroy(overrides);
	return result;
}

static int print_json(const struct lens_carrier *attributes)
{
	json_object *object = json_object_new_object();
	int64_t number;

	for (size_t i = 0; i < lens_carrier_count(attributes); i++) {
		const char *key = lens_carrier_key(attributes, i);
		const char *value = lens_carrier_value(attributes, i);
		bool integer =
			lens_resource_is_integer(key) && lens_int64_parse(value, &number) == 0;

		json_object_object_add(object, key,
				       integer ? json_object_new_int64(number)
					       : json_object_new_string(value));
	}
	return json_print(object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
}

/* Keys go into the line as they are: single quotes keep the shell away from all of it. */
static int print_shell(const struct lens_carrier *attributes)
{
	struct lens_text text = LENS_TEXT_INIT;

	lens_carrier_format(attributes, &text, NULL);
	if (text.failed)
		return -1;
	fputs("export " LENS_ATTRIBUTES_NAME "='", stdout);
	for (size_t i = 0; i < text.length; i++)
		if (text.data[i] == '\'')
			fputs("'\\''", stdout);
		else
			putchar(text.data[i]);
	puts("'");
	lens_text_clear(&text);
	return 0;
}

/*
 * The environment to read. What an outer job's lens left is taken out; what lens told this very job
 * stays, for it holds what options and lens.conf chose.
 */
static struct lens_env *environment(void)
{
	struct lens_mark *mark = lens_mark_parse(lens_env_get(environ, LENS_MARK_NAME));
	bool this_job;
	uint32_t job;

	this_job = mark && lens_uint32_parse(lens_env_get(environ, "SLURM_JOB_ID"), &job) == 0 &&
		   lens_mark_job(mark) == job;
	lens_mark_destroy(mark);
	return this_job ? lens_env_create(environ) : lens_mark_clean(environ, 0, NULL);
}

int lens_attrs_main(int argc, char **argv)
{
	struct request request = { 0 };
	struct lens_carrier *attributes = NULL;
	struct lens_env *clean = NULL;
	int status = LENS_EXIT_ENVIRONMENT;

	if (usage_ends(&status, help_text, read_options(&request, argc, argv)))
		return status;
	clean = environment();
	if (clean)
		attributes = compose(&request, clean);
	if (!attributes) {
		fputs("slurm-lens attrs: out of memory\n", stderr);
		goto out;
	}
	status = lens_carrier_count(attributes) ? LENS_EXIT_OK : LENS_EXIT_NO;
	if (request.json ? print_json(attributes)
			 : status == LENS_EXIT_OK && print_shell(attributes) != 0) {
		fputs("slurm-lens attrs: out of memory\n", stderr);
		status = LENS_EXIT_ENVIRONMENT;
	}
	if (status == LENS_EXIT_NO)
		fputs("slurm-lens attrs: no SLURM_JOB_ID and no identity in " LENS_ATTRIBUTES_NAME
		      ": nothing to say\n",
		      stderr);
out:
	lens_carrier_destroy(attributes);
	lens_env_destroy(clean);
	return status;
}
