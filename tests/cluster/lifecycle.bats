#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# How a job can go, and the spans that each way gives (docs/spans.md). Simple ones are in
# spans.bats: completed, failed, cancelled, requeued by command, srun, salloc, array, het.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	sandbox_create
	receiver_up
	cluster_up --conf PreemptType=preempt/partition_prio --conf PreemptMode=REQUEUE \
		--conf 'PartitionName=high Nodes=n[1-2] PriorityTier=10' \
		--conf OverTimeLimit=0 -- "Endpoint=$RECEIVER_URL"
}

teardown_file() {
	sandbox_destroy
}

setup() {
	place_create
}

started() { # FILE
	wait_for 60 test -e "$PLACE/$1"
}

# begun JOB ATTEMPT: until the attempt's start spans have arrived: an attempt that is gone before
# slurmctld is asked about it has no known submission.
begun() {
	local found="any(s['name'] == 'slurm.job_start' and s['attributes']['slurm.attempt'] == $2"
	wait_spans "$found and s['resource']['slurm.job.id'] == '$1' for s in spans)"
}

# until_gone FILE: a shell text that runs as long as FILE is there.
until_gone() {
	echo "while [ -e $PLACE/$1 ]; do sleep 0.1; done"
}

@test "a script that kills itself" {
	JOB=$(submit --lens 'kill -9 $$')
	wait_sent "$JOB"
	expect <<-E
	assert_tree(of_job($JOB))
	batch, job = one($JOB, "slurm.batch", $JOB), one($JOB, "slurm.job", $JOB)
	assert attribute(batch, "slurm.signal") == 9 and attribute(batch, "error.type") == "SIGKILL"
	assert attribute(job, "slurm.state") == "FAILED" and attribute(job, "slurm.exit_code") == "0:9"
	assert status(batch) == status(job) == status(one($JOB, "slurm.job_attempt")) == "error"
	assert attribute(batch, "slurm.oom_killed") is None
	E
}

@test "cancelled in the queue: nothing ran anywhere, nothing is told" {
	JOB=$(submit --lens --hold true)
	slurm scancel "$JOB"
	wait_job "$JOB"
	local next
	next=$(submit --lens true)
	wait_sent "$next"
	expect <<-E
	assert not names($JOB) and names($next)
	E
}

@test "a time limit" {
	JOB=$(submit --lens --time=0:01 "srun sleep 100")
	wait_sent "$JOB" 120
	expect <<-E
	assert_tree(of_job($JOB))
	job = one($JOB, "slurm.job", $JOB)
	assert attribute(job, "slurm.state") == "TIMEOUT" and attribute(job, "error.type") == "timeout"
	assert attribute(job, "slurm.reason") == "TimeLimit" and status(job) == "error"
	assert status(one($JOB, "slurm.step", 0)) == "error"
	E
}

@test "preempted: requeued where it may be, else ended" {
	JOB=$(submit --lens --requeue -N2 --exclusive "
		test \$SLURM_RESTART_COUNT || { touch $PLACE/begun; srun sleep 100; }")
	started begun
	begun "$JOB" 0
	as_user srun -p high -N2 --exclusive true
	wait_sent "$JOB"
	touch "$PLACE/run"
	local ended
	ended=$(submit --lens --no-requeue -N2 --exclusive "touch $PLACE/again; $(until_gone run)")
	started again
	as_user srun -p high -N2 --exclusive true
	wait_sent "$ended"
	expect <<-E
	assert_tree(of_job($JOB, 0))
	assert_tree(of_job($JOB, 1))
	root, again = one($JOB, "slurm.job_attempt"), one($JOB, "slurm.job_attempt", attempt=1)
	# Slurm does not say of a requeued attempt why.
	assert attribute(root, "slurm.state") == "REQUEUED" and status(root) == "unset"
	assert attribute(again, "slurm.state") == "COMPLETED"
	assert attribute(again, "slurm.first_submit") == root["start"] // 10**9, (root, again)
	assert attribute(root, "slurm.first_submit") is None
	gap = one($JOB, "slurm.inter_attempt_gap", attempt=1)
	assert gap["links"][0]["span_id"] == root["span_id"]
	job = one($ended, "slurm.job", $ended)
	assert attribute(job, "slurm.state") == "PREEMPTED" and status(job) == "error", job
	E
}

node_is() { # NODE STATE
	[ "$(slurm sinfo -h -n "$1" -o %T | sort -u)" = "$2" ]
}

@test "a node failure: the attempt ends, the next one runs elsewhere" {
	touch "$PLACE/run"
	JOB=$(submit --lens --requeue -w n2 "
		test \$SLURM_RESTART_COUNT || { touch $PLACE/begun; $(until_gone run); }; srun true")
	started begun
	slurm scontrol update jobid="$JOB" reqnodelist=n1 || true
	slurm scontrol update nodename=n2 state=down reason=test
	wait_for 60 job_requeued "$JOB"
	slurm scontrol update jobid="$JOB" reqnodelist=
	wait_sent "$JOB"
	slurm scontrol update nodename=n2 state=resume || true
	wait_for 30 all_idle
	local ended
	ended=$(submit --lens --no-requeue -w n2 "touch $PLACE/again; $(until_gone run)")
	started again
	slurm scontrol update nodename=n2 state=down reason=test
	wait_sent "$ended"
	slurm scontrol update nodename=n2 state=resume || true
	wait_for 30 all_idle
	expect <<-E
	assert_tree(of_job($JOB, 0))
	assert_tree(of_job($JOB, 1))
	first, second = one($JOB, "slurm.job", $JOB), one($JOB, "slurm.job", $JOB, attempt=1)
	assert attribute(first, "slurm.state") == "REQUEUED"
	assert attribute(first, "slurm.node.name") == "n2"
	assert attribute(second, "slurm.state") == "COMPLETED", second
	job = one($ended, "slurm.job", $ended)
	assert attribute(job, "slurm.state") == "NODE_FAIL" and status(job) == "error", job
	E
}

@test "held and released: the deferred phase" {
	JOB=$(submit --lens --hold true)
	sleep 2
	slurm scontrol release "$JOB"
	wait_sent "$JOB"
	expect <<-E
	assert_tree(of_job($JOB))
	deferred, queued = one($JOB, "slurm.phase.deferred"), one($JOB, "slurm.phase.queued")
	start = one($JOB, "slurm.job_start")
	root = one($JOB, "slurm.job_attempt")
	assert deferred["start"] == root["start"] and deferred["end"] - deferred["start"] >= 1e9
	assert deferred["end"] == queued["start"] and queued["end"] == start["start"] == start["end"]
	E
}

@test "suspended and resumed: the seconds are told" {
	touch "$PLACE/run"
	JOB=$(submit --lens "touch $PLACE/begun; $(until_gone run)")
	started begun
	slurm scontrol suspend "$JOB"
	sleep 3
	slurm scontrol resume "$JOB"
	sleep 1
	slurm scontrol suspend "$JOB"
	sleep 2
	slurm scontrol resume "$JOB"
	rm "$PLACE/run"
	wait_sent "$JOB"
	expect <<-E
	assert_tree(of_job($JOB))
	for span in one($JOB, "slurm.job", $JOB), one($JOB, "slurm.job_attempt"):
	    assert attribute(span, "slurm.state") == "COMPLETED"
	    assert 4 <= attribute(span, "slurm.suspended_seconds") <= 8, span
	E
}

@test "shrunk: the nodes of the end, told once" {
	touch "$PLACE/run"
	JOB=$(submit --lens -N2 "srun true; touch $PLACE/begun; $(until_gone run)")
	started begun
	slurm scontrol update jobid="$JOB" numnodes=1
	sleep 1
	rm -f "$OUT"/slurm_job_*_resize* "$PLACE/run"
	wait_sent "$JOB"
	expect <<-E
	assert_tree(of_job($JOB))
	job = one($JOB, "slurm.job", $JOB)
	assert attribute(job, "slurm.nodelist") == "n1" and attribute(job, "slurm.nnodes") == 1
	assert attribute(job, "slurm.node.name") == "n1"
	assert attribute(job, "slurm.state") == "COMPLETED"
	E
}

@test "a job whose output cannot be opened" {
	JOB=$(submit --lens -o /nonexistent/out true)
	wait_sent "$JOB"
	expect <<-E
	assert_tree(of_job($JOB))
	batch, job = one($JOB, "slurm.batch", $JOB), one($JOB, "slurm.job", $JOB)
	assert status(job) == "error" and attribute(job, "slurm.state") == "FAILED"
	assert attribute(batch, "process.exit.code") is None and attribute(batch, "process.pid") is None
	assert not [span for span in of_job($JOB) if span["name"] in ("slurm.step", "slurm.task")]
	E
}

@test "a job without a step: set-up ends with the script" {
	JOB=$(submit --lens "sleep 1")
	wait_sent "$JOB"
	expect <<-E
	assert names($JOB) == ["slurm.batch", "slurm.job", "slurm.job_attempt", "slurm.job_setup",
	    "slurm.job_start", "slurm.job_teardown", "slurm.phase.queued"], names($JOB)
	assert_tree(of_job($JOB))
	batch, setup = one($JOB, "slurm.batch", $JOB), one($JOB, "slurm.job_setup", $JOB)
	teardown, job = one($JOB, "slurm.job_teardown", $JOB), one($JOB, "slurm.job", $JOB)
	assert setup["start"] == job["start"] and setup["end"] <= batch["start"]
	assert teardown["end"] == job["end"] and teardown["start"] >= batch["end"]
	assert setup["parent_span_id"] == teardown["parent_span_id"] == job["span_id"]
	E
}

@test "parallel steps; set-up ends with the first of them" {
	JOB=$(submit --lens -n3 "sleep 1; for i in 1 2 3; do srun -n1 --exact sleep 2 & done; wait")
	wait_sent "$JOB"
	expect <<-E
	assert_tree(of_job($JOB))
	steps = [one($JOB, "slurm.step", number) for number in range(3)]
	assert max(step["start"] for step in steps) < min(step["end"] for step in steps)
	setup = one($JOB, "slurm.job_setup", $JOB)
	assert setup["end"] == min(step["start"] for step in steps)
	assert setup["end"] - one($JOB, "slurm.batch", $JOB)["start"] >= 1e9
	assert {status(step) for step in steps} == {"unset"}
	E
}

@test "a failing rank on another node than the step's first" {
	JOB=$(submit --lens -N2 -n4 --ntasks-per-node=2 --lens-rank=0 "
		srun -n4 sh -c 'sleep \$SLURM_PROCID; test \$SLURM_PROCID != 2'; exit 0")
	wait_sent "$JOB"
	expect <<-E
	assert_tree(of_job($JOB))
	step, node = one($JOB, "slurm.step", 0), one($JOB, "slurm.step.node", "0/n2")
	# Its first node saw none fail, and does not claim to know of others.
	assert status(step) == "unset" and attribute(step, "slurm.step.tasks_failed") == 0
	assert attribute(step, "slurm.step.tasks") == 4
	assert status(node) == "error" and attribute(node, "slurm.exit_code") == "1:0"
	assert attribute(node, "slurm.step.tasks") == 2 and attribute(node, "slurm.step.tasks_failed") == 1
	assert node["parent_span_id"] == step["span_id"]
	failed = one($JOB, "slurm.task", "0/2")
	assert status(failed) == "error" and attribute(failed, "slurm.node.name") == "n2"
	assert failed["parent_span_id"] == step["span_id"]
	assert names($JOB).count("slurm.task") == 2
	E
}

@test "an outer trace takes the spans of a whole job in" {
	local outer=00-0123456789abcdef0123456789abcdef-00000000000000bb-01
	JOB=$(as_user env TRACEPARENT=$outer sbatch --parsable --lens --lens-traceparent=parent -N2 \
		--wrap "srun -n2 $PLACE/dump step")
	wait_sent "$JOB"
	expect <<-E
	own = trace_id($JOB)
	inside = [span for span in spans if span["trace_id"] == "0123456789abcdef0123456789abcdef"]
	assert not of_job($JOB)
	by_name = {span["name"]: span for span in inside}
	assert {"slurm.job_attempt", "slurm.job_start", "slurm.job", "slurm.batch", "slurm.step",
	    "slurm.step.node", "slurm.task", "slurm.job_setup", "slurm.phase.queued"} <= set(by_name)
	assert by_name["slurm.job_attempt"]["parent_span_id"] == "00000000000000bb"
	assert by_name["slurm.step"]["span_id"] == span_id(own, "slurm.step", 0)
	assert by_name["slurm.step"]["parent_span_id"] == span_id(own, "slurm.job", $JOB)
	assert by_name["slurm.batch"]["span_id"] == span_id(own, "slurm.batch", $JOB)
	assert env("step.1")["TRACEPARENT"] == f"00-0123456789abcdef0123456789abcdef-{span_id(own, 'slurm.task', '0/1')}-01"
	E
}

@test "three attempts: three traces, each linked to the one before, the first submission kept" {
	JOB=$(submit --lens --requeue "
		test \"\$SLURM_RESTART_COUNT\" = 2 || sleep 100")
	begun "$JOB" 0
	slurm scontrol requeue "$JOB"
	begun "$JOB" 1
	slurm scontrol requeue "$JOB"
	wait_sent "$JOB"
	expect <<-E
	roots = [one($JOB, "slurm.job_attempt", attempt=attempt) for attempt in range(3)]
	for attempt in range(3):
	    assert_tree(of_job($JOB, attempt))
	    assert len(of_job($JOB, attempt)) >= 6
	assert [attribute(root, "slurm.state") for root in roots] == ["REQUEUED", "REQUEUED", "COMPLETED"]
	assert not roots[0]["links"]
	for before, root in zip(roots, roots[1:]):
	    assert [(l["trace_id"], l["span_id"]) for l in root["links"]] == [(before["trace_id"], before["span_id"])]
	first = roots[0]["start"] // 10**9
	assert [attribute(root, "slurm.first_submit") for root in roots] == [None, first, first], roots
	assert len({root["trace_id"] for root in roots}) == 3
	E
}
