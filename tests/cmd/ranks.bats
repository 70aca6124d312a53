#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# slurm-lens ranks: which ranks a strategy picks.

bats_require_minimum_version 1.5.0

setup() {
	LENS=${LENS_TEST_COMMAND:-$LENS_TEST_BUILDDIR/slurm-lens}
	VECTORS=$LENS_TEST_SRCDIR/tests/vectors
	CHECK=$LENS_TEST_SRCDIR/tests/cmd/vectors.py
}

ranks() {
	"$LENS" ranks "$@"
}

@test "all vectors of sampled, to the last rank" {
	python3 "$CHECK" "$LENS" ranks "$VECTORS/sampled.json"
}

@test "the check of the vectors finds what is wrong" {
	sed 's/"count_of_100000": 11,/"count_of_100000": 12,/' "$VECTORS/sampled.json" >"$BATS_TEST_TMPDIR/wrong.json"
	run ! python3 "$CHECK" "$LENS" ranks "$BATS_TEST_TMPDIR/wrong.json"
	[[ $output == *"count: 11, 11, not 12"* ]]
}

@test "the published examples of sampled" {
	local rate
	[ "$(ranks --strategy sampled --world-size 64 --sample-rate 0.1 | sed -n 's/^ranks: //p')" = "3 5 6 31 55" ]
	[ "$(ranks --strategy sampled --world-size 16 --sample-rate 0.25 | sed -n 's/^ranks: //p')" = "3 4 5 6 10" ]
	[ "$(ranks --strategy sampled --world-size 16 --sample-rate 0.0413 | sed -n 's/^ranks: //p')" = 6 ]
	for rate in 0.0412 0; do
		run -1 ranks --strategy sampled --world-size 16 --sample-rate $rate
		[[ $output == "sampled: 0 of 16 ranks export"* ]]
	done
	run -0 ranks --strategy sampled --world-size 2492 --sample-rate 0.9999
	[[ $output == "sampled: 2491 of 2492 ranks export"* ]]
}

@test "the other strategies, in both formats" {
	local json='{"strategy":"single_rank","world_size":8,"count":1,"ranks":[7]}'
	[ "$(ranks --strategy single_rank --world-size 8 --format json)" = "$json" ]
	[ "$(ranks --strategy single_rank --world-size 8 --rank -1 --format json)" = "$json" ]
	[ "$(ranks --strategy single_rank --world-size 8 --rank 2)" = $'single_rank: 1 of 8 ranks export\nranks: 2' ]
	[ "$(ranks --strategy all_ranks --world-size 3)" = $'all_ranks: 3 of 3 ranks export\nranks: 0 1 2' ]
	json='{"strategy":"first_rank_per_node","world_size":10,"count":3,"ranks":[0,4,8],"nodes":[0,1,2]}'
	[ "$(ranks --strategy first_rank_per_node --world-size 10 --tasks-per-node 4 --format json)" = "$json" ]
	[ "$(ranks --strategy all_ranks --world-size 4 --tasks-per-node 2)" = \
		$'all_ranks: 4 of 4 ranks export\nranks: 0 1 2 3\nnodes: 0 1' ]
	[ "$(ranks --strategy all_ranks --world-size 1 --format json)" = \
		'{"strategy":"all_ranks","world_size":1,"count":1,"ranks":[0]}' ]
}

@test "nobody exports: 1" {
	run -1 ranks --strategy single_rank --world-size 8 --rank 8 --format json
	[ "$output" = '{"strategy":"single_rank","world_size":8,"count":0,"ranks":[]}' ]
}

@test "the decimal point is a point in every locale" {
	run -0 env LC_ALL=de_DE.UTF-8 "$LENS" ranks --strategy sampled --world-size 64 --sample-rate 0.1
	[[ $output == *"ranks: 3 5 6 31 55" ]]
	run -2 env LC_ALL=de_DE.UTF-8 "$LENS" ranks --strategy sampled --world-size 64 --sample-rate 0,1
}

@test "usage errors: 2, and what would have been right" {
	local case_
	local refused=(
		"|--strategy and --world-size are needed"
		"--strategy all_ranks|--strategy and --world-size are needed"
		"--world-size 4|--strategy and --world-size are needed"
		"--strategy best --world-size 4|--strategy=best: not single_rank, all_ranks, sampled or first_rank_per_node"
		"--strategy all_ranks --world-size 0|--world-size=0: not a number above 0"
		"--strategy all_ranks --world-size 4294967296|--world-size=4294967296: not a number above 0"
		"--strategy sampled --world-size 4 --sample-rate 1.5|--sample-rate=1.5: not a rate from 0.0 to 1.0"
		"--strategy sampled --world-size 4 --sample-rate nan|--sample-rate=nan: not a rate from 0.0 to 1.0"
		"--strategy single_rank --world-size 4 --rank -2|--rank=-2: not a rank: 0 or more, or -1 for the last"
		"--strategy first_rank_per_node --world-size 4|first_rank_per_node needs --tasks-per-node"
		"--strategy all_ranks --world-size 4 --tasks-per-node 0|--tasks-per-node=0: not a number above 0"
		"--strategy all_ranks --world-size 4 --format xml|--format=xml: not text or json"
		"--strategy all_ranks --world-size 4 more|more: not expected here"
	)
	for case_ in "${refused[@]}"; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr -2 ranks ${case_%%|*}
		[ "$output" = "" ]
		# shellcheck disable=SC2154 # of bats
		[[ $stderr == "slurm-lens ranks: ${case_#*|}"*"; see slurm-lens ranks --help" ]]
	done
	run -0 ranks --help
	[[ $output == "Usage: slurm-lens ranks "* ]]
}
