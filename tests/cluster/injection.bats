#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What the tasks of an opted-in job find in their environment.

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
}

# plain_jobs PREFIX [OPTION]: a task of each kind, of a user whose own variables are
# neither tidy nor empty.
plain_jobs() {
	local prefix=$1
	shift
	export OTEL_RESOURCE_ATTRIBUTES='a=1,,b=%ZZ ,' TRACEPARENT=mine NEMO_LENS_RUN_ID='' RANK=7
	# On an idle node that is named: its CPUs and the list of nodes are the same.
	set -- "$@" -J same -w n1
	run_batch "$@" -n2 "$PLACE/dump $prefix-batch; srun -n2 $PLACE/dump $prefix-step"
	wait_for 30 all_idle
	as_user srun "$@" -n2 "$PLACE/dump" "$prefix-srun"
	wait_for 30 all_idle
	as_user salloc --quiet "$@" -n1 sh -c \
		"$PLACE/dump $prefix-salloc; srun $PLACE/dump $prefix-salloc"
	wait_for 30 all_idle
	unset OTEL_RESOURCE_ATTRIBUTES TRACEPARENT NEMO_LENS_RUN_ID RANK
}

# masked FILE: without the values that no two jobs share.
masked() {
	sed -zE 's/^(SLURM_(JOB_?ID|JOB_SLUID|JOB_(START|END)_TIME|TASK_PID|SRUN_COMM_PORT|STEP_LAUNCHER_PORT))=.*/\1=/' "$1"
}

differing() { # PREFIX PREFIX
	local file
	for file in "$PLACE/$1"-*; do
		cmp -s <(masked "$file") <(masked "${file/"$1-"/"$2-"}") && continue
		echo "${file##*/"$1"-}"
		diff -a <(masked "$file" | tr '\0' '\n') <(masked "${file/"$1-"/"$2-"}" | tr '\0' '\n') >&2
	done
}

@test "without --lens an environment is the same, byte for byte, as without the plugin" {
	plain_jobs with
	plain_jobs opted --lens
	mv "$CONF_DIR/plugstack.conf" "$CONF_DIR/plugstack.away"
	: >"$CONF_DIR/plugstack.conf"
	plain_jobs without
	mv "$CONF_DIR/plugstack.away" "$CONF_DIR/plugstack.conf"
	[ "$(find "$PLACE" -name 'with-*' | wc -l)" = 7 ]
	[ "$(differing with without)" = "" ]
	# The comparison sees what --lens adds.
	[ "$(differing opted without | wc -l)" = 7 ]
}

@test "batch script: the job's identity, always enabled, no rank" {
	run_batch --lens -N2 -n4 -J 'train, 7B' "$PLACE/dump batch"
	expect <<-E
	batch = env("batch.0")
	a = carrier(batch)
	assert batch["NEMO_LENS_ENABLED"] == "1" and batch["NEMO_LENS_RUN_ID"] == "$JOB"
	assert batch["TRACEPARENT"] == traceparent($JOB, "slurm.batch", $JOB)
	assert a["slurm.job.id"] == a["slurm.job.id.raw"] == a["nemo.run.id"] == "$JOB"
	assert a["slurm.array.job_id"] == "$JOB" and a["slurm.array.task_id"] == "0"
	assert a["slurm.job.name"] == "train, 7B" and a["slurm.cluster.name"] == "mini"
	assert a["slurm.partition"] == "p" and a["slurm.job.user"] == "www-data"
	assert a["slurm.nnodes"] == "2" and a["slurm.ntasks"] == "4"
	assert a["slurm.head_node.name"] == "n1" and a["slurm.restart_count"] == "0"
	assert a["host.name"] == "$(uname -n)"
	assert a["nv.dl.job.uuid"] == job_uuid($JOB) and a["nv.dl.run.uuid"] == run_uuid($JOB)
	assert not [key for key in a if key.startswith("nv.dl.") and "rank" in key]
	assert "service.instance.id" not in a and "deployment.environment" not in a
	assert not {"RANK", "WORLD_SIZE", "LOCAL_RANK"} & set(batch)
	E
}

@test "srun in a batch script: four ranks on two nodes, the last one exports" {
	run_batch --lens -N2 -n4 "srun $PLACE/dump first; srun -n2 -N2 $PLACE/dump second"
	expect <<-E
	first, second = ranks("first"), ranks("second")
	assert len(first) == 4 and len(second) == 2
	assert enabled("first") == [3] and enabled("second") == [1]
	for step, tasks in enumerate((first, second)):
	    for rank, task in enumerate(tasks):
	        a = carrier(task)
	        assert a["nv.dl.rank"] == task["SLURM_PROCID"] == str(rank)
	        assert a["nv.dl.local_rank"] == task["SLURM_LOCALID"]
	        assert a["nv.dl.world_size"] == a["slurm.ntasks"] == str(len(tasks))
	        assert a["service.instance.id"] == f"$JOB-rank{rank}"
	        assert a["nemo.run.id"] == task["NEMO_LENS_RUN_ID"] == "$JOB"
	        assert a["slurm.nnodes"] == "2" and a["slurm.head_node.name"] == "n1"
	        assert a["nv.dl.run.uuid"] == run_uuid($JOB)
	        assert task["NEMO_LENS_EXPORT_STRATEGY"] == "all_ranks"
	        name, place = "slurm.step", step
	        if task["NEMO_LENS_ENABLED"] == "1":
	            name, place = "slurm.task", f"{step}/{rank}"
	        assert task["TRACEPARENT"] == traceparent($JOB, name, place), (step, rank)
	assert [task["SLURMD_NODENAME"] for task in second] == ["n1", "n2"]
	E
}

@test "srun without an allocation, for a user and for root" {
	as_user srun --lens -N2 -n2 "$PLACE/dump" user
	slurm srun --lens -n1 "$PLACE/dump" root
	expect <<-E
	user, root = ranks("user"), ranks("root")
	for tasks, name in ((user, "www-data"), (root, "root")):
	    job = tasks[0]["SLURM_JOB_ID"]
	    assert {carrier(task)["slurm.job.id.raw"] for task in tasks} == {job}
	    assert {carrier(task)["slurm.job.user"] for task in tasks} == {name}
	    last = len(tasks) - 1
	    assert tasks[last]["TRACEPARENT"] == traceparent(job, "slurm.task", f"0/{last}")
	assert enabled("user") == [1] and enabled("root") == [0]
	E
}

@test "salloc: its steps, not its shell" {
	as_user salloc --quiet --lens -N2 -n4 sh -c "$PLACE/dump shell; srun $PLACE/dump step"
	expect <<-E
	assert not ours(env("shell.shell"))
	assert enabled("step") == [3]
	job = env("shell.shell")["SLURM_JOB_ID"]
	assert {carrier(task)["nemo.run.id"] for task in ranks("step")} == {job}
	E
}

@test "the strategies, by option and by variable" {
	run_batch --lens -N2 -n6 "
		srun --lens-strategy=all_ranks $PLACE/dump all
		srun --lens-strategy=first_rank_per_node $PLACE/dump node
		srun --lens-strategy=sampled --lens-sample-rate=0.25 $PLACE/dump sampled
		srun --lens-rank=2 $PLACE/dump two
		NEMO_LENS_EXPORT_STRATEGY=first_rank_per_node srun $PLACE/dump variable
		NEMO_LENS_EXPORT_RANK=1 srun --lens-strategy=single_rank $PLACE/dump one
		srun --lens-rank=6 $PLACE/dump none
		srun $PLACE/dump last"
	expect <<-E
	assert enabled("all") == [0, 1, 2, 3, 4, 5]
	first_on_n2 = [task["SLURMD_NODENAME"] for task in ranks("node")].index("n2")
	assert enabled("node") == enabled("variable") == [0, first_on_n2]
	assert enabled("sampled") == exporting(6, 0.25) == [3, 4, 5]
	assert enabled("two") == [2] and enabled("one") == [1] and enabled("none") == []
	assert enabled("last") == [5]
	for name in "all", "node", "sampled", "two", "variable", "one", "none", "last":
	    assert {task["NEMO_LENS_RUN_ID"] for task in ranks(name)} == {"$JOB"}
	E
}

@test "a run id holds everywhere inside, by option or variable" {
	run_batch --lens-run-id=exp-1 -n2 "$PLACE/dump batch; srun $PLACE/dump step"
	as_user env NEMO_LENS_RUN_ID=exp-2 srun --lens -n2 "$PLACE/dump" variable
	expect <<-E
	tasks = ranks("batch") + ranks("step")
	assert {task["NEMO_LENS_RUN_ID"] for task in tasks} == {"exp-1"}
	assert {carrier(task)["nemo.run.id"] for task in tasks} == {"exp-1"}
	assert {carrier(task)["nv.dl.run.uuid"] for task in tasks} == {run_uuid($JOB)}
	assert carrier(ranks("step")[1])["service.instance.id"] == "exp-1-rank1"
	assert {carrier(task)["nemo.run.id"] for task in ranks("variable")} == {"exp-2"}
	E
}

@test "the user's own attributes and trace are kept, once" {
	export OTEL_RESOURCE_ATTRIBUTES='team=a%2Cb, slurm.job.name=mine,nv.dl.rank=x'
	run_batch --lens -n2 "
		$PLACE/dump batch
		srun -n1 $PLACE/dump plain
		OTEL_RESOURCE_ATTRIBUTES=\$OTEL_RESOURCE_ATTRIBUTES,more=1 srun -n1 $PLACE/dump more
		OTEL_SERVICE_NAME=svc srun -n1 $PLACE/dump service"
	unset OTEL_RESOURCE_ATTRIBUTES
	expect <<-E
	for name in "batch.0", "plain.0", "more.0":
	    a = carrier(env(name))
	    assert a["team"] == "a,b" and a["slurm.job.name"] == "mine" and a["nv.dl.rank"] == "x"
	    assert a["slurm.job.id"] == "$JOB"
	assert carrier(env("more.0"))["more"] == "1"
	assert "slurm.step.id" not in carrier(env("plain.0"))
	assert env("service.0")["OTEL_SERVICE_NAME"] == "svc"
	assert "OTEL_SERVICE_NAME" not in env("plain.0")
	E
}

@test "srun --export=ALL,NAME=VALUE still counts inside an opted-in job" {
	run_batch --lens "
		srun --export=ALL,OTEL_RESOURCE_ATTRIBUTES=x=1,NEMO_LENS_RUN_ID=exp $PLACE/dump export"
	expect <<-E
	task = env("export.0")
	a = carrier(task)
	assert a["x"] == "1" and a["nv.dl.rank"] == "0" and a["slurm.job.id"] == "$JOB"
	assert a["nemo.run.id"] == task["NEMO_LENS_RUN_ID"] == "exp"
	E
}

@test "--export=NONE: for the job and for a step" {
	run_batch --lens --export=NONE -n2 "
		$PLACE/dump batch; srun $PLACE/dump inherited; srun --export=ALL $PLACE/dump all"
	expect <<-E
	assert env("batch.0")["TRACEPARENT"] == traceparent($JOB, "slurm.batch", $JOB)
	for name in "inherited", "all":
	    assert enabled(name) == [1]
	    assert [carrier(task)["nv.dl.rank"] for task in ranks(name)] == ["0", "1"]
	    assert {carrier(task)["slurm.head_node.name"] for task in ranks(name)} == {"n1"}
	E
}

@test "a job submitted from inside a job is its own" {
	export OTEL_RESOURCE_ATTRIBUTES=team=a
	run_batch --lens --array=3 -n2 "srun sh -c 'test \$SLURM_PROCID = 0 || sbatch --parsable -n2 \
		--wrap \"$PLACE/dump batch; srun $PLACE/dump step\" >$PLACE/inner'; srun $PLACE/dump outer"
	unset OTEL_RESOURCE_ATTRIBUTES
	local inner
	inner=$(cat "$PLACE/inner")
	wait_job "$inner"
	expect <<-E
	for task in ranks("outer"):
	    a = carrier(task)
	    assert a["slurm.job.id"] == "${JOB}_3" and a["slurm.array.task_id"] == "3", a
	    assert a["nv.dl.job.uuid"] == job_uuid($JOB), a
	for task in ranks("batch") + ranks("step"):
	    a = carrier(task)
	    assert a["slurm.job.id"] == a["slurm.job.id.raw"] == a["nemo.run.id"] == "$inner", a
	    assert a["slurm.array.job_id"] == "$inner" and a["slurm.array.task_id"] == "0", a
	    assert a["nv.dl.run.uuid"] == run_uuid($inner) and a["team"] == "a", a
	    assert task["NEMO_LENS_RUN_ID"] == "$inner"
	    assert not [name for name in task if name.startswith("SLURM_ARRAY_")]
	assert enabled("step") == [1]
	assert env("batch.0")["TRACEPARENT"] == traceparent($inner, "slurm.batch", $inner)
	E
}

@test "NEMO_LENS_ENABLED=0 silences --lens in a script" {
	cat >"$PLACE/job" <<-E
	#!/bin/sh
	#SBATCH --lens --lens-run-id=exp
	$PLACE/dump batch
	srun $PLACE/dump step
	E
	wait_job "$(as_user env NEMO_LENS_ENABLED=0 sbatch --parsable "$PLACE/job")"
	expect <<-E
	for name in "batch.0", "step.0":
	    assert ours(env(name)) == ["NEMO_LENS_ENABLED"], ours(env(name))
	    assert env(name)["NEMO_LENS_ENABLED"] == "0"
	E
}

@test "NEMO_LENS_ENABLED=1 is as good as --lens" {
	as_user env NEMO_LENS_ENABLED=1 srun -n2 "$PLACE/dump" step
	expect <<-E
	assert enabled("step") == [1]
	E
}

@test "--lens=off: the step finds the user's own values" {
	export OTEL_RESOURCE_ATTRIBUTES='team=a,slurm.job.name=mine' TRACEPARENT=mine
	run_batch --lens -n2 "
		$PLACE/dump batch
		srun --lens=off $PLACE/dump off
		srun $PLACE/dump on"
	unset OTEL_RESOURCE_ATTRIBUTES TRACEPARENT
	expect <<-E
	assert env("batch.0")["TRACEPARENT"] == traceparent($JOB, "slurm.batch", $JOB)
	for task in ranks("off"):
	    assert ours(task) == ["OTEL_RESOURCE_ATTRIBUTES", "TRACEPARENT"], ours(task)
	    assert carrier(task) == {"team": "a", "slurm.job.name": "mine"}
	    assert task["TRACEPARENT"] == "mine"
	assert enabled("on") == [1]
	E
}

@test "a step opts in inside a plain job" {
	run_batch -n2 "$PLACE/dump batch; srun --lens $PLACE/dump on; srun $PLACE/dump plain"
	expect <<-E
	assert not ours(env("batch.0")) and not ours(env("plain.0"))
	assert enabled("on") == [1]
	assert ranks("on")[0]["TRACEPARENT"] == traceparent($JOB, "slurm.step", 0)
	E
}
