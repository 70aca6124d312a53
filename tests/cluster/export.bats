#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# --export on sbatch and on srun, options on either and on both: what is chosen holds, what
# is not exported is gone.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	sandbox_create
	cluster_up
}

teardown_file() {
	sandbox_destroy
}

setup() {
	place_create
	export OTEL_RESOURCE_ATTRIBUTES=team=a
}

@test "sbatch --export=NONE and NIL: the identity is whole, the user's variables are gone" {
	local none nil
	none=$(submit --lens --export=NONE -N2 -n2 "$PLACE/dump none.batch; srun $PLACE/dump none.step")
	nil=$(submit --lens --export=NIL -N2 -n2 "$PLACE/dump nil.batch; srun $PLACE/dump nil.step")
	wait_job "$none"
	wait_job "$nil"
	expect <<-E
	for name, job in ("none", $none), ("nil", $nil):
	    assert_script(env(f"{name}.batch.0"), job)
	    assert_step(ranks(f"{name}.step"), job)
	    for task in ranks(f"{name}.batch") + ranks(f"{name}.step"):
	        a = carrier(task)
	        assert "team" not in a and a["slurm.head_node.name"] == "n1", (name, a)
	E
}

@test "sbatch --export=ALL,NAME=VALUE and a list of names" {
	local all list
	all=$(submit --lens --export=ALL,NEMO_LENS_RUN_ID=exp,OTEL_RESOURCE_ATTRIBUTES=more=1 -n2 \
		"$PLACE/dump all.batch; srun $PLACE/dump all.step")
	list=$(submit --lens --export=NEMO_LENS_RUN_ID=exp -n2 \
		"$PLACE/dump list.batch; srun $PLACE/dump list.step")
	wait_job "$all"
	wait_job "$list"
	expect <<-E
	for name, job in ("all", $all), ("list", $list):
	    assert_script(env(f"{name}.batch.0"), job, run="exp")
	    assert_step(ranks(f"{name}.step"), job, run="exp")
	for task in ranks("list.batch") + ranks("list.step"):
	    assert not {"team", "more"} & set(carrier(task)), carrier(task)
	# Slurm lets the value of the shell stand (22.05), or takes that of the option.
	values = [(carrier(task).get("team"), carrier(task).get("more")) for task in ranks("all.batch") + ranks("all.step")]
	assert len(set(values)) == 1 and values[0] in (("a", None), (None, "1")), values
	E
}

@test "srun --export=NONE and NIL in a job" {
	run_batch --lens --array=4 -N2 -n2 "
		srun --export=NONE $PLACE/dump none
		srun --export=NIL $PLACE/dump nil
		srun $PLACE/dump plain"
	expect <<-E
	job = env("plain.0")["SLURM_JOB_ID"]
	for name in "none", "nil", "plain":
	    assert len(ranks(name)) == 2
	    assert_step(ranks(name), job, element=("$JOB", 4))
	    for task in ranks(name):
	        a = carrier(task)
	        assert a.get("team") == ("a" if name == "plain" else None), (name, a)
	        assert a["slurm.head_node.name"] == "n1", (name, a)
	E
}

@test "srun --export=ALL,NAME=VALUE and a list of names in a job" {
	run_batch --lens -n2 "
		srun --export=ALL,OTEL_RESOURCE_ATTRIBUTES=x=1,NEMO_LENS_RUN_ID=exp $PLACE/dump all
		srun --export=NEMO_LENS_EXPORT_STRATEGY=all_ranks $PLACE/dump list
		srun --export=ALL,NEMO_LENS_ENABLED=0 $PLACE/dump off
		srun $PLACE/dump after"
	expect <<-E
	assert_step(ranks("all"), $JOB, run="exp")
	assert_step(ranks("list"), $JOB, export=[0, 1])
	assert_step(ranks("after"), $JOB)
	assert {carrier(task).get("team") for task in ranks("list")} == {None}
	assert {carrier(task)["team"] for task in ranks("after")} == {"a"}
	for task in ranks("off"):
	    assert ours(task) == ["NEMO_LENS_ENABLED", "OTEL_RESOURCE_ATTRIBUTES"], ours(task)
	    assert task["NEMO_LENS_ENABLED"] == "0" and carrier(task) == {"team": "a"}
	E
}

@test "srun --export=ALL,NEMO_LENS_ENABLED=1 opts a step in inside a plain job" {
	run_batch -n2 "srun --export=ALL,NEMO_LENS_ENABLED=1 $PLACE/dump on; srun $PLACE/dump plain"
	expect <<-E
	assert_step(ranks("on"), $JOB)
	assert {carrier(task)["team"] for task in ranks("on")} == {"a"}
	for task in ranks("plain"):
	    assert ours(task) == ["OTEL_RESOURCE_ATTRIBUTES"], ours(task)
	E
}

# both_ways NAME [SBATCH-OPTION...]: options on sbatch, on srun, and on both.
both_ways() {
	local name=$1
	shift
	run_batch "$@" --lens-run-id=of-sbatch --lens-user=me --lens-strategy=all_ranks -n2 "
		$PLACE/dump $name.batch
		srun $PLACE/dump $name.sbatch
		srun --lens-run-id=of-srun --lens-strategy=single_rank --lens-rank=0 $PLACE/dump $name.both
		srun --lens=off $PLACE/dump $name.off"
	expect <<-E
	assert_script(env("$name.batch.0"), $JOB, run="of-sbatch")
	assert_step(ranks("$name.sbatch"), $JOB, export=[0, 1], run="of-sbatch")
	assert_step(ranks("$name.both"), $JOB, export=[0], run="of-srun")
	for task in ranks("$name.batch") + ranks("$name.sbatch") + ranks("$name.both"):
	    assert carrier(task)["nemo.user.id"] == task["NEMO_LENS_USER_ID"] == "me"
	for task in ranks("$name.off"):
	    assert not [name for name in ours(task) if name != "OTEL_RESOURCE_ATTRIBUTES"], ours(task)
	E
}

@test "options on sbatch hold in all steps, an option on srun wins there" {
	both_ways plain
}

@test "the same with --export=NONE" {
	both_ways bare --export=NONE
}

@test "options on srun alone, in a plain job" {
	run_batch -n2 "$PLACE/dump batch; srun --lens-rank=0 --lens-attr=x=a%20b $PLACE/dump step"
	expect <<-E
	assert ours(env("batch.0")) == ["OTEL_RESOURCE_ATTRIBUTES"]
	assert_step(ranks("step"), $JOB, export=[0])
	for task in ranks("step"):
	    assert carrier(task)["x"] == "a b" and carrier(task)["team"] == "a"
	E
}

@test "options on salloc, and in #SBATCH lines" {
	cat >"$PLACE/job" <<-E
	#!/bin/sh
	#SBATCH -n2 --lens --lens-rank=0
	srun $PLACE/dump script
	srun --lens-rank=1 $PLACE/dump srun
	E
	wait_job "$(as_user sbatch --parsable "$PLACE/job")"
	as_user salloc --quiet -n2 --lens-rank=0 sh -c "
		srun $PLACE/dump salloc; srun --lens-rank=-1 $PLACE/dump last" </dev/null
	expect <<-E
	for name, rank in ("script", 0), ("srun", 1), ("salloc", 0), ("last", 1):
	    assert_step(ranks(name), ranks(name)[0]["SLURM_JOB_ID"], export=[rank])
	E
}
