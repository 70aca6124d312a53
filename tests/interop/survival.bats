#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A collector that is killed and comes back, also while jobs run: each span is in what it wrote; one
# whose answer was lost is there again, the same.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	sandbox_create
	ports_create
	the_receiver_up
	cluster_up -- "Endpoint=$RECEIVER_GRPC_URL" Protocol=grpc
}

teardown_file() {
	interop_destroy
}

setup() {
	place_create
}

# whole JOB: all spans of `srun -N2 -n2`.
whole() {
	expect "$COLLECTED" <<-E
	spans[:] = each_once(spans)
	assert names($1) == ["slurm.job", "slurm.job_attempt", "slurm.job_setup", "slurm.job_start",
	    "slurm.job_teardown", "slurm.phase.queued", "slurm.step", "slurm.step.node",
	    "slurm.task"], names($1)
	assert_tree(of_job($1))
	E
}

# job_now: runs a job of two ranks, prints its id.
job_now() {
	# shellcheck disable=SC2016 # the task's shell's
	as_user srun --lens -N2 -n2 sh -c '[ "$SLURM_PROCID" != 0 ] || echo "$SLURM_JOB_ID"'
}

@test "killed: what it had acknowledged is in its file, the rest arrives when it is back" {
	local before during after
	before=$(job_now)
	wait_sent "$before"
	collector_end receiver KILL
	during=$(job_now)
	wait_job "$during"
	[ -n "$(state_files "$during")" ]
	the_receiver_up
	after=$(job_now)
	wait_sent "$during" 120
	wait_sent "$after" 120
	whole "$before"
	whole "$during"
	whole "$after"
}

@test "killed again and again while jobs run" {
	local job jobs=()
	for _ in 1 2 3; do
		jobs+=("$(job_now)")
		collector_end receiver KILL
		jobs+=("$(job_now)")
		the_receiver_up
	done
	for job in "${jobs[@]}"; do
		wait_sent "$job" 180
		whole "$job"
	done
}
