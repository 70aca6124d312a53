#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The spans of a job, as an independent decoder reads them from OTLP/HTTP protobuf.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	sandbox_create
	receiver_up
	cluster_up -- "Endpoint=$RECEIVER_URL"
}

teardown_file() {
	sandbox_destroy
}

setup() {
	place_create
}

run_batch() {
	JOB=$(submit "$@")
	wait_sent "$JOB"
}

started() { # FILE
	wait_for 60 test -e "$PLACE/$1"
}

@test "the formulas of these tests give the documented ids" {
	expect <<-E
	assert trace_id(12345) == "596be2a5d217a7f5994b1f8309615239"
	assert trace_id(12345, 1) == "ac7efdcece563fbeb417de698473a515"
	assert trace_id(12345, realm="east-2026") == "8c16c749709d0265e75ce174fedd21e1"
	assert trace_id(12345, cluster="") == "5b03b881bc4e0b73101f71d7d6cc3e8f"
	assert span_id(trace_id(12345), "slurm.job_attempt") == "49dde0fce57ce764"
	assert span_id(trace_id(12345), "slurm.task", "0/3") == "e0f506154ca20ab8"
	E
}

@test "a batch job of two nodes: one trace, all its spans, nested" {
	run_batch --lens -N2 -n4 -J train "$PLACE/dump batch; srun -n4 $PLACE/dump step; srun -n1 -N1 true"
	expect <<-E
	trace = of_job($JOB)
	assert names($JOB) == [
	    "slurm.batch", "slurm.job", "slurm.job_attempt", "slurm.job_setup", "slurm.job_start",
	    "slurm.job_teardown", "slurm.phase.queued", "slurm.step", "slurm.step",
	    "slurm.step.node", "slurm.task", "slurm.task"], names($JOB)
	assert_tree(trace)
	root, job = one($JOB, "slurm.job_attempt"), one($JOB, "slurm.job", $JOB)
	queued, batch = one($JOB, "slurm.phase.queued"), one($JOB, "slurm.batch", $JOB)
	step, task = one($JOB, "slurm.step", 0), one($JOB, "slurm.task", "0/3")
	assert queued["parent_span_id"] == job["parent_span_id"] == root["span_id"]
	assert batch["parent_span_id"] == step["parent_span_id"] == job["span_id"]
	assert task["parent_span_id"] == step["span_id"]
	assert one($JOB, "slurm.task", "1/0")["parent_span_id"] == one($JOB, "slurm.step", 1)["span_id"]
	assert {status(span) for span in trace} == {"unset"}, [(s["name"], status(s)) for s in trace]
	assert not any(span["links"] for span in trace)
	assert attribute(root, "slurm.state") == attribute(job, "slurm.state") == "COMPLETED"
	assert attribute(job, "slurm.nodelist") == "n[1-2]"
	assert attribute(step, "slurm.step.id") == "0" and attribute(batch, "slurm.step.id") == "batch"
	assert attribute(step, "slurm.step.tasks") == 4 and attribute(step, "slurm.step.tasks_failed") == 0
	assert attribute(step, "slurm.node.name") == "n1" and attribute(task, "slurm.node.name") == "n2"
	assert attribute(task, "slurm.procid") == attribute(task, "nv.dl.rank") == 3
	assert attribute(task, "process.exit.code") == 0
	# What the tasks were told is what was sent.
	assert env("batch.0")["TRACEPARENT"].split("-")[1:3] == [batch["trace_id"], batch["span_id"]]
	assert env("step.3")["TRACEPARENT"].split("-")[2] == task["span_id"]
	assert env("step.0")["TRACEPARENT"].split("-")[2] == step["span_id"]
	E
}

@test "resource, scope and common attributes" {
	run_batch --lens --lens-run-id=exp-7 -n2 -w n1 -J train "srun true"
	expect <<-E
	for span in of_job($JOB):
	    r, a = span["resource"], span["attributes"]
	    assert r["service.name"] == "slurm" and r["service.version"]
	    assert r["service.instance.id"] == "mini/n1", (span["name"], r)
	    assert r["host.name"] == "$(uname -n)", (span["name"], r)
	    assert r["slurm.job.id"] == r["slurm.job.id.raw"] == "$JOB" and r["nemo.run.id"] == "exp-7"
	    assert r["slurm.job.name"] == "train" and r["slurm.cluster.name"] == "mini"
	    assert r["nv.dl.job.uuid"] == job_uuid($JOB) and r["nv.dl.run.uuid"] == run_uuid($JOB)
	    for key in "slurm.nnodes", "slurm.restart_count", "slurm.array.count":
	        assert type(r[key]) is int, (key, r[key])
	    assert "nv.dl.rank" not in r and "slurm.nodelist" not in r
	    assert span["scope"]["name"] == "slurm-lens" and span["scope"]["version"]
	    assert a["slurm.source"] == "slurmstepd" and a["slurm.confidence"] == "factual"
	    assert a["lens.group"] == "job" and a["lens.span_category"] == "goodput"
	    assert a["purpose"] == ["goodput"] and a["slurm.attempt"] == 0
	E
}

@test "the requests: protobuf, to /v1/traces, with a user agent" {
	run_batch --lens true
	"$LENS_TEST_PYTHON" - "$RECEIVED" <<-E
	import glob, json, sys
	requests = [json.load(open(name)) for name in glob.glob(sys.argv[1] + "/[0-9]*.json")]
	assert requests
	for request in requests:
	    assert request["method"] == "POST" and request["path"] == "/v1/traces", request
	    assert request["headers"]["content-type"] == "application/x-protobuf", request
	    assert request["headers"]["user-agent"].startswith("OTel-OTLP-Exporter-"), request
	E
}

@test "a failing rank has its span though it does not export" {
	run_batch --lens -n4 "srun sh -c 'case \$SLURM_PROCID in 1) exit 3;; 2) kill -9 \$\$;; esac'; exit 0"
	expect <<-E
	assert_tree(of_job($JOB))
	step = one($JOB, "slurm.step", 0)
	one_, two, three = (one($JOB, "slurm.task", f"0/{rank}") for rank in (1, 2, 3))
	assert names($JOB).count("slurm.task") == 3
	assert status(one_) == "error" and attribute(one_, "process.exit.code") == 3
	assert attribute(one_, "slurm.exit_code") == "3:0" and attribute(one_, "error.type")
	assert status(two) == "error" and attribute(two, "slurm.signal") == 9
	assert attribute(two, "slurm.exit_code") == "0:9" and attribute(two, "error.type") == "SIGKILL"
	assert attribute(two, "process.exit.code") is None
	assert status(three) == "unset"
	assert status(step) == "error" and attribute(step, "slurm.step.tasks_failed") == 2
	# The script caught it: the job is fine.
	for span in one($JOB, "slurm.batch", $JOB), one($JOB, "slurm.job", $JOB), one($JOB, "slurm.job_attempt"):
	    assert status(span) == "unset", span
	assert attribute(one($JOB, "slurm.job", $JOB), "slurm.state") == "COMPLETED"
	E
}

@test "a failing script fails the job" {
	run_batch --lens "exit 7"
	expect <<-E
	batch, job, root = one($JOB, "slurm.batch", $JOB), one($JOB, "slurm.job", $JOB), one($JOB, "slurm.job_attempt")
	for span in batch, job, root:
	    assert status(span) == "error" and attribute(span, "slurm.exit_code") == "7:0", span
	assert attribute(batch, "process.exit.code") == 7
	assert attribute(job, "slurm.state") == "FAILED"
	assert attribute(root, "slurm.reason") == "NonZeroExitCode"
	assert status(one($JOB, "slurm.phase.queued")) == "unset"
	E
}

@test "a cancelled job" {
	JOB=$(submit --lens -n2 "srun sh -c 'touch $PLACE/begun; exec sleep 60'")
	started begun
	slurm scancel "$JOB"
	wait_sent "$JOB"
	expect <<-E
	assert_tree(of_job($JOB))
	batch, step, job = one($JOB, "slurm.batch", $JOB), one($JOB, "slurm.step", 0), one($JOB, "slurm.job", $JOB)
	for span in batch, step, job, one($JOB, "slurm.job_attempt"):
	    assert status(span) == "error", span
	assert attribute(job, "slurm.state") == "CANCELLED"
	assert attribute(batch, "slurm.signal") == 15
	assert attribute(one($JOB, "slurm.task", "0/0"), "slurm.signal") == 15
	E
}

@test "a requeued job: a second trace, the gap, a link to the first" {
	JOB=$(submit --lens --requeue "$PLACE/dump batch\$SLURM_RESTART_COUNT
		test \$SLURM_RESTART_COUNT || { touch $PLACE/begun; sleep 60; }")
	started begun
	slurm scontrol requeue "$JOB"
	wait_sent "$JOB"
	expect <<-E
	first, second = of_job($JOB, 0), of_job($JOB, 1)
	assert_tree(first)
	assert_tree(second)
	assert len(first) + len(second) == len([s for s in spans if s["resource"]["slurm.job.id.raw"] == "$JOB"])
	root, again = one($JOB, "slurm.job_attempt"), one($JOB, "slurm.job_attempt", attempt=1)
	assert attribute(root, "slurm.state") == "REQUEUED" and status(root) == "unset", root
	assert attribute(one($JOB, "slurm.job", $JOB), "slurm.state") == "REQUEUED"
	assert attribute(again, "slurm.state") == "COMPLETED" and status(again) == "unset"
	assert "slurm.inter_attempt_gap" not in names($JOB, 0)
	gap = one($JOB, "slurm.inter_attempt_gap", attempt=1)
	assert gap["parent_span_id"] == again["span_id"]
	for span in gap, again:
	    assert [(l["trace_id"], l["span_id"]) for l in span["links"]] == [(root["trace_id"], root["span_id"])]
	assert {attribute(span, "slurm.attempt") for span in first} == {0}
	assert {attribute(span, "slurm.attempt") for span in second} == {1}
	assert {span["resource"]["slurm.restart_count"] for span in second} == {1}
	assert {span["resource"]["nv.dl.run.uuid"] for span in second} == {run_uuid($JOB, 1)}
	assert {span["resource"]["nv.dl.job.uuid"] for span in first + second} == {job_uuid($JOB)}
	assert {span["resource"]["nemo.run.id"] for span in first + second} == {"$JOB"}
	assert abs(gap["start"] - root["end"]) < 2e9 and gap["end"] >= gap["start"], (gap, root)
	assert env("batch1.0")["TRACEPARENT"] == traceparent($JOB, "slurm.batch", $JOB, 1)
	assert carrier(env("batch1.0"))["slurm.restart_count"] == "1"
	E
}

@test "srun without an allocation, and salloc with two steps" {
	as_user srun --lens -N2 -n2 "$PLACE/dump" srun
	as_user salloc --quiet --lens -n2 sh -c "srun $PLACE/dump salloc; srun -n1 false" || true
	JOB=$(tr '\0' '\n' <"$PLACE/srun.0" | sed -n 's/^SLURM_JOB_ID=//p')
	wait_sent "$JOB"
	wait_sent $((JOB + 1))
	expect <<-E
	salloc = $JOB + 1
	assert names($JOB) == ["slurm.job", "slurm.job_attempt", "slurm.job_setup", "slurm.job_start",
	    "slurm.job_teardown", "slurm.phase.queued", "slurm.step", "slurm.step.node",
	    "slurm.task"], names($JOB)
	assert names(salloc) == ["slurm.job", "slurm.job_attempt", "slurm.job_setup", "slurm.job_start",
	    "slurm.job_teardown", "slurm.phase.queued", "slurm.step", "slurm.step", "slurm.task",
	    "slurm.task"], names(salloc)
	for job in $JOB, salloc:
	    assert_tree(of_job(job))
	    assert one(job, "slurm.step", 0)["parent_span_id"] == one(job, "slurm.job", job)["span_id"]
	assert attribute(one($JOB, "slurm.task", "0/1"), "slurm.node.name") == "n2"
	assert status(one(salloc, "slurm.step", 0)) == "unset" and status(one(salloc, "slurm.step", 1)) == "error"
	E
}

@test "an allocation that runs nothing has the job's spans" {
	run -0 as_user salloc --quiet --lens --no-shell -N2
	JOB=$(slurm squeue -h -o %A)
	slurm scancel "$JOB"
	wait_sent "$JOB"
	expect <<-E
	assert names($JOB) == ["slurm.job", "slurm.job_attempt", "slurm.job_start",
	    "slurm.phase.queued"], names($JOB)
	assert_tree(of_job($JOB))
	assert attribute(one($JOB, "slurm.job", $JOB), "slurm.node.name") == "n1"
	assert attribute(one($JOB, "slurm.job", $JOB), "slurm.state") == "CANCELLED"
	assert {attribute(span, "slurm.confidence") for span in of_job($JOB)} == {"synthesized"}
	E
}

@test "array elements: a trace each, one job uuid" {
	JOB=$(submit --lens --array=1-2 "srun -n1 $PLACE/dump element\$SLURM_ARRAY_TASK_ID")
	wait_for 60 test -s "$PLACE/element1.0" -a -s "$PLACE/element2.0"
	local ids
	ids=$(tr '\0' '\n' <"$PLACE/element1.0" | sed -n 's/^SLURM_JOB_ID=//p')
	ids+=,$(tr '\0' '\n' <"$PLACE/element2.0" | sed -n 's/^SLURM_JOB_ID=//p')
	wait_sent "${ids#*,}"
	wait_sent "${ids%,*}"
	expect <<-E
	for task, job in enumerate([$ids], 1):
	    assert_tree(of_job(job))
	    assert {"slurm.job_attempt", "slurm.job", "slurm.batch", "slurm.step", "slurm.task"} <= set(names(job))
	    for span in of_job(job):
	        r = span["resource"]
	        assert r["slurm.job.id"] == f"${JOB}_{task}" and r["slurm.job.id.raw"] == str(job), r
	        assert r["slurm.array.task_id"] == str(task) and r["nv.dl.job.uuid"] == job_uuid($JOB), r
	    assert env(f"element{task}.0")["TRACEPARENT"] == traceparent(job, "slurm.task", "0/0")
	E
}

@test "components of a het job: one trace, a slurm.job each, ranks across both" {
	cat >"$PLACE/job" <<-E
	#!/bin/sh
	#SBATCH --lens -n1 -w n1
	#SBATCH hetjob
	#SBATCH -n2 -w n2
	srun --het-group=0,1 $PLACE/dump het
	E
	JOB=$(as_user sbatch --parsable "$PLACE/job")
	wait_sent "$JOB"
	wait_sent $((JOB + 1))
	expect <<-E
	assert_tree(of_job($JOB))
	assert not names($JOB + 1)
	assert names($JOB).count("slurm.job_attempt") == names($JOB).count("slurm.step") == 1
	leader, other = one($JOB, "slurm.job", $JOB), one($JOB, "slurm.job", $JOB + 1)
	assert attribute(leader, "slurm.node.name") == "n1" and attribute(other, "slurm.node.name") == "n2"
	assert one($JOB, "slurm.step", 0)["parent_span_id"] == leader["span_id"]
	assert attribute(one($JOB, "slurm.step", 0), "slurm.step.tasks") == 3
	assert attribute(one($JOB, "slurm.step.node", "0/n2"), "slurm.step.tasks") == 2
	assert attribute(one($JOB, "slurm.task", "0/2"), "slurm.node.name") == "n2"
	assert enabled("het") == [2]
	for rank, task in enumerate(ranks("het")):
	    a = carrier(task)
	    assert a["nv.dl.rank"] == str(rank) and a["nv.dl.world_size"] == "3" and a["slurm.job.id"] == "$JOB", a
	E
}

@test "a step inside a span of the user's, in this trace, is its child" {
	run_batch --lens "
		TRACEPARENT=\$(echo \$TRACEPARENT | sed 's/-[0-9a-f]*-01\$/-00000000000000aa-01/') srun true
		TRACEPARENT=00-11111111111111111111111111111111-00000000000000aa-01 srun true
		srun true"
	expect <<-E
	job = one($JOB, "slurm.job", $JOB)["span_id"]
	assert [one($JOB, "slurm.step", step)["parent_span_id"] for step in range(3)] == ["00000000000000aa", job, job]
	E
}

@test "JobSpans=always: spans of every job, no variable; never: none" {
	lens_conf <<<"JobSpans=always"
	run_batch -n2 "$PLACE/dump batch; srun $PLACE/dump step"
	local always=$JOB
	lens_conf <<<"JobSpans=never"
	run_batch --lens -n2 "srun $PLACE/dump never"
	rm "$CONF_DIR/lens.conf"
	run_batch -n2 "srun $PLACE/dump plain"
	run_batch --lens true
	expect <<-E
	assert {"slurm.batch", "slurm.job", "slurm.job_attempt", "slurm.step"} <= set(names($always))
	assert_tree(of_job($always))
	assert not ours(env("batch.0")) and not ours(env("step.1"))
	assert enabled("never") == [1]
	# Later jobs' spans are there; the two in between have none.
	assert names($JOB) and not names($JOB - 1) and not names($JOB - 2)
	E
}

@test "the same journals through the file exporter: the same spans, field by field" {
	receiver_answer 503
	JOB=$(submit --lens -N2 -n3 "srun sh -c 'exit \$SLURM_PROCID'")
	wait_job "$JOB"
	"$LENS" agent --stop --state-dir "$STATE_DIR"
	wait_for 10 no_agent
	[ -n "$(state_files "$JOB")" ]
	cp -a "$STATE_DIR" "$SANDBOX/copy"
	rm "$RECEIVED/answer"
	slurm "$LENS" agent --once --state-dir "$SANDBOX/copy" --set Protocol=file --set "File=$PLACE/file.jsonl"
	slurm "$LENS" agent --once --state-dir "$STATE_DIR" --set "Endpoint=$RECEIVER_URL"
	nothing_left
	STATE_DIR=$SANDBOX/copy nothing_left
	expect "$RECEIVED" "$PLACE/file.jsonl" <<-E
	everything = of_job($JOB)
	http = [span for span in everything if not span["source"].endswith("jsonl")]
	file = [span for span in everything if span["source"].endswith("jsonl")]
	assert len(http) == 11, [span["name"] for span in http]
	assert_tree(http)
	assert comparable(http) == comparable(file)
	E
}
