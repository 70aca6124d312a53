#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Every way of starting work: each process is told what it is.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	sandbox_create
	cat >"$SANDBOX/task_prolog" <<-'E'
	#!/bin/sh
	[ -n "$WITH_TASK_PROLOG" ] || exit 0
	echo "export TASK_PROLOG_SAW=$TRACEPARENT"
	echo "export OTEL_RESOURCE_ATTRIBUTES=${OTEL_RESOURCE_ATTRIBUTES%,site=*},site=of-the-prolog"
	E
	chmod 755 "$SANDBOX/task_prolog"
	with_prolog_flags Contain
}

teardown_file() {
	sandbox_destroy
}

setup() {
	place_create
	[ "$(prolog_flags)" = Contain ] || with_prolog_flags Contain
}

# with_prolog_flags [FLAGS]: a cluster that has them, in place of the one that is there.
with_prolog_flags() {
	cluster_down
	rm -rf "$SANDBOX/cluster"
	mkdir "$SANDBOX/cluster"
	cluster_up --conf LaunchParameters=use_interactive_step \
		--conf "TaskProlog=$SANDBOX/task_prolog" ${1:+--conf "PrologFlags=$1"}
	echo "${1:-}" >"$SANDBOX/prolog_flags"
}

prolog_flags() {
	cat "$SANDBOX/prolog_flags"
}

# shell_runs COMMAND SALLOC-OPTION...: an interactive allocation on a terminal, whose shell
# runs that. Nothing is typed: what comes before srun has made the terminal raw is lost.
shell_runs() {
	printf '#!/bin/sh\n%s\n' "$1" >"$PLACE/shell"
	chmod 755 "$PLACE/shell"
	shift
	as_user timeout 60 script -qec "env SHELL=$PLACE/shell salloc $*" /dev/null </dev/null
}

stepd_of() { # JOB STEP
	grep -zq "slurmstepd: \[$1\.$2\]" /proc/[0-9]*/cmdline
}

# all_over JOB: the job and all its elements and components are.
all_over() {
	local jobs
	jobs=$(slurm squeue -h -j "$1") && [ -z "$jobs" ]
}

@test "a batch script alone" {
	run_batch --lens -N2 -n4 "$PLACE/dump batch"
	expect <<-E
	batch = env("batch.0")
	assert_script(batch, $JOB)
	a = carrier(batch)
	assert a["slurm.nnodes"] == "2" and a["slurm.ntasks"] == "4", a
	assert a["slurm.head_node.name"] == "n1", a
	E
}

@test "steps of all sizes in a batch script, and several at once" {
	run_batch --lens -N2 --ntasks-per-node=2 "
		$PLACE/dump batch
		srun $PLACE/dump whole
		srun -n3 $PLACE/dump three
		srun -N1 -n1 $PLACE/dump one
		srun -N1 -n2 -w n2 $PLACE/dump second
		srun --overlap -n2 $PLACE/dump left &
		srun --overlap -n2 $PLACE/dump right &
		wait
		$PLACE/dump after"
	expect <<-E
	assert_script(env("batch.0"), $JOB)
	assert env("after.0")["TRACEPARENT"] == env("batch.0")["TRACEPARENT"]
	steps = {"whole": 4, "three": 3, "one": 1, "second": 2, "left": 2, "right": 2}
	for name, size in steps.items():
	    tasks = ranks(name)
	    assert len(tasks) == size, (name, len(tasks))
	    assert_step(tasks, $JOB)
	    for task in tasks:
	        a = carrier(task)
	        assert a["slurm.ntasks"] == str(size) and a["slurm.nnodes"] == "2", (name, a)
	        assert a["slurm.head_node.name"] == "n1", (name, a)
	assert {task["SLURMD_NODENAME"] for task in ranks("second")} == {"n2"}
	assert len({ranks(name)[0]["SLURM_STEP_ID"] for name in steps}) == len(steps)
	E
}

@test "salloc: the steps of its shell" {
	as_user salloc --quiet --lens -N2 -n4 sh -c "
		srun $PLACE/dump whole; srun -n1 $PLACE/dump one; $PLACE/dump shell" </dev/null
	expect <<-E
	job = ranks("whole")[0]["SLURM_JOB_ID"]
	assert len(ranks("whole")) == 4 and len(ranks("one")) == 1
	assert_step(ranks("whole"), job)
	assert_step(ranks("one"), job)
	E
}

@test "an interactive step is no rank, its steps are" {
	shell_runs "$PLACE/dump shell; srun $PLACE/dump step" --lens -N2 -n2
	expect <<-E
	shell = env("shell.0")
	job = shell["SLURM_JOB_ID"]
	assert_identity(shell, job)
	assert_no_rank(shell)
	assert shell["TRACEPARENT"] == traceparent(job, "slurm.step", "interactive")
	assert carrier(shell)["slurm.head_node.name"] == "n1"
	assert len(ranks("step")) == 2
	assert_step(ranks("step"), job)
	assert {carrier(task)["slurm.head_node.name"] for task in ranks("step")} == {"n1"}
	E
}

@test "srun --jobid from a login shell: told when it says so itself" {
	JOB=$(submit --lens -N2 -n4 "$PLACE/dump batch; until test -e $PLACE/end; do sleep 0.1; done")
	wait_for 30 test -s "$PLACE/batch.0"
	as_user srun --lens --jobid="$JOB" --overlap -n2 "$PLACE/dump" asked
	as_user srun --jobid="$JOB" --overlap -n2 "$PLACE/dump" silent
	# What the shell says of an attempt is not believed.
	as_user env SLURM_RESTART_COUNT=9 srun --lens --jobid="$JOB" --overlap -n2 "$PLACE/dump" forged
	touch "$PLACE/end"
	wait_job "$JOB"
	expect <<-E
	assert len(ranks("asked")) == len(ranks("forged")) == 2
	assert_step(ranks("asked"), $JOB)
	assert_step(ranks("forged"), $JOB)
	for task in ranks("silent"):
	    assert ours(task) == [], ours(task)
	E
}

@test "an array, with the element that has the array's own job id" {
	JOB=$(submit --lens --array=3,7 -n2 -N1 "
		$PLACE/dump batch\$SLURM_ARRAY_TASK_ID; srun $PLACE/dump step\$SLURM_ARRAY_TASK_ID")
	wait_for 60 all_over "$JOB"
	expect <<-E
	raw = {task: env(f"batch{task}.0")["SLURM_JOB_ID"] for task in (3, 7)}
	assert "$JOB" in raw.values() and len(set(raw.values())) == 2, raw
	for task in (3, 7):
	    element = ("$JOB", task)
	    assert_script(env(f"batch{task}.0"), raw[task], element=element)
	    assert_step(ranks(f"step{task}"), raw[task], element=element)
	    for one in ranks(f"batch{task}") + ranks(f"step{task}"):
	        assert carrier(one)["slurm.array.count"] == "2", carrier(one)
	E
}

@test "a heterogeneous job, one srun over all components" {
	JOB=$(as_user sbatch --parsable --lens -w n1 -n1 : -w n2 -n2 --wrap "
		$PLACE/dump batch; srun --het-group=0,1 $PLACE/dump all; srun $PLACE/dump leader
		srun --het-group=1 $PLACE/dump other")
	wait_for 60 all_over "$JOB"
	expect <<-E
	assert_script(env("batch.0"), $JOB)
	everyone = ranks("all")
	assert [task["SLURMD_NODENAME"] for task in everyone] == ["n1", "n2", "n2"]
	assert_step(everyone, $JOB)
	assert_step(ranks("leader"), $JOB)
	assert_step(ranks("other"), $JOB)
	assert len(ranks("leader")) == 1 and len(ranks("other")) == 2
	for task in everyone + ranks("leader") + ranks("other"):
	    assert carrier(task)["slurm.head_node.name"] == "n1", carrier(task)
	E
}

@test "slurm-lens attrs says in a process what the process was told" {
	run_batch --lens-user=me -N2 -n2 "
		$PLACE/dump batch
		$LENS attrs --stage sbatch --format json >$PLACE/said.batch
		srun sh -c '$PLACE/dump step; $LENS attrs --stage task --format json >$PLACE/said.\$SLURM_PROCID'"
	expect <<-E
	import json
	def said(name):
	    with open(os.path.join(DUMPS, f"said.{name}")) as file:
	        return {key: str(value) for key, value in json.load(file).items()}
	assert said("batch") == carrier(env("batch.0")), (said("batch"), env("batch.0"))
	for rank, task in enumerate(ranks("step")):
	    assert said(rank) == carrier(task), (said(rank), carrier(task))
	E
}

@test "the extern step is left alone" {
	JOB=$(submit --lens -n1 "$PLACE/dump batch; until test -e $PLACE/end; do sleep 0.1; done")
	wait_for 30 test -s "$PLACE/batch.0"
	stepd_of "$JOB" extern
	[ "$(find "$STATE_DIR" -name "$JOB.*.*.*" | wc -l)" = 1 ]
	touch "$PLACE/end"
	wait_job "$JOB"
}

@test "a TaskProlog sees what lens says, and has the last word" {
	export WITH_TASK_PROLOG=1
	run_batch --lens -n2 "$PLACE/dump batch; srun $PLACE/dump step"
	unset WITH_TASK_PROLOG
	expect <<-E
	assert_script(env("batch.0"), $JOB)
	assert_step(ranks("step"), $JOB)
	for task in ranks("batch") + ranks("step"):
	    assert task["TASK_PROLOG_SAW"] == task["TRACEPARENT"]
	    assert carrier(task)["site"] == "of-the-prolog"
	E
}

# each_way: a batch job over two nodes, salloc and srun under the prolog flags that are set.
each_way() {
	run_batch --lens -N2 -n2 "$PLACE/dump batch; srun -w n2 -N1 -n1 $PLACE/dump second; srun $PLACE/dump step"
	as_user srun --lens -N2 -n2 "$PLACE/dump" srun
	as_user salloc --quiet --lens -N2 -n2 srun "$PLACE/dump" salloc </dev/null
	expect <<-E
	assert_script(env("batch.0"), $JOB)
	assert_step(ranks("second"), $JOB)
	assert_step(ranks("step"), $JOB)
	assert {carrier(task)["slurm.nnodes"] for task in ranks("second") + ranks("step")} == {"2"}
	for name in "srun", "salloc":
	    assert len(ranks(name)) == 2
	    assert_step(ranks(name), ranks(name)[0]["SLURM_JOB_ID"])
	E
}

@test "without PrologFlags" {
	with_prolog_flags
	each_way
}

@test "PrologFlags=Alloc" {
	with_prolog_flags Alloc
	each_way
}

@test "PrologFlags=RunInJob" {
	slurm_since 24.11 || skip "Slurm has RunInJob since 24.11, this is $(slurm_release)"
	with_prolog_flags RunInJob
	each_way
}
