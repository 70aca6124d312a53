#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The agent as a process: who starts it, who ends it, what it leaves.

bats_require_minimum_version 1.5.0
load helpers

setup() {
	sandbox_create
	place_create
}

teardown() {
	sandbox_destroy
}

# assert_alone PID: the agent's other processes, if any, are its children.
assert_alone() {
	local pid
	for pid in $(agent_pids); do
		[ "$pid" = "$1" ] || [ "$(ps -o ppid= -p "$pid" | tr -d ' ')" = "$1" ]
	done
}

# assert_detached PID: nothing of the process that started it is left.
assert_detached() {
	local fd target
	for fd in 0 1 2; do
		[ "$(readlink "/proc/$1/fd/$fd")" = /dev/null ]
	done
	for fd in "/proc/$1/fd"/*; do
		target=$(readlink "$fd") || continue
		case $target in
		pipe:* | "$SANDBOX/cluster"*) echo "holds $target" >&2 && return 1 ;;
		esac
	done
	# Its session is its own, without a terminal.
	run comm -13 <(agent_pids | sort) \
		<(ps -o pid= -s "$(ps -o sid= -p "$1" | tr -d ' ')" | tr -d ' ' | sort)
	[ -z "$output" ]
	[ "$(ps -o tty= -p "$1")" = '?' ]
	[ "$(ps -o ppid= -p "$1" | tr -d ' ')" = 1 ]
	# It reads HUP, INT and TERM from a descriptor; slurmstepd's mask has others too.
	[ $((0x$(sed -n 's/^SigBlk:\s*//p' "/proc/$1/status") & ~0x4003)) = 0 ]
	[ "$(tr '\0' '\n' <"/proc/$1/environ" | sed 's/=.*//' | sort | tr '\n' ' ')" = "PATH SLURM_CONF " ]
}

@test "slurmd starts it, one for the two nodes of this machine" {
	cluster_up
	wait_for 20 agent_pid
	local pid
	pid=$(agent_pid)
	assert_detached "$pid"
	slurm srun -N2 true
	as_user srun --lens -N2 true
	wait_sent 2
	[ "$(agent_pid)" = "$pid" ]
	assert_alone "$pid"
}

@test "the prolog starts it when it is gone, as detached" {
	cluster_up
	wait_for 20 agent_pid
	local pid
	pid=$(agent_pid)
	kill -KILL "$pid"
	wait_for 10 no_agent
	as_user srun --lens -N2 true
	wait_for 20 agent_other_than "$pid"
	assert_detached "$(agent_pid)"
	wait_sent 1
}

@test "it goes on without slurmd, and reads its settings when slurmd is back" {
	receiver_up
	local pid port=$RECEIVER_PORT
	receiver_down
	lens_conf <<<"Endpoint=http://127.0.0.1:1"
	cluster_up
	as_user srun --lens -N2 true
	wait_job 1
	pid=$(agent_pid)
	"$MINICLUSTER" stop-node "$SANDBOX/cluster" n1
	"$MINICLUSTER" stop-node "$SANDBOX/cluster" n2
	[ "$(agent_pid)" = "$pid" ]
	[ -n "$(state_files 1)" ]
	receiver_up "$port"
	lens_conf <<<"Endpoint=http://127.0.0.1:$port"
	"$MINICLUSTER" start-node "$SANDBOX/cluster" n2 3>&-
	wait_sent 1
	[ "$(agent_pid)" = "$pid" ]
	expect <<-E
	assert_tree(of_job(1))
	E
}

@test "a second one refuses politely" {
	cluster_up
	wait_for 20 agent_pid
	local pid
	pid=$(agent_pid)
	timeout 20 "$LENS" agent --state-dir "$STATE_DIR" --set "File=$TRACES"
	run -1 timeout 20 "$LENS" agent --once --state-dir "$STATE_DIR" --set "File=$TRACES"
	[[ $output == *"(pid $pid)"* ]]
	[ "$(agent_pid)" = "$pid" ]
}

@test "agent --stop ends it, and has nothing against there being none" {
	cluster_up
	wait_for 20 agent_pid
	local pid
	pid=$(agent_pid)
	run -0 timeout 30 "$LENS" agent --stop --state-dir "$STATE_DIR"
	[ "$output" = "agent $pid has ended; nothing waits to be sent" ]
	no_agent
	run -0 timeout 30 "$LENS" agent --stop --state-dir "$STATE_DIR"
	[[ $output == *"no agent"* ]]
}

@test "agent --stop says what waits for the next one" {
	receiver_up
	receiver_answer 503
	cluster_up -- "Endpoint=$RECEIVER_URL"
	as_user srun --lens -N2 true
	wait_for 30 grep -q 'retried=[1-9]' "$STATE_DIR/agent.status"
	wait_job 1
	run -0 timeout 30 "$LENS" agent --stop --state-dir "$STATE_DIR"
	[[ $output =~ ^agent\ [0-9]+\ has\ ended\;\ ([0-9]+)\ files?\ waits?\ to\ be\ sent\ by\ the\ next\ one$ ]]
	[ "${BASH_REMATCH[1]}" -gt 0 ]
	[ "${BASH_REMATCH[1]}" -le "$(state_files | wc -l)" ]
}

@test "agent --once drains what jobs left without an agent" {
	receiver_up
	cluster_up -- Agent=external
	as_user srun --lens -N2 -n2 true
	wait_job 1
	no_agent
	[ -n "$(state_files 1)" ]
	run -1 slurm timeout 60 "$LENS" agent --once --state-dir "$STATE_DIR" --set Endpoint=http://127.0.0.1:1
	[ -n "$(state_files 1)" ]
	run -0 slurm timeout 60 "$LENS" agent --once --state-dir "$STATE_DIR" --set "Endpoint=$RECEIVER_URL"
	[[ $output =~ (^|[^0-9])[1-9][0-9]*\ spans\ sent ]]
	[ -z "$(state_files)" ]
	run -0 slurm timeout 60 "$LENS" agent --once --state-dir "$STATE_DIR" --set "Endpoint=$RECEIVER_URL"
	[[ $output == *"0 spans sent"* ]]
	expect <<-E
	assert_tree(of_job(1))
	E
}

# line_set KEY=VALUE...: what plugstack.conf says from now on.
line_set() {
	plugstack_line "$@" >"$CONF_DIR/plugstack.conf"
}

@test "an agent without options has the settings of plugstack.conf's line, and reads it again" {
	receiver_up
	cluster_up -- Agent=external Endpoint=http://127.0.0.1:1
	as_user srun --lens -N2 -n2 true
	wait_job 1
	run -1 slurm timeout 60 "$LENS" agent --once
	[[ $output == *"http://127.0.0.1:1"* ]]
	[ -n "$(state_files 1)" ]
	slurm "$LENS" agent 2>"$SANDBOX/agent.err" &
	wait_for 20 agent_pid
	line_set Agent=external "Endpoint=$RECEIVER_URL"
	kill -HUP "$(agent_pid)"
	wait_sent 1
	[ ! -e "$TRACES" ]
	# A line with less than before: what it no longer says is gone.
	line_set Agent=external
	kill -HUP "$(agent_pid)"
	as_user srun --lens true
	wait_sent 2
	grep -q '"slurm.job_attempt"' "$TRACES"
	slurm timeout 30 "$LENS" agent --stop
	wait $!
}

@test "a job that is not lens's leaves nothing" {
	cluster_up -- Agent=external
	# shellcheck disable=SC2016 # the job's shell's
	JOB=$(submit -N2 'touch $PLACE/begun; srun true; while [ ! -e $PLACE/go ]; do sleep 0.05; done')
	wait_for 30 test -e "$PLACE/begun"
	[ "$(state_files "$JOB" | wc -l)" -ge 1 ]
	touch "$PLACE/go"
	wait_job "$JOB"
	[ -z "$(state_files)" ]
}

@test "after all is acknowledged StateDir holds nothing of jobs" {
	receiver_up
	cluster_up -- "Endpoint=$RECEIVER_URL"
	JOB=$(submit --lens -N2 -n4 "srun true; srun -n1 false; exit 3")
	as_user srun --lens false || true
	wait_sent "$JOB"
	wait_sent $((JOB + 1))
	[ -z "$(find "$STATE_DIR" -mindepth 1 ! -name 'agent.*')" ]
	[ "$(stat -c %a:%U "$STATE_DIR")" = 700:root ]
}
