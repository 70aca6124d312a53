#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The agent of a real cluster, keeper and sender, below check-asan or check-valgrind: whatever it is
# found to do wrong is in their logs.

bats_require_minimum_version 1.5.0
load ../cluster/helpers

setup_file() {
	sandbox_create
	AGENT=$LENS
	[ -z "${LENS_TEST_VALGRIND:-}" ] || agent_below_valgrind
	receiver_up
	cluster_up -- "Endpoint=$RECEIVER_URL" "AgentPath=$AGENT"
}

setup() {
	place_create
}

teardown_file() {
	sandbox_destroy
}

# The agent's environment is built by who starts it.
agent_below_valgrind() {
	AGENT=$SANDBOX/root/agent
	cat >"$AGENT" <<-E
	#!/bin/sh
	export LENS_TEST_VALGRIND='$LENS_TEST_VALGRIND' LENS_TEST_SRCDIR='$LENS_TEST_SRCDIR'
	export LENS_TEST_BUILDDIR='$LENS_TEST_BUILDDIR'
	exec '$LENS_TEST_SRCDIR/tests/hardening/under-valgrind' '$LENS' "\$@"
	E
	chmod 755 "$AGENT"
}

# For those of helpers.bash too: below valgrind it is valgrind's program that runs.
if [ -n "${LENS_TEST_VALGRIND:-}" ]; then
	agent_pids() {
		local exe
		find /proc/[0-9]*/exe -maxdepth 0 -lname '*/memcheck-*' 2>/dev/null | while read -r exe; do
			! tr '\0' '\n' <"${exe%exe}cmdline" | grep -qxF "$LENS" || cut -d/ -f3 <<<"$exe"
		done 2>/dev/null
	}
fi

# watched PID: not just by the name of what was started.
watched() {
	if [ -n "${LENS_TEST_VALGRIND:-}" ]; then
		[[ $(readlink "/proc/$1/exe") == */memcheck-* ]]
	else
		grep -q 'libasan' "/proc/$1/maps"
	fi
}

# Two nodes' slurmd may start one each: one of them ends at once.
all_watched() {
	local pid
	pgrep -P "$(agent_pid)" | grep -qxF "$(agent_pids)" || return 1
	for pid in $(agent_pids); do
		watched "$pid" || return 1
	done
}

@test "keeper and sender are watched" {
	wait_for 60 all_watched
}

@test "a job that is requeued arrives, both attempts" {
	# shellcheck disable=SC2016 # the job's shell's
	JOB=$(submit --lens --requeue -N2 -n4 \
		'srun true; [ -n "$SLURM_RESTART_COUNT" ] || { touch $PLACE/first; sleep 300; }')
	wait_for 60 test -e "$PLACE/first"
	slurm scontrol requeue "$JOB"
	wait_for 60 job_requeued "$JOB"
	wait_job "$JOB" 180
	wait_sent "$JOB" 240
	expect <<-E
	assert_tree(of_job($JOB))
	assert_tree(of_job($JOB, 1))
	E
	run ! grep 'the sender' "$STATE_DIR/agent.log"
}

@test "a sender without its keeper ends by itself" {
	kill -KILL "$(agent_pid)"
	wait_for 60 no_agent
	as_user srun --lens -N2 true
	wait_for 60 agent_pid
	wait_for 240 nothing_left
}

@test "agent --stop ends it" {
	local pid
	pid=$(agent_pid)
	run -0 timeout 60 "$LENS" agent --stop --state-dir "$STATE_DIR"
	[ "$output" = "agent $pid has ended; nothing waits to be sent" ]
	wait_for 60 no_agent
}
