#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# slurm-lens check --job: it reads #SBATCH lines as this Slurm's sbatch does.

bats_require_minimum_version 1.5.0
load helpers
load check

setup_file() {
	sandbox_create
	cluster_up
}

teardown_file() {
	sandbox_destroy
}

setup() {
	SCRIPT=$OUT/script.sh
}

# script LINE...: the lines of SCRIPT between #!/bin/sh and its command.
script() {
	printf '%s\n' '#!/bin/sh' "$@" 'srun true' >"$SCRIPT"
}

# job: the user's own check of it.
job() {
	as_user "$LENS" check --job "$SCRIPT"
}

# both LINE...: sbatch and check agree on whether the script is well-formed; VERDICT says which.
both() {
	script "$@"
	VERDICT=refused
	as_user sbatch --test-only "$SCRIPT" >"$OUT/sbatch.log" 2>&1 && VERDICT=taken
	run job
	if { grep -q '^fail *job ' <<<"$output" && [ "$VERDICT" = taken ]; } ||
		{ ! grep -q '^fail *job ' <<<"$output" && [ "$VERDICT" = refused ]; }; then
		printf '%s\nsbatch: %s\n%s\ncheck:\n%s\n' "$*" "$VERDICT" "$(cat "$OUT/sbatch.log")" \
			"$(grep -A1 ' job ' <<<"$output")" >&2
		return 1
	fi
}

refused() {
	both "$@"
	[ "$VERDICT" = refused ]
}

taken() {
	both "$@"
	[ "$VERDICT" = taken ]
}

@test "what sbatch refuses, check refuses, and nothing else" {
	refused '#SBATCH --lens-strategy=bad'
	refused '#SBATCH --lens-strategy bad'
	refused '#SBATCH -n 1 --lens-rank=x'
	refused '#SBATCH --lens off'
	refused '#SLURM --lens-sample-rate=2'
	refused '#SBATCH --lens-str bad'
	refused '#SBATCH --lens-ra 1'
	refused '#SBATCH --lens-foo'
	refused '#SBATCH "--lens-strategy=a b"'
	refused '#SBATCH --lens-strategy=single_rank\#x'
	refused "#SBATCH --lens-user='a"
	refused '#SBATCH --lens-strategy=""'
	refused '# a comment' '' '#SBATCH --lens-endpoint=ftp://x'
	refused '#SBATCH --lens-attr' '#SBATCH --lens'
	refused '#SBATCH hetjob' '#SBATCH --lens-traceparent=no'
	taken '#SBATCH --lens'
	taken '#SBATCH --lens=off'
	taken '#SBATCH --lens-strategy sampled --lens-sample-rate 0.5'
	taken '#SBATCH --lens-strat=all_ranks # the rest is a comment --lens-rank=x'
	taken '#SBATCH --lens-strategy=all_ranks#x'
	taken "#SBATCH --lens-user='a b' \"--lens-service=c d\""
	taken '#SBATCH "" --lens-strategy=bad'
	taken ' #SBATCH --lens-strategy=bad'
	taken '#SBATCH --lens-user' '#SBATCH ada'
	# Releases differ here; check goes with the one that is installed.
	both '#SBATCH --lens-user=a\ --lens-rank=x'
	both '#SBATCH --lens-user=a\ b'
	taken '#SBATCH -J lens --lens-run-id=run-1 -n 2'
}

@test "each fault with its line" {
	script '#SBATCH -n 2' '#SBATCH --lens-rank=x --lens-sample-rate=1,5'
	run -1 job
	row fail job "$SCRIPT:3: --lens-rank=x: not a rank: *"
	row fail job "$SCRIPT:3: --lens-sample-rate=1,5: not a rate *"
	printf '%s\n' '#!/bin/sh' true '#SBATCH --lens' >"$SCRIPT"
	run -1 job
	row fail job "$SCRIPT:3: sbatch does not read this line*"
	echo "not a script" >"$SCRIPT"
	run -1 job
	row fail job "$SCRIPT is no script*"
	run -2 as_user "$LENS" check --job "$OUT/none.sh"
	[[ $output == *"--job $OUT/none.sh: No such file or directory"* ]]
}

@test "what lens would do: run id and ranks" {
	script '#SBATCH --lens -n 8' '#SBATCH --lens-run-id=llama-1'
	run -0 job
	row ok job "its run id is llama-1"
	row ok job "single_rank: 1 of 8 ranks * the first is rank 7"
	script '#SBATCH --lens-strategy=first_rank_per_node -N 4 --ntasks-per-node=2'
	run -0 job
	row warning job "its run id is the job's id"
	row ok job "first_rank_per_node: 4 of 8 ranks * the first is rank 0"
	script '#SBATCH --lens-strategy=sampled --lens-sample-rate=0.25 --ntasks 16'
	run -0 job
	row ok job "sampled: 5 of 16 ranks * the first is rank 3"
	script '#SBATCH --lens-rank=9 -n 8'
	run -0 job
	row warning job "single_rank: none of 8 ranks exports"
	script '#SBATCH --lens -N 1-2'
	run -0 job
	row ok job "single_rank; how many ranks that is depends on the nodes *"
	script '#SBATCH --lens-ranks=launcher -N 2'
	run -0 job
	row ok job "a task is a launcher: *"
}

@test "a job that lens leaves alone, and the variables of who submits it" {
	script '#SBATCH -n 2'
	run -0 job
	row ok job "lens leaves its tasks alone: nobody asked for it"
	script '#SBATCH --lens'
	run -0 as_user env NEMO_LENS_ENABLED=0 "$LENS" check --job "$SCRIPT"
	row warning job "lens leaves its tasks alone: NEMO_LENS_ENABLED or --lens=off"
	run -0 as_user env NEMO_LENS_RUN_ID=mine "$LENS" check --job "$SCRIPT"
	row ok job "its run id is mine"
	row ok "run id" "NEMO_LENS_RUN_ID=mine: all that is submitted from this shell is one run"
	run -0 as_user env NEMO_LENS_EXPORT_STRATEGY=some "$LENS" check --job "$SCRIPT"
	row warning job "NEMO_LENS_EXPORT_STRATEGY=some: not *; ignored"
}

@test "it counts as the job counts" {
	script '#SBATCH --lens-strategy=first_rank_per_node -N 2 -n 5'
	run -0 job
	[[ $output =~ first_rank_per_node:\ ([0-9]+)\ of\ 5 ]]
	place_create
	as_user srun --lens-strategy=first_rank_per_node -N 2 -n 5 "$PLACE/dump" env
	[ "$(for file in "$PLACE"/env.*; do tr '\0' '\n' <"$file"; done | grep -c '^NEMO_LENS_ENABLED=1$')" = "${BASH_REMATCH[1]}" ]
}
