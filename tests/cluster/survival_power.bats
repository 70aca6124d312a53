#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The power of a node fails: all of its processes are gone at once, the job starts again
# elsewhere, the node comes back. What its disk holds is told then, and only once.

bats_require_minimum_version 1.5.0
load helpers
load survival

setup() {
	survival_begin
}

teardown() {
	survival_end
}

@test "the first node, with all that was not sent yet: the job runs elsewhere, the node is back" {
	# The node is back when the test says so: Slurm would take it back at a late answer to a ping.
	cluster_up --conf ReturnToService=1 -- "Endpoint=$RECEIVER_URL"
	machine_of_its_own n1
	receiver_answer 503
	workload -N1
	local killed
	killed=$(now_ns)
	power_off n1
	slurm scontrol update nodename=n1 state=down reason=power
	receiver_answer 200
	wait_sent "$JOB" 120
	survived <<-E
	# n2 has told of its attempt; of the one before nobody could.
	assert of_job($JOB) == [], names($JOB)
	assert_spans(of_job($JOB, 1), AGAIN + ["slurm.batch"] + steps(0, 1, 2, other=None))
	assert {attribute(span, "slurm.node.name") for span in of_job($JOB, 1)} == {"n2"}
	E
	power_on n1
	wait_for 120 node_empty n1
	slurm scontrol update nodename=n1 state=resume
	wait_for 30 all_idle
	survived <<-E
	trace = of_job($JOB)
	# When the node is back Slurm may have the epilog of the lost attempt run after all.
	late = any(span["name"] == "slurm.job_teardown" for span in trace)
	cut = ["slurm.batch", "slurm.step 1", "slurm.task 1/0", "slurm.task 1/1"]
	assert_spans(trace, [name for name in JOB if late or name != "slurm.job_teardown"] +
	    ["slurm.batch"] + steps(0, 1, other=None),
	    cut if late else cut + ["slurm.job_attempt", "slurm.job"], $killed)
	root, again = one($JOB, "slurm.job_attempt"), one($JOB, "slurm.job_attempt", attempt=1)
	assert attribute(root, "slurm.state") == "REQUEUED" and status(root) == "unset", root
	assert attribute(again, "slurm.state") == "COMPLETED"
	assert again["links"][0]["span_id"] == root["span_id"]
	assert attribute(root, "slurm.node.name") == "n1"
	E
}

@test "the second node: the first tells of the attempt, the second of its part once it is back" {
	cluster_up --nodes 3 --conf ReturnToService=1 -- "Endpoint=$RECEIVER_URL"
	machine_of_its_own n2
	workload -N2
	wait_spans "any(s['name'] == 'slurm.step.node' for s in spans)" # of the step before
	wait_for 30 step_settled "$SANDBOX/state.n2"
	local killed
	killed=$(now_ns)
	power_off n2
	slurm scontrol update nodename=n2 state=down reason=power
	wait_sent "$JOB" 120
	survived <<-E
	trace = of_job($JOB)
	wanted = JOB + ["slurm.batch"] + steps(0) + ["slurm.step 1", "slurm.task 1/0"]
	assert_spans(trace, wanted)
	assert attribute(one($JOB, "slurm.task", "1/0"), "slurm.signal") is not None
	assert attribute(one($JOB, "slurm.job_attempt"), "slurm.state") == "REQUEUED"
	assert_spans(of_job($JOB, 1), AGAIN + ["slurm.batch"] + steps(0, 1, 2, other="n3"))
	E
	power_on n2
	wait_for 120 node_empty n2
	slurm scontrol update nodename=n2 state=resume
	wait_for 30 all_idle
	survived <<-E
	assert_spans(of_job($JOB), JOB + ["slurm.batch"] + steps(0, 1),
	    ["slurm.step.node 1/n2", "slurm.task 1/1"], $killed)
	E
}

@test "all processes of a node, its slurmd started again at once: the epilog ends the attempt" {
	cluster_up -- "Endpoint=$RECEIVER_URL"
	workload -N1
	wait_for 30 start_settled "$STATE_DIR"
	wait_for 30 step_settled "$STATE_DIR"
	local killed
	killed=$(now_ns)
	power_off n1
	start_node n1 # slurmctld waits for half a minute before it believes that the job is gone
	wait_sent "$JOB" 120
	survived <<-E
	assert_spans(of_job($JOB), JOB + ["slurm.batch"] + steps(0, 1, other=None),
	    ["slurm.batch", "slurm.step 1", "slurm.task 1/0", "slurm.task 1/1"], $killed)
	assert attribute(one($JOB, "slurm.job_attempt"), "slurm.state") == "REQUEUED"
	assert_spans(of_job($JOB, 1), AGAIN + ["slurm.batch"] + steps(0, 1, 2, other=None))
	E
}
