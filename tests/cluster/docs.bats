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
	run -2 as_user "$LENS" show "$job"
	[[ $output == *"$TRACES: Permission denied"*"root's: run this as root"* ]]
}

# The last one: the plugin's line is gone afterwards.
@test "the removal of admin.md: a stopped agent comes back while the line is there, not afterwards" {
	local old node
	run_batch --lens -N2 'srun true'
	wait_for 60 agent_pid
	old=$(agent_pid)
	"$LENS" agent --stop --state-dir "$STATE_DIR"
	no_agent
	run_batch -N1 true
	wait_for 60 agent_other_than "$old"
	: >"$CONF_DIR/plugstack.conf"
	# Not restarted: the nodes still have the line's work to do, and find no plugin.
	"$LENS" agent --stop --state-dir "$STATE_DIR"
	run_batch -N2 true
	wait_for 60 all_idle
	no_agent
	for node in n1 n2; do
		"$MINICLUSTER" stop-node "$SANDBOX/cluster" "$node" 3>&-
		"$MINICLUSTER" start-node "$SANDBOX/cluster" "$node" 3>&-
	done
	wait_for 60 all_idle
	run_batch -N2 'srun true'
	job_in_state "$JOB" COMPLETED
	wait_for 60 all_idle
	no_agent
	"$LENS" agent --once --state-dir "$STATE_DIR" --set "File=$TRACES"
	nothing_left
	run as_user sbatch --lens --wrap true
	[ "$status" -ne 0 ]
}
