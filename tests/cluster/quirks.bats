#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What the fake SPANK host copies of Slurm, held against the Slurm that is here: a probe
# plugin writes down what it is answered, tests/spankhost/quirks.txt says what that is. The
# fake host plays the same jobs (tests/spankhost/test_quirks.c).
#
# With LENS_TEST_SLURM_ROOT (another release's root) and LENS_TEST_PROBE_SO (the probe built
# with its headers) it asks that one.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	local probe=${LENS_TEST_PROBE_SO:-$LENS_TEST_BUILDDIR/tests/spankhost/.libs/probe.so}
	local options=(--conf "PrologFlags=Alloc,Contain")
	sandbox_create
	LOGS=$SANDBOX/logs
	export LOGS PROBE_USER=me
	mkdir "$LOGS"
	chmod 1777 "$LOGS"
	install -m 755 "$probe" "$SANDBOX/root/probe.so"
	echo "optional $SANDBOX/root/probe.so log=$LOGS" >"$SANDBOX/plugstack.conf"
	[ -z "${LENS_TEST_SLURM_ROOT:-}" ] ||
		options+=(--version-prefix "$LENS_TEST_SLURM_ROOT" --bind "$SANDBOX")
	"$MINICLUSTER" up "$SANDBOX/cluster" --plugstack "$SANDBOX/plugstack.conf" \
		"${options[@]}" 3>&-
	RELEASE=$(slurm srun -V | release_in)
	export RELEASE
	jobs_scripts
}

teardown_file() {
	sandbox_destroy
}

# The scripts name programs by path: --export=NONE leaves no PATH.
jobs_scripts() {
	cat >"$OUT/plain.sh" <<-'E'
	#!/bin/sh
	/usr/bin/srun -N2 -n2 /bin/sh -c 'exit 3'
	exit 5
	E
	cat >"$OUT/one.sh" <<-'E'
	#!/bin/sh
	/usr/bin/srun -N1 -n1 /bin/true
	E
	cat >"$OUT/requeue.sh" <<-'E'
	#!/bin/sh
	if [ ! -e requeued ]; then
		: >requeued
		scontrol requeue "$SLURM_JOB_ID"
		exec sleep 60 # a shell would go on without it before its own end
	fi
	/usr/bin/srun -N1 -n1 /bin/true
	E
	cat >"$OUT/het.sh" <<-'E'
	#!/bin/sh
	/usr/bin/srun /bin/true : /bin/true
	E
	cat >"$OUT/outer.sh" <<-'E'
	#!/bin/sh
	export SLURM_RESTART_COUNT=77
	/usr/bin/srun -N1 -n1 /usr/bin/sbatch -N1 -n1 one.sh
	E
}

no_jobs() {
	local jobs
	jobs=$(slurm squeue -h -o %A) && [ -z "$jobs" ]
}

# epilogs COUNT: that many have been played to their last question.
epilogs() {
	[ "$(cat "$LOGS"/* 2>/dev/null | grep -c '^epilog.*rc\.unsetenv')" -ge "$1" ]
}

# ask SCENARIO EPILOGS CMD...: runs CMD with empty logs and compares what the probe then wrote.
ask() {
	local scenario=$1 count=$2
	shift 2
	[ "$RELEASE" = 22.05 ] || [ "$RELEASE" = 24.11 ] || [ "$RELEASE" = 26.05 ] ||
		skip "quirks.txt has no column for Slurm $RELEASE"
	find "$LOGS" -type f -delete
	"$@" || true
	wait_for 60 epilogs "$count"
	wait_for 60 no_jobs
	# The last hooks may still be writing.
	wait_for 90 compare "$scenario" || compare "$scenario"
}

compare() {
	"$LENS_TEST_BUILDDIR/tests/spankhost/compare" \
		"$LENS_TEST_SRCDIR/tests/spankhost/quirks.txt" "$RELEASE" "$1" "$LOGS"
}

@test "slurmd" {
	# setup_file's own: nothing ran since.
	wait_for 20 compare slurmd
}

@test "a batch job with options and a step on two nodes" {
	ask plain 2 as_user sbatch -N2 -n4 -J plain --probe-flag --probe-value=V plain.sh
}

@test "an array" {
	ask array 2 as_user sbatch -N1 -n1 --array=3-4 one.sh
}

@test "a requeue" {
	ask requeue 2 as_user sbatch -N1 -n1 requeue.sh
}

@test "a heterogeneous job" {
	ask het 2 as_user sbatch -N1 -n1 -w n1 : -N1 -n2 -w n2 het.sh
}

# As root, who has a login shell: 26.05 asks it for the environment.
@test "--export=NONE" {
	ask exportnone 1 slurm sbatch -o root.out -N1 -n1 --export=NONE \
		--probe-flag --probe-value=V one.sh
}

@test "a job submitted from a step of an array" {
	ask nested 2 as_user sbatch -N1 -n1 --array=7 --probe-value=OUTER outer.sh
}

@test "a batch step whose output cannot be opened" {
	ask setupfail 1 as_user sbatch -N1 -n1 -o /nonexistent/x one.sh
}

@test "srun with an allocation of its own" {
	ask srun 1 as_user srun -N1 -n2 --probe-value=S /bin/true
}

@test "salloc with srun" {
	ask salloc 1 as_user salloc -N1 -n2 --probe-value=A srun /bin/true
}

@test "an option that its callback refuses" {
	ask bad 0 as_user sbatch -N1 -n1 --probe-value=bad one.sh
}

@test "an option forged past the submission's check" {
	ask forged 1 as_user env _SLURM_SPANK_OPTION_probe_probe_value=bad sbatch -N1 -n1 one.sh
}

@test "the comparison tells releases apart" {
	local other=26.05
	[ "$RELEASE" != 26.05 ] || other=22.05
	ask plain 2 as_user sbatch -N2 -n4 -J plain --probe-flag --probe-value=V plain.sh
	RELEASE=$other run ! compare plain
}
