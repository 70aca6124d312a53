#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What the documents tell people to type, typed.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	sandbox_create
	cluster_up
}

teardown_file() {
	sandbox_destroy
}

# block FILE TEXT: the shell block that follows the line with TEXT.
block() {
	awk -v text="$2" '/^ *```/ && inside { exit } inside; index($0, text) { seen = 1 }
		seen && /^ *```(sh|bash)$/ { inside = 1 }' "$LENS_TEST_SRCDIR/$1"
}

@test "README's first job runs as it stands, and is shown" {
	local job
	mkdir -m 777 "$OUT/first"
	block README.md '**4. The first job**' >"$OUT/first.sh"
	run -0 as_user bash -e -c 'cd first && . ../first.sh'
	job=$(sed -n 's/^Submitted batch job //p' <<<"$output")
	[[ $output == *NEMO_LENS_ENABLED=1*TRACEPARENT=* ]]
	wait_sent "$job"
	job_in_state "$job" COMPLETED
	# One of each node exports.
	[ "$(grep -cxE 'rank [0-3] on n[12]: NEMO_LENS_ENABLED=[01]' "$OUT/first/slurm-$job.out")" = 4 ]
	[ "$(sed -n 's/.* on \(n[12]\): NEMO_LENS_ENABLED=1$/\1/p' "$OUT/first/slurm-$job.out" | sort | xargs)" = "n1 n2" ]
	run -0 slurm "$LENS" show "$job"
	[[ ${lines[0]} == "Job $job demo, www-data, "* ]]
	[[ $output == *"slurm.task rank "[0-3]" n2"* ]]
}
