#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Out of memory, as the kernel sees it. Needs the memory controller of cgroup v1, where a
# test may make groups of its own; elsewhere it is skipped.

bats_require_minimum_version 1.5.0
load helpers

setup() {
	[ -e /sys/fs/cgroup/memory/memory.oom_control ] || skip "no memory controller of cgroup v1"
	# Another run on this machine, in a chroot say, has groups of the same names. (Slurm locks those below.)
	exec 6</sys/fs/cgroup
	flock -w 600 6
	sandbox_create
	place_create
	receiver_up
	cluster_up --nodes 1 --conf ProctrackType=proctrack/cgroup --conf TaskPlugin=task/cgroup \
		--conf JobAcctGatherType=jobacct_gather/cgroup --conf SelectTypeParameters=CR_Core_Memory \
		--cgroup-conf CgroupPlugin=cgroup/v1 --cgroup-conf CgroupMountpoint=/sys/fs/cgroup \
		--cgroup-conf ConstrainRAMSpace=yes -- "Endpoint=$RECEIVER_URL"
}

# The sandbox's cgroups are Slurm's and empty by then.
teardown() {
	local status=0
	[ -n "${SANDBOX:-}" ] || return 0
	sandbox_destroy || status=1
	find /sys/fs/cgroup/*/slurm_n1 -depth -type d -exec rmdir {} + 2>/dev/null || true
	exec 6<&-
	return $status
}

@test "out of memory: the task says so, and one that was killed otherwise does not" {
	cat >"$PLACE/task" <<-'E'
	#!/bin/sh
	case $SLURM_PROCID in
	0) exec tail /dev/zero ;;
	1) sleep 3; kill -9 $$ ;;
	esac
	E
	chmod 755 "$PLACE/task"
	JOB=$(submit --lens -n2 --mem=40 "srun --kill-on-bad-exit=0 $PLACE/task; exit 0")
	wait_sent "$JOB" 120
	local batch
	batch=$(submit --lens --mem=40 "exec tail /dev/zero")
	wait_sent "$batch" 120
	expect <<-E
	assert_tree(of_job($JOB))
	hungry, killed = one($JOB, "slurm.task", "0/0"), one($JOB, "slurm.task", "0/1")
	assert attribute(hungry, "slurm.oom_killed") is True, hungry
	assert attribute(hungry, "slurm.signal") == 9 and attribute(hungry, "error.type") == "SIGKILL"
	assert attribute(killed, "slurm.signal") == 9 and attribute(killed, "slurm.oom_killed") is None, killed
	assert_tree(of_job($batch))
	script, job = one($batch, "slurm.batch", $batch), one($batch, "slurm.job", $batch)
	assert attribute(script, "slurm.oom_killed") is True, script
	assert attribute(job, "slurm.state") == "OUT_OF_MEMORY" and attribute(job, "error.type") == "out_of_memory"
	E
}
