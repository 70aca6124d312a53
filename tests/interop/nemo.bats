#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# NeMo Lens itself in each task: exactly the ranks that the plugin chose export, under the plugin's
# run id, with what the plugin put into OTEL_RESOURCE_ATTRIBUTES, below our slurm.task. Its release
# 0.1.0 has strategies of its own and names of its own (dl.rank); the plugin's must hold all the same.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	sandbox_create
	ports_create
	the_receiver_up
	sdks_create
	cluster_up -- "Endpoint=$RECEIVER_URL" "TaskEndpoint=$RECEIVER_URL"
	export NEMO_LENS_METRICS_ENABLED=0 # the receiver takes spans
}

teardown_file() {
	interop_destroy
}

setup() {
	place_create
}

# job_of NAME SRUN-OPTION...: two nodes, four ranks; sets JOB. The tasks' words go to PLACE/NAME-words.
job_of() {
	local name=$1
	shift
	# shellcheck disable=SC2016 # the task's shell's
	JOB=$(as_user srun -N2 "$@" --lens-run-id="run of $name, é" --lens-attr=team=a%20b \
		--lens-service=trainer sh -c '
		"$0/dump" "$1" && "$2/run-python" "$2/lens_task.py" >>"$0/$1-words" &&
		{ [ "$SLURM_PROCID" != 0 ] || echo "$SLURM_JOB_ID"; }' "$PLACE" "$name" "$SDK")
	echo "job $JOB"
	wait_sent "$JOB"
	cat "$PLACE/$name-words"
	[ "$(wc -l <"$PLACE/$name-words")" = 4 ]
}

# tasks_export NAME RANKS SRUN-OPTION...: a task is a rank; RANKS, in Python, export.
tasks_export() {
	local name=$1 exporting=$2
	shift 2
	job_of "$name" -n4 --ntasks-per-node=2 "$@"
	expect "$COLLECTED" <<-E
	spans[:] = each_once(spans)
	mine = {span["attributes"]["rank"]: span for span in of_job($JOB) if span["name"] == "rank"}
	assert sorted(mine) == $exporting == enabled("$name"), (sorted(mine), enabled("$name"))
	assert sum(span["name"] == "rank" for span in of_job($JOB)) == len(mine)
	for rank, span in mine.items():
	    given, resource = carrier(ranks("$name")[rank]), span["resource"]
	    assert_carried(given, resource)
	    assert given["team"] == "a b" and given["nemo.run.id"] == "run of $name, é", given
	    assert resource["service.name"] == "trainer", resource
	    assert resource["service.instance.id"] == f"run of $name, é-rank{rank}", resource
	    assert given["nv.dl.rank"] == str(rank) == str(resource["dl.rank"]), (given, resource)
	    assert span["parent_span_id"] == one($JOB, "slurm.task", f"0/{rank}")["span_id"]
	E
}

# launchers_export NAME RANKS SRUN-OPTION...: a task starts two ranks, the library chooses.
launchers_export() {
	local name=$1 exporting=$2
	shift 2
	LENS_TASK_RANKS=2 job_of "$name" -n2 --ntasks-per-node=1 --lens-ranks=launcher "$@"
	expect "$COLLECTED" <<-E
	spans[:] = each_once(spans)
	mine = {span["attributes"]["rank"]: span for span in of_job($JOB) if span["name"] == "rank"}
	assert sorted(mine) == $exporting, sorted(mine)
	assert sum(span["name"] == "rank" for span in of_job($JOB)) == len(mine)
	assert enabled("$name") == [0, 1], enabled("$name")
	for rank, span in mine.items():
	    given, resource = carrier(ranks("$name")[rank // 2]), span["resource"]
	    assert_carried(given, resource)
	    assert given["team"] == "a b" and given["nemo.run.id"] == "run of $name, é", given
	    assert resource["service.name"] == "trainer", resource
	    assert "nv.dl.rank" not in given and "nv.dl.rank" not in resource, (given, resource)
	    assert resource["dl.rank"] == rank and resource["dl.world_size"] == 4, resource
	    assert span["parent_span_id"] == one($JOB, "slurm.task", f"0/{rank // 2}")["span_id"]
	E
}

@test "task mode: single_rank, the last and a chosen one" {
	tasks_export last "[3]" --lens
	tasks_export chosen "[1]" --lens-strategy=single_rank --lens-rank=1
}

@test "task mode: all_ranks, sampled, first_rank_per_node" {
	tasks_export all "[0, 1, 2, 3]" --lens-strategy=all_ranks
	tasks_export node "[0, 2]" --lens-strategy=first_rank_per_node
	tasks_export sampled "exporting(4, 0.8)" --lens-strategy=sampled --lens-sample-rate=0.8
}

@test "launcher mode: single_rank, the last and a chosen one" {
	launchers_export last "[3]" --lens
	launchers_export chosen "[1]" --lens-strategy=single_rank --lens-rank=1
}

@test "launcher mode: all_ranks, sampled, first_rank_per_node" {
	launchers_export all "[0, 1, 2, 3]" --lens-strategy=all_ranks
	launchers_export node "[0, 2]" --lens-strategy=first_rank_per_node
	launchers_export sampled "exporting(4, 0.8)" --lens-strategy=sampled --lens-sample-rate=0.8
}

@test "NEMO_LENS_ENABLED=0: nothing comes out" {
	local off
	NEMO_LENS_ENABLED=0 job_of off -n4 --lens --lens-strategy=all_ranks
	off=$JOB
	[ "$(grep -c 'is silent' "$PLACE/off-words")" = 4 ]
	# A later job's have arrived: this one's would have, too.
	tasks_export on "[0, 1, 2, 3]" --lens-strategy=all_ranks
	expect "$COLLECTED" <<-E
	spans[:] = each_once(spans)
	assert not [span for span in spans if span["resource"].get("slurm.job.id.raw") == "$off"
	    or span["resource"].get("slurm.job.id") == "$off"]
	assert not of_job($off)
	E
}
