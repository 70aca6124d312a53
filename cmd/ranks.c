/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/command.h"
#include "cmd/json_print.h"
#include "cmd/usage.h"
#include "lib/core/choice.h"
#include "lib/core/number.h"
#include "lib/core/strategy.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help_text[] =
	"Usage: slurm-lens ranks --strategy S --world-size N [OPTION...]\n"
	"\n"
	"Says which ranks would export, by the functions that the plugin decides with.\n"
	"\n"
	"  --strategy S          single_rank, all_ranks, sampled, first_rank_per_node\n"
	"  --world-size N        ranks in the step\n"
	"  --rank K              single_rank: which; -1 (the default) is the last\n"
	"  --sample-rate F       sampled: 0.0 to 1.0 (default 1.0)\n"
	"  --tasks-per-node T    ranks on each node, in blocks; first_rank_per_node needs it\n"
	"  --format text|json    default text\n"
	"  --help                say this\n"
	"\n"
	"Exit status: 0 some rank exports; 1 none does; 2 usage.\n";

enum { OPTION_VALUE = 256, OPTION_HELP };

struct request {
	struct lens_strategy_choice choice;
	bool strategy_set;
	uint32_t world;
	uint32_t per_node; /* 0: not given */
	bool json;
};

static int refuse(const char *option, const char *value, const char *takes)
{
	return usage_refuse("ranks", option, value, takes);
}

static int set_option(struct request *request, const char *name, const char *value)
{
	if (strcmp(name, "strategy") == 0) {
		request->strategy_set = true;
		return lens_strategy_parse(value, &request->choice.strategy)
			       ? refuse(name, value, LENS_TAKES_STRATEGY)
			       : 0;
	}
	if (strcmp(name, "rank") == 0)
		return lens_strategy_rank_parse(value, &request->choice.rank)
			       ? refuse(name, value, LENS_TAKES_RANK)
			       : 0;
	if (strcmp(name, "sample-rate") == 0)
		return lens_rate_parse(value, &request->choice.rate)
			       ? refuse(name, value, LENS_TAKES_RATE)
			       : 0;
	if (strcmp(name, "world-size") == 0)
		return lens_uint32_parse(value, &request->world) || request->world == 0
			       ? refuse(name, value, "a number above 0")
			       : 0;
	if (strcmp(name, "tasks-per-node") == 0)
		return lens_uint32_parse(value, &request->per_node) || request->per_node == 0
			       ? refuse(name, value, "a number above 0")
			       : 0;
	request->json = strcmp(value, "json") == 0;
	return request->json || strcmp(value, "text") == 0 ? 0
							   : refuse(name, value, "text or json");
}

/* 0; 1 when help was asked for; -1 after a line on standard error. */
static int read_options(struct request *request, int argc, char **argv)
{
	static const struct option options[] = {
		{ "strategy", required_argument, NULL, OPTION_VALUE },
		{ "world-size", required_argument, NULL, OPTION_VALUE },
		{ "rank", required_argument, NULL, OPTION_VALUE },
		{ "sample-rate", required_argument, NULL, OPTION_VALUE },
		{ "tasks-per-node", required_argument, NULL, OPTION_VALUE },
		{ "format", required_argument, NULL, OPTION_VALUE },
		{ "help", no_argument, NULL, OPTION_HELP },
		{ 0 },
	};
	int index = 0, option;

	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":", options, &index)) != -1) {
		if (option == OPTION_HELP)
			return 1;
		if (option != OPTION_VALUE)
			return usage_unknown("ranks", option, argv);
		if (set_option(request, options[index].name, optarg) == -1)
			return -1;
	}
	if (usage_words_none("ranks", argc, argv) == -1)
		return -1;
	if (!request->strategy_set || request->world == 0)
		return usage_wrong("ranks", "--strategy and --world-size are needed");
	if (request->choice.strategy == LENS_STRATEGY_FIRST_RANK_PER_NODE && !request->per_node)
		return usage_wrong("ranks", "first_rank_per_node needs --tasks-per-node");
	return 0;
}

static bool exports(const struct request *request, uint32_t rank)
{
	uint32_t local = request->per_node ? rank % request->per_node : rank;

	return lens_strategy_exports(&request->choice, rank, request->world, local);
}

static uint32_t count_ranks(const struct request *request)
{
	uint32_t count = 0;

	for (uint32_t rank = 0; rank < request->world; rank++)
		count += exports(request, rank);
	return count;
}

/* Calls for each node that has an exporting rank, in order. */
static void print_nodes(const struct request *request)
{
	uint32_t last = UINT32_MAX;

	fputs("nodes:", stdout);
	for (uint32_t rank = 0; rank < request->world; rank++) {
		uint32_t node = rank / request->per_node;

		if (node != last && exports(request, rank)) {
			printf(" %u", node);
			last = node;
		}
	}
	putchar('\n');
}

static void print_text(const struct request *request, uint32_t count)
{
	printf("%s: %u of %u ranks export\n", lens_strategy_name(request->choice.strategy), count,
	       request->world);
	fputs("ranks:", stdout);
	for (uint32_t rank = 0; rank < request->world; rank++)
		if (exports(request, rank))
			printf(" %u", rank);
	putchar('\n');
	if (request->per_node)
		print_nodes(request);
}

static void add_lists(json_object *object, const struct request *request)
{
	json_object *ranks = json_object_new_array();
	json_object *nodes = request->per_node ? json_object_new_array() : NULL;
	uint32_t last = UINT32_MAX;

	for (uint32_t rank = 0; rank < request->world; rank++) {
		if (!exports(request, rank))
			continue;
		json_object_array_add(ranks, json_object_new_int64(rank));
		if (nodes && rank / request->per_node != last) {
			last = rank / request->per_node;
			json_object_array_add(nodes, json_object_new_int64(last));
		}
	}
	json_object_object_add(object, "ranks", ranks);
	if (nodes)
		json_object_object_add(object, "nodes", nodes);
}

static int print_json(const struct request *request, uint32_t count)
{
	json_object *object = json_object_new_object();

	json_object_object_add(
		object, "strategy",
		json_object_new_string(lens_strategy_name(request->choice.strategy)));
	json_object_object_add(object, "world_size", json_object_new_int64(request->world));
	json_object_object_add(object, "count", json_object_new_int64(count));
	add_lists(object, request);
	return json_print(object, JSON_C_TO_STRING_PLAIN);
}

int lens_ranks_main(int argc, char **argv)
{
	struct request request = {
		.choice = { .strategy = LENS_STRATEGY_SINGLE_RANK, .rank = -1, .rate = 1.0 },
	};
	uint32_t count;
	int status;

	if (usage_ends(&status, help_text, read_options(&request, argc, argv)))
		return status;
	count = count_ranks(&request);
	if (!request.json) {
		print_text(&request, count);
	} else if (print_json(&request, count) != 0) {
		fputs("slurm-lens ranks: out of memory\n", stderr);
		return LENS_EXIT_ENVIRONMENT;
	}
	return count ? LENS_EXIT_OK : LENS_EXIT_NO;
}
