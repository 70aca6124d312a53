#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Real SDKs in real tasks: each reads the OTEL_RESOURCE_ATTRIBUTES and the TRACEPARENT that the
# plugin set, and what it exports is below our slurm.task in the collector.

bats_require_minimum_version 1.5.0
load helpers

# Odd names: each of the characters that an encoding, a shell or a parser could trip over.
export ODD="trän, 7B=50% of 'a' + \"b\"; c\\d %2C%ZZ 🚀 日本"

setup_file() {
	sandbox_create
	ports_create
	the_receiver_up
	sdks_create
	cluster_up -- "Endpoint=$RECEIVER_URL" "TaskEndpoint=$RECEIVER_URL"
}

teardown_file() {
	interop_destroy
}

setup() {
	place_create
}

# traces_of NAME COMMAND...: two ranks on two nodes, each a task of the SDK; then all of the job.
traces_of() {
	local name=$1 job
	shift
	# shellcheck disable=SC2016 # the task's shell's
	job=$(as_user srun -N2 -n2 -J "$ODD" --lens-strategy=all_ranks --lens-run-id="of $name, é" \
		--lens-attr='team=caf%C3%A9%20%22%5C%2C%3D,note=%F0%9F%9A%80%25' sh -c '
		"$0/dump" "$1" && shift && "$@" && { [ "$SLURM_PROCID" != 0 ] || echo "$SLURM_JOB_ID"; }' \
		"$PLACE" "$name" "$@")
	echo "job $job"
	wait_sent "$job"
	expect "$COLLECTED" <<-E
	spans[:] = each_once(spans)
	import os
	mine = [span for span in of_job($job) if span["name"] == "of $name"]
	assert len(mine) == 2, names($job)
	for rank, task in enumerate(ranks("$name")):
	    given = carrier(task)
	    assert given["slurm.job.name"] == os.environ["ODD"], given["slurm.job.name"]
	    assert given["nemo.run.id"] == "of $name, é" and given["note"] == "🚀%", given
	    assert given["team"] == 'café "\\\\,=', given["team"]
	    parent = one($job, "slurm.task", f"0/{rank}")
	    own = [span for span in mine if span["parent_span_id"] == parent["span_id"]]
	    assert len(own) == 1, (rank, mine)
	    assert_carried(given, own[0]["resource"])
	    assert given["nv.dl.rank"] == str(rank), given
	    assert parent["start"] <= own[0]["start"] <= own[0]["end"] <= parent["end"], (parent, own)
	E
}

@test "Python: opentelemetry-sdk" {
	traces_of python "$SDK/run-python" "$SDK/task.py" "of python"
}

@test "JavaScript: @opentelemetry/sdk-node" {
	traces_of javascript node "$SDK/task.mjs" "of javascript"
}

@test "Go: go.opentelemetry.io/otel/sdk" {
	traces_of go "$SDK/task-go" "of go"
}

# silenced NAME COMMAND...: with Gate=otel, of two ranks the last alone exports.
silenced() {
	local name=$1 job
	shift
	# shellcheck disable=SC2016 # the task's shell's
	job=$(as_user srun -N2 -n2 --lens sh -c '
		"$@" && { [ "$SLURM_PROCID" != 0 ] || echo "$SLURM_JOB_ID"; }' sh "$@")
	expect "$COLLECTED" <<-E
	spans[:] = each_once(spans)
	mine = [span for span in of_job($job) if span["name"] == "$name"]
	assert [span["resource"]["nv.dl.rank"] for span in mine] == ["1"], mine
	E
}

# Go's SDK knows no OTEL_SDK_DISABLED.
@test "Gate=otel: Python and JavaScript are silent on ranks that do not export" {
	lens_conf <<<'Gate=otel'
	silenced "gated python" "$SDK/run-python" "$SDK/task.py" "gated python"
	silenced "gated javascript" node "$SDK/task.mjs" "gated javascript"
}
