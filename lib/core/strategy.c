/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/strategy.h"

#include "lib/core/hash.h"
#include "lib/core/number.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
	[LENS_STRATEGY_SINGLE_RANK] = "single_rank",
	[LENS_STRATEGY_ALL_RANKS] = "all_ranks",
	[LENS_STRATEGY_SAMPLED] = "sampled",
	[LENS_STRATEGY_FIRST_RANK_PER_NODE] = "first_rank_per_node",
};

int lens_strategy_parse(const char *text, enum lens_strategy *out)
{
	for (size_t i = 0; text && i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(text, names[i]) == 0) {
			*out = (enum lens_strategy)i;
			return 0;
		}
	}
	return -1;
}

const char *lens_strategy_name(enum lens_strategy strategy)
{
	return names[strategy];
}

int lens_strategy_rank_parse(const char *text, int64_t *out)
{
	int64_t rank;

	if (lens_int64_parse(text, &rank) < 0)
		return -1;
	if (text[0] == '+' || (text[0] == '-' && strcmp(text, "-1") != 0))
		return -1;
	*out = rank;
	return 0;
}

unsigned int lens_strategy_residue(uint32_t rank)
{
	char text[sizeof("4294967295")];
	uint8_t digest[LENS_MD5_BYTES];
	unsigned int residue = 0;
	int length = snprintf(text, sizeof(text), "%u", rank);

	lens_md5(digest, text, (size_t)length);
	for (size_t i = 0; i < sizeof(digest); i++)
		residue = (residue * 256 + digest[i]) % 10000;
	return residue;
}

static bool is_single(int64_t wanted, uint32_t rank, uint32_t world)
{
	if (rank >= world)
		return false;
	return wanted == -1 ? rank == world - 1 : wanted == (int64_t)rank;
}

bool lens_strategy_exports(const struct lens_strategy_choice *choice, uint32_t rank, uint32_t world,
			   uint32_t local)
{
	switch (choice->strategy) {
	case LENS_STRATEGY_SINGLE_RANK:
		return is_single(choice->rank, rank, world);
	case LENS_STRATEGY_ALL_RANKS:
		return true;
	case LENS_STRATEGY_SAMPLED:
		return lens_strategy_residue(rank) / 10000.0 < choice->rate;
	case LENS_STRATEGY_FIRST_RANK_PER_NODE:
		return local == 0;
	}
	return false;
}
