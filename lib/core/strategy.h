/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_CORE_STRATEGY_H
#define LENS_CORE_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>

/* Which ranks export: the four strategies of NeMo Lens. */
enum lens_strategy {
	LENS_STRATEGY_SINGLE_RANK,
	LENS_STRATEGY_ALL_RANKS,
	LENS_STRATEGY_SAMPLED,
	LENS_STRATEGY_FIRST_RANK_PER_NODE,
};

struct lens_strategy_choice {
	enum lens_strategy strategy;
	int64_t rank; /* single_rank: which one; -1 the last */
	double rate;  /* sampled: 0.0 to 1.0 */
};

/* "single_rank", "all_ranks", "sampled", "first_rank_per_node", exactly. 0 or -1. */
int lens_strategy_parse(const char *text, enum lens_strategy *out);
const char *lens_strategy_name(enum lens_strategy strategy);

/* `[0-9]+` within int64, or `-1`: what --lens-rank takes. 0 or -1. */
int lens_strategy_rank_parse(const char *text, int64_t *out);

/*
 * Whether global RANK of WORLD ranks, with LOCAL as its number on its node, exports.
 * sampled: md5 of the decimal rank as one big-endian 128-bit number, mod 10000,
 * over 10000, is below the rate. single_rank with a rank outside the world: nobody.
 */
bool lens_strategy_exports(const struct lens_strategy_choice *choice, uint32_t rank, uint32_t world,
			   uint32_t local);

/* The residue (0 to 9999) that `sampled` compares. */
unsigned int lens_strategy_residue(uint32_t rank);

#endif
