#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# slurm-lens status: what it says, and when it calls for a person.

bats_require_minimum_version 1.5.0
load helpers

setup() {
	sandbox_create
	receiver_up
}

teardown() {
	sandbox_destroy
}

# status [OPTION...]
status() {
	timeout 20 "$LENS" status --state-dir "$STATE_DIR" "$@"
}

# field EXPRESSION: of Python, over `s`, what --json says.
field() {
	status --json | "$LENS_TEST_PYTHON" -c \
		'import json, sys; s = json.load(sys.stdin); a = s["agent"]; print(eval(sys.argv[1]))' "$1"
}

field_is() { # EXPRESSION VALUE
	[ "$(field "$1")" = "$2" ]
}

@test "all is well: who runs since when, how many spans went" {
	cluster_up -- "Endpoint=$RECEIVER_URL"
	as_user srun --lens -N2 true
	wait_sent 1
	wait_for 10 field_is 'a["spans_sent"]' "$(spans_eval 'len(spans)')"
	field_is 'a["running"], a["pid"]' "(True, $(agent_pid))"
	[ "$(ps -o ppid= -p "$(field 'a["sender_pid"]')" | tr -d ' ')" = "$(agent_pid)" ]
	field_is 'a["spans_dropped"], a["error"], s["problems"]' "(0, '', [])"
	field_is 's["journals_waiting"], s["notes_waiting"], s["oldest_unsent"]' "(0, 0, None)"
	run -0 status
	[[ $output == *"pid $(agent_pid) for $STATE_DIR, since 20"* ]]
	[[ $output == *"http/protobuf"* && $output != *PROBLEM* ]]
	[ "$(status --format json)" = "$(status --json)" ]
	# Its StateDir is an argument in plugstack.conf.
	run -0 slurm timeout 20 "$LENS" status
	[[ $output == *"pid $(agent_pid) for $STATE_DIR, "* ]]
}

@test "an idle agent writes nothing" {
	cluster_up -- "Endpoint=$RECEIVER_URL"
	as_user srun --lens true
	wait_sent 1
	sleep 2
	local before
	before=$(stat -c '%i %Y' "$STATE_DIR/agent.status")
	sleep 3
	[ "$(stat -c '%i %Y' "$STATE_DIR/agent.status")" = "$before" ]
}

@test "a running job's journal is open, its note is not waited for" {
	cluster_up -- "Endpoint=$RECEIVER_URL"
	as_user srun --lens -N2 sleep 60 3>&- &
	wait_for 30 field_is 's["journals_open"]' 2
	field_is 's["notes"], s["journals_waiting"], s["notes_waiting"]' '(2, 0, 0)'
	slurm scancel 1
	wait_sent 1
}

@test "what waits, why and since when; no alarm before its time" {
	receiver_answer 503
	cluster_up -- "Endpoint=$RECEIVER_URL"
	as_user srun --lens -N2 true
	wait_job 1
	wait_for 20 field_is 'a["requests_retried"] > 0' True
	field_is 's["oldest_unsent"] is not None, s["notes_waiting"] + s["journals_waiting"] > 0' \
		'(True, True)'
	field_is '"HTTP 503" in a["error"], a["failing_since"] is not None' '(True, True)'
	run -0 status
	[[ $output == *"HTTP 503"* ]]
	# As if it had been so for an hour. The agent stays away from it meanwhile.
	kill -STOP "$(agent_pid)"
	sed -i "s/failing_since=[0-9]*/failing_since=$(($(date +%s) - 3600))/" "$STATE_DIR/agent.status"
	run -1 status
	[[ $output == *"PROBLEM"*"60 minutes"*"HTTP 503"* ]]
	kill -CONT "$(agent_pid)"
	receiver_answer 200
	wait_sent 1
	wait_for 10 field_is 'a["failing_since"]' None
	run -0 status
	[[ $output == *"(over)"* ]]
}

@test "lost spans call for a person" {
	receiver_answer 400
	cluster_up -- "Endpoint=$RECEIVER_URL"
	as_user srun --lens true
	wait_sent 1
	wait_for 10 field_is 'a["spans_dropped"] > 0 and a["spans_sent"] == 0' True
	run -1 status
	[[ $output == *"PROBLEM"*"are lost"*"HTTP 400"* ]]
	run -1 status --json
}

@test "work without an agent calls for a person, once the next prolog has had its time" {
	cluster_up -- Agent=external
	run -0 status
	[[ $output == *"none runs for $STATE_DIR"* ]]
	as_user srun --lens -N2 true
	wait_job 1
	run -0 status
	find "$STATE_DIR" -name '[0-9]*' -exec touch -d '5 minutes ago' {} +
	run -1 status --set Agent=external
	[[ $output == *"PROBLEM"*"no agent runs"* ]]
}

@test "for root alone, and it says so" {
	cluster_up
	run -2 as_user "$LENS" status --state-dir "$STATE_DIR"
	[[ $output == *"only root can look into $STATE_DIR"* ]]
	run -2 "$LENS" status --state-dir "$SANDBOX/none"
	[[ $output == *"$SANDBOX/none"* ]]
	run -2 "$LENS" status --state-dir "$SANDBOX/none" --config "$SANDBOX/none.conf"
	[[ $output == "slurm-lens status: lens.conf $SANDBOX/none.conf: "* && $output != *"slurm-lens agent"* ]]
	run -2 "$LENS" status --format xml
	run -2 "$LENS" status --frmat
	run -0 "$LENS" status --help
	[[ $output == Usage:* ]]
}
