#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Jobs that are submitted from inside jobs: each is its own, and keeps what the user chose.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	sandbox_create
	cluster_up --nodes 3
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
	export OTEL_RESOURCE_ATTRIBUTES=team=a
}

# inner NAME [SBATCH-OPTION...]: the text that submits one.
inner() {
	local name=$1
	shift
	echo "sbatch --parsable -n2 -o /dev/null $* $PLACE/inner $name >>$PLACE/submitted;"
}

# run_outer [SBATCH-OPTION...] COMMAND: until it and all that it submitted is over.
run_outer() {
	local job
	run_batch "$@"
	while read -r job; do
		wait_job "$job"
	done <"$PLACE/submitted"
}

# own_job NAME [USERS-ATTRIBUTES]: what ran as NAME is a job of its own, no element, first attempt.
own_job() {
	expect <<-E
	job = env("$1.batch.0")["SLURM_JOB_ID"]
	assert job not in {env(name)["SLURM_JOB_ID"] for name in os.listdir(DUMPS) if name.startswith("outer")}
	assert_script(env("$1.batch.0"), job)
	assert_step(ranks("$1.step"), job)
	assert len(ranks("$1.step")) == 2
	for task in ranks("$1.batch") + ranks("$1.step"):
	    assert not [name for name in task if name.startswith("SLURM_ARRAY_")], name
	    assert carrier(task).get("team") == ${2:-"'a'"}, carrier(task)
	    assert carrier(task)["slurm.ntasks"] == "2" and carrier(task)["slurm.nnodes"] == "1"
	E
}

@test "from a batch script, with its environment and with --export=NONE" {
	run_outer --lens -N2 -n3 "$PLACE/dump outer.batch
		$(inner plain) $(inner bare --export=NONE) srun $PLACE/dump outer.step"
	own_job plain
	own_job bare None
	expect <<-E
	assert_script(env("outer.batch.0"), $JOB)
	assert_step(ranks("outer.step"), $JOB)
	E
}

@test "from a task of a step" {
	run_outer --lens -n3 "$PLACE/dump outer.batch
		srun -n1 sh -c '$PLACE/dump outer.step; $(inner plain) $(inner bare --export=NONE)'"
	own_job plain
	own_job bare None
}

@test "from an element of an array" {
	run_outer --lens --array=2 -n2 "$PLACE/dump outer.batch
		$(inner plain) $(inner bare --export=NONE) srun $PLACE/dump outer.step"
	own_job plain
	own_job bare None
	expect <<-E
	raw = env("outer.batch.0")["SLURM_JOB_ID"]
	assert_script(env("outer.batch.0"), raw, element=("$JOB", 2))
	assert_step(ranks("outer.step"), raw, element=("$JOB", 2))
	E
}

@test "from an element of an array that is not lens's" {
	run_outer --array=2 -n2 "$PLACE/dump outer.batch
		$(inner plain --lens) $(inner bare --lens --export=NONE)"
	own_job plain
	own_job bare None
	expect <<-E
	assert ours(env("outer.batch.0")) == ["OTEL_RESOURCE_ATTRIBUTES"]
	E
}

@test "an array from inside an array" {
	run_outer --lens --array=2 -n1 "$PLACE/dump outer.batch; $(inner element --array=9)"
	expect <<-E
	job = env("element.batch.0")["SLURM_JOB_ID"]
	array = env("element.batch.0")["SLURM_ARRAY_JOB_ID"]
	assert array not in ("$JOB", env("outer.batch.0")["SLURM_JOB_ID"])
	assert_script(env("element.batch.0"), job, element=(array, 9))
	assert_step(ranks("element.step"), job, element=(array, 9))
	E
}

@test "salloc and a srun that makes its own allocation" {
	run_batch --lens --array=2 -n1 "$PLACE/dump outer.batch
		salloc --quiet -n2 srun $PLACE/dump salloc </dev/null
		env -u SLURM_JOB_ID -u SLURM_JOBID -u SLURM_NTASKS -u SLURM_NPROCS \
			-u SLURM_JOB_NODELIST -u SLURM_NODELIST srun -n2 $PLACE/dump srun"
	expect <<-E
	for name in "salloc", "srun":
	    job = ranks(name)[0]["SLURM_JOB_ID"]
	    assert job != env("outer.batch.0")["SLURM_JOB_ID"]
	    assert len(ranks(name)) == 2
	    assert_step(ranks(name), job)
	    for task in ranks(name):
	        a = carrier(task)
	        assert a["team"] == "a" and "slurm.head_node.name" not in a, (name, a)
	E
}

@test "an option goes along, what was made of the job id does not" {
	run_outer --lens-run-id=exp --lens-user=me --lens-strategy=all_ranks -n1 \
		"$PLACE/dump outer.batch; $(inner plain) $(inner bare --export=NONE) $(inner named --lens-run-id=other)"
	expect <<-E
	for name, run in ("plain", "exp"), ("bare", "exp"), ("named", "other"):
	    job = env(f"{name}.batch.0")["SLURM_JOB_ID"]
	    assert_script(env(f"{name}.batch.0"), job, run=run)
	    assert_step(ranks(f"{name}.step"), job, export=[0, 1], run=run)
	    assert {carrier(task)["nemo.user.id"] for task in ranks(f"{name}.step")} == {"me"}
	E
}

@test "--lens=off: the inner job has what the user had" {
	run_outer --lens -n2 "$PLACE/dump outer.batch
		$(inner plain --lens=off) $(inner bare --lens=off --export=NONE)"
	expect <<-E
	for task in ranks("plain.batch") + ranks("plain.step"):
	    assert ours(task) == ["OTEL_RESOURCE_ATTRIBUTES"], ours(task)
	    assert task["OTEL_RESOURCE_ATTRIBUTES"] == "team=a"
	for task in ranks("bare.batch") + ranks("bare.step"):
	    assert ours(task) == [], ours(task)
	E
}

@test "a step of another job, from inside an element of an array" {
	local other
	other=$(submit --lens -n2 "$PLACE/dump other.batch; until test -e $PLACE/end; do sleep 0.1; done")
	wait_for 30 test -s "$PLACE/other.batch.0"
	run_batch --lens --array=2 -n1 "$PLACE/dump outer.batch
		srun --jobid=$other --overlap -n2 $PLACE/dump step"
	touch "$PLACE/end"
	wait_job "$other"
	expect <<-E
	assert_step(ranks("step"), $other)
	E
}
