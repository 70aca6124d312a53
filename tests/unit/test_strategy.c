/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/core/strategy.h"

#include "lib/core/encoding.h"
#include "lib/core/hash.h"
#include "lib/core/text.h"

#include <stdio.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/vectors.h"

#define RANKS 100000U

/* The ranks below WORLD that export, `3,5,6`; the caller frees. */
static char *exporting(const struct lens_strategy_choice *choice, uint32_t world)
{
	struct lens_text text = LENS_TEXT_INIT;
	char *list;

	for (uint32_t rank = 0; rank < world; rank++) {
		if (lens_strategy_exports(choice, rank, world, rank % 4))
			lens_text_addf(&text, "%s%u", text.length ? "," : "", rank);
	}
	list = lens_text_take(&text);
	assert_non_null(list);
	return list;
}

static void check_sampled(json_object *entry)
{
	const struct lens_strategy_choice choice = {
		.strategy = LENS_STRATEGY_SAMPLED,
		.rate = json_object_get_double(vectors_get(entry, "rate")),
	};
	json_object *first = vectors_get(entry, "first");
	char *list = exporting(&choice, RANKS), *next = list;
	uint8_t digest[LENS_SHA256_BYTES];
	char hex[2 * LENS_SHA256_BYTES + 1];
	int64_t count = *list != '\0';

	lens_sha256(digest, list, strlen(list));
	lens_hex_encode(hex, digest, sizeof(digest));
	assert_string_equal(hex, vectors_string(entry, "sha256_of_selected"));
	for (const char *p = list; *p; p++)
		count += *p == ',';
	assert_int_equal(count, json_object_get_int64(vectors_get(entry, "count_of_100000")));
	for (size_t i = 0; i < json_object_array_length(first); i++) {
		int64_t rank = json_object_get_int64(json_object_array_get_idx(first, i));

		assert_int_equal(strtol(next, &next, 10), rank);
		next += *next == ',';
	}
	free(list);
}

static void sampled_picks_the_published_ranks(void **state)
{
	json_object *file = vectors_load("sampled.json"), *cases;
	size_t count = vectors_array(file, "cases", &cases);

	(void)state;
	for (size_t i = 0; i < count; i++)
		check_sampled(json_object_array_get_idx(cases, i));
	json_object_put(file);
}

static void the_residue_is_of_the_whole_digest(void **state)
{
	static const struct {
		uint32_t rank;
		unsigned int residue;
	} cases[] = {
		{ 0, 7850 },  { 1, 8411 },  { 2, 9212 }, { 3, 883 },     { 4, 1900 },
		{ 5, 693 },   { 6, 412 },   { 7, 5555 }, { 8, 3101 },    { 9, 8374 },
		{ 10, 1824 }, { 11, 2650 }, { 99, 75 },  { 1024, 5771 }, { 2491, 9999 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(lens_strategy_residue(cases[i].rank), cases[i].residue);
}

static void each_strategy_picks_its_ranks(void **state)
{
	static const struct {
		struct lens_strategy_choice choice;
		uint32_t world;
		const char *out;
	} cases[] = {
		{ { LENS_STRATEGY_SAMPLED, -1, 0.1 }, 64, "3,5,6,31,55" },
		{ { LENS_STRATEGY_SAMPLED, -1, 0.25 }, 16, "3,4,5,6,10" },
		{ { LENS_STRATEGY_SAMPLED, -1, 0.0412 }, 16, "" },
		{ { LENS_STRATEGY_SAMPLED, -1, 0.0413 }, 16, "6" },
		{ { LENS_STRATEGY_SAMPLED, -1, 0.0 }, 16, "" },
		{ { LENS_STRATEGY_SAMPLED, -1, 1.0 }, 4, "0,1,2,3" },
		{ { LENS_STRATEGY_ALL_RANKS, 2, 0.0 }, 4, "0,1,2,3" },
		{ { LENS_STRATEGY_SINGLE_RANK, -1, 1.0 }, 8, "7" },
		{ { LENS_STRATEGY_SINGLE_RANK, -1, 1.0 }, 1, "0" },
		{ { LENS_STRATEGY_SINGLE_RANK, 0, 1.0 }, 8, "0" },
		{ { LENS_STRATEGY_SINGLE_RANK, 5, 1.0 }, 8, "5" },
		{ { LENS_STRATEGY_SINGLE_RANK, 8, 1.0 }, 8, "" },
		{ { LENS_STRATEGY_SINGLE_RANK, INT64_C(4294967296), 1.0 }, 8, "" },
		{ { LENS_STRATEGY_SINGLE_RANK, -2, 1.0 }, 8, "" },
		{ { LENS_STRATEGY_FIRST_RANK_PER_NODE, 0, 1.0 }, 10, "0,4,8" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *out = exporting(&cases[i].choice, cases[i].world);

		assert_string_equal(out, cases[i].out);
		free(out);
	}
}

static void edges_do_not_wrap(void **state)
{
	const struct lens_strategy_choice sampled = { LENS_STRATEGY_SAMPLED, -1, 0.9999 };
	const struct lens_strategy_choice last = { LENS_STRATEGY_SINGLE_RANK, -1, 1.0 };

	(void)state;
	assert_false(lens_strategy_exports(&sampled, 2491, 4096, 0));
	assert_true(lens_strategy_exports(&sampled, 2490, 4096, 0));
	/* A world that nobody knows has no last rank. */
	assert_false(lens_strategy_exports(&last, UINT32_MAX, 0, 0));
	assert_false(lens_strategy_exports(&last, 0, 0, 0));
	assert_true(lens_strategy_residue(UINT32_MAX) < 10000);
}

static void names_go_there_and_back(void **state)
{
	static const char *const bad[] = { "", "Sampled", "all", "all_ranks ", "single-rank" };
	enum lens_strategy strategy = LENS_STRATEGY_SAMPLED;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(lens_strategy_parse(bad[i], &strategy), -1);
	assert_int_equal(lens_strategy_parse(NULL, &strategy), -1);
	assert_int_equal(strategy, LENS_STRATEGY_SAMPLED);
	assert_int_equal(lens_strategy_parse("single_rank", &strategy), 0);
	assert_int_equal(strategy, LENS_STRATEGY_SINGLE_RANK);
	assert_int_equal(lens_strategy_parse("all_ranks", &strategy), 0);
	assert_int_equal(strategy, LENS_STRATEGY_ALL_RANKS);
	assert_int_equal(lens_strategy_parse("sampled", &strategy), 0);
	assert_int_equal(strategy, LENS_STRATEGY_SAMPLED);
	assert_int_equal(lens_strategy_parse("first_rank_per_node", &strategy), 0);
	assert_int_equal(strategy, LENS_STRATEGY_FIRST_RANK_PER_NODE);
	assert_string_equal(lens_strategy_name(strategy), "first_rank_per_node");
	assert_string_equal(lens_strategy_name(LENS_STRATEGY_SINGLE_RANK), "single_rank");
}

static void rank_takes_a_number_or_the_last(void **state)
{
	static const char *const bad[] = { "",    "+1", "-2", "-01",  "-0",
					   "1.0", " 1", "1 ", "last", "9223372036854775808" };
	int64_t rank = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(lens_strategy_rank_parse(bad[i], &rank), -1);
	assert_int_equal(lens_strategy_rank_parse(NULL, &rank), -1);
	assert_int_equal(rank, 7);
	assert_int_equal(lens_strategy_rank_parse("-1", &rank), 0);
	assert_int_equal(rank, -1);
	assert_int_equal(lens_strategy_rank_parse("0", &rank), 0);
	assert_int_equal(rank, 0);
	assert_int_equal(lens_strategy_rank_parse("9223372036854775807", &rank), 0);
	assert_true(rank == INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sampled_picks_the_published_ranks),
		cmocka_unit_test(the_residue_is_of_the_whole_digest),
		cmocka_unit_test(each_strategy_picks_its_ranks),
		cmocka_unit_test(edges_do_not_wrap),
		cmocka_unit_test(names_go_there_and_back),
		cmocka_unit_test(rank_takes_a_number_or_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
