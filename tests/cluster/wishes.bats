#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Whose value wins: what lens set further out is never taken for the user's, and what the user
# set is never lost, with the mark or without it.

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
	cat >"$PLACE/inner" <<-E
	#!/bin/sh
	$PLACE/dump \$1.batch
	srun $PLACE/dump \$1.step
	E
	export OTEL_RESOURCE_ATTRIBUTES=team=a,slurm.segment=mine
}

# What lens sets, for env.
LENS_VALUES="-u OTEL_RESOURCE_ATTRIBUTES -u TRACEPARENT -u NEMO_LENS_ENABLED -u NEMO_LENS_RUN_ID"
LENS_VALUES+=" -u NEMO_LENS_EXPORT_STRATEGY -u NEMO_LENS_EXPORT_RANK -u NEMO_LENS_EXPORT_SAMPLE_RATE"

# users NAME...: each task of these steps of JOB has the user's attributes.
users() {
	expect <<-E
	for name in "$*".split():
	    assert_step(ranks(name), $JOB)
	    for task in ranks(name):
	        a = carrier(task)
	        assert a["team"] == "a" and a["slurm.segment"] == "mine", (name, a)
	E
}

@test "the mark lost, unreadable or forged: the same step" {
	run_batch --lens -n2 "
		env -u SLURM_LENS_MARK srun $PLACE/dump lost
		SLURM_LENS_MARK= srun $PLACE/dump empty
		SLURM_LENS_MARK=garbage srun $PLACE/dump garbage
		SLURM_LENS_MARK=\$(echo \"\$SLURM_LENS_MARK\" | cut -c1-100) srun $PLACE/dump cut
		SLURM_LENS_MARK=v=2,\$SLURM_LENS_MARK srun $PLACE/dump version
		SLURM_LENS_MARK=v=1,job=\$SLURM_JOB_ID,attempt=7,array=9_9,end= srun $PLACE/dump forged
		SLURM_LENS_MARK=v=1,job=77,attempt=7,array=9_9,head=nowhere,end= srun $PLACE/dump foreign"
	users lost empty garbage cut version forged foreign
}

@test "the values lost and the mark kept: derived anew, and what the user took out stays out" {
	run_batch --lens -n2 "
		env $LENS_VALUES srun $PLACE/dump all
		env -u OTEL_RESOURCE_ATTRIBUTES srun $PLACE/dump attributes
		env -u NEMO_LENS_RUN_ID -u TRACEPARENT srun $PLACE/dump others"
	users others
	expect <<-E
	for name in "all", "attributes":
	    assert_step(ranks(name), $JOB)
	    for task in ranks(name):
	        assert not {"team", "slurm.segment"} & set(carrier(task)), carrier(task)
	E
}

@test "what the script edits is the user's from there on" {
	run_batch --lens -n2 "
		OTEL_RESOURCE_ATTRIBUTES=\$OTEL_RESOURCE_ATTRIBUTES,more=1,slurm.job.name=mine srun $PLACE/dump more
		NEMO_LENS_RUN_ID=exp srun $PLACE/dump run
		NEMO_LENS_EXPORT_RANK=0 srun $PLACE/dump rank
		NEMO_LENS_EXPORT_STRATEGY=all_ranks srun sh -c '$PLACE/dump all; srun --overlap -n1 $PLACE/dump inside.\$SLURM_PROCID'
		srun $PLACE/dump plain"
	users plain more
	expect <<-E
	for task in ranks("more"):
	    assert carrier(task)["more"] == "1" and carrier(task)["slurm.job.name"] == "mine"
	assert_step(ranks("run"), $JOB, run="exp")
	assert_step(ranks("rank"), $JOB, export=[0])
	assert_step(ranks("all"), $JOB, export=[0, 1])
	# A wish that lens replaced in the step is in the mark for what runs inside.
	for task in 0, 1:
	    assert_step([env(f"inside.{task}.0")], $JOB, export=[0])
	E
}

@test "exported exactly as lens set it: nothing changes, and nothing is handed to another job" {
	run_batch --lens -n2 "
		export OTEL_RESOURCE_ATTRIBUTES=\"\$OTEL_RESOURCE_ATTRIBUTES\" TRACEPARENT=\$TRACEPARENT
		export NEMO_LENS_RUN_ID=\$SLURM_JOB_ID NEMO_LENS_ENABLED=1 NEMO_LENS_EXPORT_STRATEGY=single_rank
		export NEMO_LENS_EXPORT_RANK=-1 NEMO_LENS_EXPORT_SAMPLE_RATE=1
		srun $PLACE/dump step
		sbatch --wait -n2 $PLACE/inner inner"
	users step
	expect <<-E
	job = env("inner.batch.0")["SLURM_JOB_ID"]
	assert_script(env("inner.batch.0"), job)
	assert_step(ranks("inner.step"), job)
	E
}

@test "a wish that equals the site's is still the user's" {
	as_user env NEMO_LENS_EXPORT_STRATEGY=single_rank NEMO_LENS_ENABLED=1 sbatch --wait -n2 -o /dev/null \
		--wrap "$PLACE/dump batch; srun --lens-strategy=all_ranks $PLACE/dump step; srun $PLACE/dump plain"
	expect <<-E
	job = env("batch.0")["SLURM_JOB_ID"]
	assert_script(env("batch.0"), job)
	assert_step(ranks("step"), job, export=[0, 1])
	assert_step(ranks("plain"), job)
	E
}

@test "a step in a step in a step: once each, and the innermost numbers" {
	run_batch --lens -n2 "
		srun sh -c '$PLACE/dump outer; srun --overlap -n1 sh -c \"$PLACE/dump middle.\$SLURM_PROCID
			srun --overlap -n1 $PLACE/dump inner.\$SLURM_PROCID\"'"
	users outer
	expect <<-E
	for task in 0, 1:
	    for name in f"middle.{task}.0", f"inner.{task}.0":
	        assert_step([env(name)], $JOB)
	        assert carrier(env(name))["team"] == "a"
	E
}

@test "another job's environment, with the mark, without it, and the mark alone" {
	run_batch --lens-user=me -n2 "$PLACE/dump outer; srun -n1 sh -c 'export -p >$PLACE/exported'"
	cat >"$PLACE/other" <<-E
	#!/bin/sh
	mine=\$SLURM_JOB_ID
	. $PLACE/exported
	export SLURM_JOB_ID=\$mine SLURM_JOBID=\$mine
	$PLACE/dump batch
	srun -n1 $PLACE/dump marked
	env -u SLURM_LENS_MARK srun -n1 $PLACE/dump values
	env $LENS_VALUES srun -n1 $PLACE/dump mark
	E
	unset OTEL_RESOURCE_ATTRIBUTES
	wait_job "$(as_user sbatch --parsable --lens -n2 "$PLACE/other")"
	expect <<-E
	job = env("batch.0")["SLURM_JOB_ID"]
	assert job != "$JOB"
	assert_step(ranks("marked"), job)
	assert_step(ranks("mark"), job)
	assert carrier(env("marked.0"))["team"] == "a"
	assert_step(ranks("values"), job)
	E
}

@test "submitted with the mark lost, and with the values lost" {
	run_batch --lens -n1 "
		env -u SLURM_LENS_MARK sbatch --parsable -n2 $PLACE/inner unmarked >$PLACE/submitted
		env -u SLURM_LENS_MARK -u SLURM_JOB_ID -u SLURM_JOBID sbatch --parsable -n2 $PLACE/inner alone >>$PLACE/submitted
		env $LENS_VALUES sbatch --parsable -n2 $PLACE/inner mark >>$PLACE/submitted"
	local job
	while read -r job; do
		wait_job "$job"
	done <"$PLACE/submitted"
	expect <<-E
	for name in "unmarked", "alone", "mark":
	    job = env(f"{name}.batch.0")["SLURM_JOB_ID"]
	    assert job != "$JOB"
	    assert_script(env(f"{name}.batch.0"), job)
	    assert_step(ranks(f"{name}.step"), job)
	    assert carrier(env(f"{name}.batch.0")).get("team") == (None if name == "mark" else "a")
	E
}

@test "the user's words about the job win, those that cannot be do not" {
	export OTEL_RESOURCE_ATTRIBUTES='nemo.run.id=exp,slurm.job.name=mine,slurm.nnodes=many,slurm.ntasks=+7,slurm.cluster.name=,nv.dl.run.uuid=mine'
	run_batch --lens -n2 --lens-attr=slurm.partition=other "$PLACE/dump batch; srun $PLACE/dump step; srun --lens=off $PLACE/dump off"
	expect <<-E
	for task in ranks("batch") + ranks("step"):
	    a = carrier(task)
	    assert a["nemo.run.id"] == task["NEMO_LENS_RUN_ID"] == "exp", a
	    assert a["slurm.job.name"] == "mine" and a["nv.dl.run.uuid"] == "mine", a
	    assert a["slurm.nnodes"] == "1" and a["slurm.ntasks"] == "+7", a
	    assert a["slurm.cluster.name"] == "mini" and a["slurm.partition"] == "other", a
	assert carrier(ranks("step")[1])["service.instance.id"] == "exp-rank1"
	for task in ranks("off"):
	    assert carrier(task) == {
	        "nemo.run.id": "exp", "slurm.job.name": "mine", "slurm.nnodes": "many", "slurm.ntasks": "+7",
	        "slurm.cluster.name": "", "nv.dl.run.uuid": "mine"}, carrier(task)
	E
}
