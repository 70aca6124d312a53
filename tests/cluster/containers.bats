#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Beside a container plugin: lens's line comes last in plugstack.conf, and a wrong order
# is said once.

bats_require_minimum_version 1.5.0
load helpers

IMAGE=team=image,slurm.job.name=of-the-image

setup() {
	sandbox_create
	place_create
	install -m 755 "$LENS_TEST_BUILDDIR/tests/cluster/plugins/.libs/image_env.so" "$SANDBOX/root/"
	printf '%s\n' "OTEL_RESOURCE_ATTRIBUTES=$IMAGE" "TRACEPARENT=of-the-image" \
		"NEMO_LENS_ENABLED=0" >"$SANDBOX/image"
	chmod 644 "$SANDBOX/image"
	container="optional $SANDBOX/root/image_env.so env=$SANDBOX/image"
}

teardown() {
	sandbox_destroy
}

# order_up LINE...: a cluster with these lines as its plugstack.conf.
order_up() {
	printf '%s\n' "$@" >"$SANDBOX/plugstack.conf"
	"$MINICLUSTER" up "$SANDBOX/cluster" --plugstack "$SANDBOX/plugstack.conf" 3>&-
}

said() {
	cat "$SANDBOX"/cluster/log/slurmd.n*.log | grep -c 'image_env.so after lens'
}

@test "after the container plugin lens sees the image's environment and has the last word" {
	order_up "$container" "$(plugstack_line)"
	as_user srun --lens -N2 -n2 "$PLACE/dump" task
	expect <<-'E'
	for rank in (0, 1):
	    task = env(f"task.{rank}")
	    attributes = carrier(task)
	    assert attributes["team"] == "image", attributes
	    assert attributes["slurm.job.name"] == "of-the-image", attributes
	    assert attributes["nv.dl.rank"] == str(rank), attributes
	    assert attributes["slurm.job.id"] == task["SLURM_JOB_ID"], attributes
	    assert task["NEMO_LENS_ENABLED"] == str(rank)
	job = env("task.1")["SLURM_JOB_ID"]
	assert env("task.1")["TRACEPARENT"] == traceparent(job, "slurm.task", "0/1")
	E
	[ "$(said)" = 0 ]
}

@test "before it lens is overruled, and each slurmd says so once" {
	order_up "$(plugstack_line)" "$container"
	as_user srun --lens -N2 -n2 "$PLACE/dump" task
	as_user srun --lens -N2 -n2 true
	expect <<-'E'
	for task in ranks("task"):
	    assert task["TRACEPARENT"] == "of-the-image", task["TRACEPARENT"]
	    assert task["NEMO_LENS_ENABLED"] == "0"
	E
	[ "$(said)" = 2 ]
}
