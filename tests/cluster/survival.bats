#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# kill -9 of everything that a job's spans depend on, one at a time; what is left is counted.
# A step of one node and an agent without a job to send: loss.bats. A sender without a request,
# or in one that nobody has taken: privileges.bats. A whole node: survival_power.bats.

bats_require_minimum_version 1.5.0
load helpers
load survival

setup() {
	survival_begin
	# No node is to be given up while its slurmd is away; how soon slurmctld, started again, sees
	# its nodes depends on it too.
	cluster_up --conf SlurmdTimeout=15 -- "Endpoint=$RECEIVER_URL" Timeout=60000
}

teardown() {
	survival_end
}

@test "slurmstepd of a step on its second node: that node's part of that step is cut" {
	workload -N2
	local killed
	killed=$(now_ns)
	kill_hard "$(stepds n2 "$JOB.1")"
	touch "$PLACE/go"
	wait_spans "any(s['name'] == 'slurm.task' and s['attributes']['slurm.step.id'] == '1' and
		s['attributes']['slurm.procid'] == 0 for s in spans)"
	slurm scancel "$JOB" # Slurm itself would wait for it for ever
	wait_sent "$JOB"
	survived <<-E
	trace = of_job($JOB)
	assert_spans(trace, JOB + ["slurm.batch"] + steps(0, 1),
	    ["slurm.step.node 1/n2", "slurm.task 1/1"], $killed)
	assert attribute(one($JOB, "slurm.task", "1/0"), "process.exit.code") == 0
	assert attribute(one($JOB, "slurm.job_attempt"), "slurm.state") == "CANCELLED"
	E
}

@test "slurmstepd of the batch script: the script is cut, its steps are not, nor the one after" {
	workload -N2
	local killed
	killed=$(now_ns)
	kill_hard "$(stepds n1 "$JOB.batch")"
	touch "$PLACE/go"
	wait_for 60 test -e "$PLACE/done" # the script lives on
	slurm scancel "$JOB"
	wait_sent "$JOB"
	survived <<-E
	assert_spans(of_job($JOB), JOB + ["slurm.batch"] + steps(0, 1, 2), ["slurm.batch"], $killed)
	assert attribute(one($JOB, "slurm.job_attempt"), "slurm.state") == "CANCELLED"
	E
}

@test "slurmd of both nodes, started again during the job: nothing is missing" {
	workload -N2
	kill_hard "$(slurmd_pid n1)" "$(slurmd_pid n2)"
	start_node n1
	start_node n2
	touch "$PLACE/go"
	wait_sent "$JOB"
	survived <<-E
	assert_spans(of_job($JOB), JOB + ["slurm.batch"] + steps(0, 1, 2))
	assert attribute(one($JOB, "slurm.job_attempt"), "slurm.state") == "COMPLETED"
	E
}

@test "slurmd of the first node, started again after the job: a late epilog, nothing is missing" {
	workload -N2
	kill_hard "$(slurmd_pid n1)"
	touch "$PLACE/last" "$PLACE/go" # no step begins without it
	wait_for 60 job_in_state "$JOB" COMPLETING
	[ -n "$(state_files "$JOB")" ]
	start_node n1
	wait_sent "$JOB"
	survived <<-E
	assert_spans(of_job($JOB), JOB + ["slurm.batch"] + steps(0, 1))
	E
}

@test "slurmctld, started again during the job: nothing is missing" {
	workload -N2
	wait_for 30 test "$SANDBOX/cluster/state/job_state" -nt "$PLACE/begun.1"
	kill_hard "$("$MINICLUSTER" pid "$SANDBOX/cluster" slurmctld)"
	touch "$PLACE/last" "$PLACE/go" # a further srun finds its nodes busy and waits a minute
	"$MINICLUSTER" restart-ctld "$SANDBOX/cluster" 3>&-
	wait_sent "$JOB" 120
	survived <<-E
	assert_spans(of_job($JOB), JOB + ["slurm.batch"] + steps(0, 1))
	assert {attribute(span, "slurm.confidence") for span in of_job($JOB)} == {"factual"}
	assert attribute(one($JOB, "slurm.job_attempt"), "slurm.state") == "COMPLETED"
	E
}

@test "the agent, six times during one job: nothing is missing, what comes again is the same" {
	workload -N1
	local pause pids
	for pause in 0 0.05 0.1 0.2 0.4 0.6; do
		wait_for 20 agent_pid
		sleep "$pause"
		mapfile -t pids < <(agent_pids)
		kill_hard "${pids[@]}"
		[ "$pause" != 0.2 ] || touch "$PLACE/go"
		slurm srun true # its prolog starts the next one
	done
	wait_sent "$JOB"
	survived <<-E
	assert_spans(merged(of_job($JOB)), JOB + ["slurm.batch"] + steps(0, 1, 2, other=None))
	E
}

# request_taken: the receiver has all of it, and has not acknowledged it.
request_taken() {
	grep -lq '"status": 200' "$RECEIVED"/[0-9]*.json
}

# taken: a whole job's spans wait for an answer when this returns.
taken() {
	receiver_answer 503
	as_user srun --lens -N2 -n2 true
	JOB=1
	wait_job 1
	wait_for 30 grep -q 'HTTP 503' "$STATE_DIR/agent.log"
	receiver_answer "delay 50 200" 200
	wait_for 60 request_taken
	KEEPER=$(agent_pid)
	SENDER=$(agent_pids | grep -vx "$KEEPER")
}

# assert_came_again: and was the same.
assert_came_again() {
	survived <<-E
	trace = of_job($JOB)
	assert_spans(merged(trace), JOB + ["slurm.step 0", "slurm.step.node 0/n2", "slurm.task 0/1"])
	assert len(trace) > len(merged(trace)), "nothing came again: the request was not under way"
	E
}

@test "the keeper, between export and acknowledgement: the spans come again, the same" {
	taken
	kill_hard "$KEEPER"
	wait_for 10 gone "$SENDER"
	slurm srun true
	wait_sent "$JOB"
	assert_came_again
}

@test "the sender, between export and acknowledgement: the spans come again, the same" {
	taken
	kill_hard "$SENDER"
	wait_sent "$JOB"
	[ "$(agent_pid)" = "$KEEPER" ]
	assert_came_again
}

@test "keeper and sender, between export and acknowledgement: the spans come again, the same" {
	taken
	kill_hard "$KEEPER" "$SENDER"
	slurm srun true
	wait_sent "$JOB"
	assert_came_again
}
