#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A job that starts again: another attempt of the same run.

bats_require_minimum_version 1.5.0
load helpers

# All jobs of this file run at once, each on a node of its own: a requeued one waits.
setup_file() {
	sandbox_create
	cluster_up --nodes 4
	BATS_TEST_NUMBER=all place_create
	export PLACE
	export OTEL_RESOURCE_ATTRIBUTES=team=a NEMO_LENS_RUN_ID=
	COMMANDED=$(twice -w n1)
	FALLEN=$(twice -w n2)
	ELEMENT=$(twice -w n3 --array=5)
	NESTING=$(twice -w n4 --lens-run-id=exp)
	unset OTEL_RESOURCE_ATTRIBUTES NEMO_LENS_RUN_ID
	export COMMANDED FALLEN ELEMENT NESTING
	for node in 1 2 3 4; do
		wait_for 30 test -s "$PLACE/n$node.first.step.1"
	done
	slurm scontrol requeue "$COMMANDED"
	slurm scontrol requeue "${ELEMENT}_5"
	slurm scontrol requeue "$NESTING"
	slurm scontrol update nodename=n2 state=down reason=test
	wait_for 60 job_requeued "$FALLEN"
	wait_for 60 node_back n2
	for job in "$COMMANDED" "$FALLEN" "$ELEMENT" "$NESTING"; do
		wait_job "$job"
	done
}

teardown_file() {
	sandbox_destroy
}

# node_back NODE: up again, by ReturnToService or as soon as Slurm lets us say so.
node_back() {
	case $(slurm sinfo -h -n "$1" -o %T) in
	idle | mixed | allocated) ;;
	*) slurm scontrol update nodename="$1" state=resume ;;
	esac
}

# twice SBATCH-OPTION...: a job that waits to be stopped in its first attempt.
twice() {
	cat >"$PLACE/job" <<-E
	#!/bin/sh
	attempt=second
	test -e $PLACE/\$SLURMD_NODENAME.first.step.1 || attempt=first
	$PLACE/dump \$SLURMD_NODENAME.\$attempt.batch
	test \$SLURMD_NODENAME.\$attempt != n4.second || {
		sbatch --wait -n2 $PLACE/inner inner
		sbatch --wait -n2 --export=NONE $PLACE/inner bare
	}
	srun $PLACE/dump \$SLURMD_NODENAME.\$attempt.step
	test \$attempt = second || sleep 300
	E
	cat >"$PLACE/inner" <<-E
	#!/bin/sh
	$PLACE/dump \$1.batch
	srun $PLACE/dump \$1.step
	E
	as_user sbatch --parsable --lens --requeue -n2 "$@" "$PLACE/job"
}

# both_attempts NODE JOB [KEYWORD]: of the job on NODE; KEYWORD is for assert_identity.
both_attempts() {
	expect <<-E
	job = env("$1.first.batch.0")["SLURM_JOB_ID"]
	for attempt, word in enumerate(("first", "second")):
	    assert_script(env(f"$1.{word}.batch.0"), job, attempt${3:+, $3})
	    assert_step(ranks(f"$1.{word}.step"), job, attempt${3:+, $3})
	    for task in ranks(f"$1.{word}.batch") + ranks(f"$1.{word}.step"):
	        assert task["SLURM_JOB_ID"] == job == "$2", task["SLURM_JOB_ID"]
	        assert carrier(task)["team"] == "a", carrier(task)
	E
}

@test "scontrol requeue: the same job and run, another attempt and trace" {
	both_attempts n1 "$COMMANDED"
}

@test "a node that goes down: the same" {
	both_attempts n2 "$FALLEN"
}

@test "an element of an array keeps both UUIDs" {
	both_attempts n3 "$ELEMENT" "element=('$ELEMENT', 5)"
}

@test "a chosen run id stays" {
	both_attempts n4 "$NESTING" "run='exp'"
}

@test "a job submitted from a second attempt is in its first" {
	expect <<-E
	assert env("n4.second.batch.0")["SLURM_RESTART_COUNT"] == "1"
	for name in "inner", "bare":
	    job = env(f"{name}.batch.0")["SLURM_JOB_ID"]
	    assert job != "$NESTING"
	    assert_script(env(f"{name}.batch.0"), job, run="exp")
	    assert_step(ranks(f"{name}.step"), job, run="exp")
	    for task in ranks(f"{name}.batch") + ranks(f"{name}.step"):
	        assert "SLURM_RESTART_COUNT" not in task, name
	assert carrier(env("inner.batch.0"))["team"] == "a"
	E
}
