#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Which ranks export, and what a task is taken for.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	sandbox_create
	local name
	for name in 0 1 2 3; do
		mknod "$SANDBOX/gpu$name" c 1 3
	done
	cluster_up --slurmd-arg -vv --conf GresTypes=gpu --node-conf Gres=gpu:4 \
		--gres-conf "Name=gpu File=$SANDBOX/gpu[0-3]"
	# Programs of the names of launchers: scripts that dump.
	mkdir "$SANDBOX/bin"
	for name in torchrun mpirun hydra_pmi_proxy trainer; do
		printf '#!/bin/sh\nexec "$@"\n' >"$SANDBOX/bin/$name"
	done
	chmod -R a+rX "$SANDBOX/bin"
	chmod 755 "$SANDBOX/bin"/*
}

teardown_file() {
	sandbox_destroy
}

setup() {
	place_create
	: | lens_conf
}

# said_of JOB STEP: what the nodes said of the kind of its tasks.
said_of() {
	sed -n "s/.*job $1 step $2: //p" "$SANDBOX"/cluster/log/slurmd.n*.log | sort -u
}

@test "the four strategies, each node and each rank alike" {
	run_batch --lens -N2 --ntasks-per-node=4 "
		srun --lens-strategy=single_rank $PLACE/dump single
		srun --lens-strategy=all_ranks $PLACE/dump all
		srun --lens-strategy=sampled --lens-sample-rate=0.2 $PLACE/dump fifth
		srun --lens-strategy=sampled --lens-sample-rate=0 $PLACE/dump nobody
		srun --lens-strategy=sampled $PLACE/dump everybody
		srun --lens-strategy=first_rank_per_node $PLACE/dump block
		srun --lens-strategy=first_rank_per_node -m cyclic $PLACE/dump cyclic"
	expect <<-E
	everybody = list(range(8))
	assert exporting(8, 0.2) == [3, 4, 5, 6]
	for name, export in [
	        ("single", [7]), ("all", everybody), ("fifth", [3, 4, 5, 6]), ("nobody", []),
	        ("everybody", everybody), ("block", [0, 4]), ("cyclic", [0, 1])]:
	    assert len(ranks(name)) == 8
	    assert_step(ranks(name), $JOB, export=export)
	E
}

@test "a world of one, by all strategies" {
	run_batch --lens -n1 "
		$PLACE/dump batch
		for strategy in single_rank all_ranks sampled first_rank_per_node; do
			srun --lens-strategy=\$strategy $PLACE/dump \$strategy
		done
		srun --lens-rank=0 $PLACE/dump zero; srun --lens-rank=1 $PLACE/dump outside"
	expect <<-E
	assert_script(env("batch.0"), $JOB)
	for name in "single_rank", "all_ranks", "sampled", "first_rank_per_node", "zero":
	    assert_step(ranks(name), $JOB, export=[0])
	assert_step(ranks("outside"), $JOB, export=[])
	E
	grep -q "rank 1 is outside the step's 1 ranks" "$SANDBOX"/cluster/log/slurmd.n1.log
}

@test "the components of a heterogeneous job number their ranks as one" {
	local job
	job=$(as_user sbatch --parsable --lens -w n1 -n2 : -w n2 -n2 --wrap "
		srun --het-group=0,1 $PLACE/dump last
		srun --het-group=0,1 --lens-rank=1 $PLACE/dump one
		srun --het-group=0,1 --lens-strategy=first_rank_per_node $PLACE/dump node
		srun --het-group=0,1 --lens-strategy=sampled --lens-sample-rate=0.1 $PLACE/dump tenth")
	wait_job "$job"
	wait_for 30 all_idle
	expect <<-E
	assert_step(ranks("last"), $job, export=[3])
	assert_step(ranks("one"), $job, export=[1])
	assert_step(ranks("node"), $job, export=[0, 2])
	assert_step(ranks("tenth"), $job, export=exporting(4, 0.1))
	for name in "last", "one", "node", "tenth":
	    assert len(ranks(name)) == 4
	E
}

@test "a launcher's tasks are no ranks, and the strategy goes on to the library" {
	export NEMO_LENS_EXPORT_RANK=5
	run_batch --lens-strategy=sampled --lens-sample-rate=0.5 -N2 -n2 "
		srun --lens-ranks=launcher $PLACE/dump chosen
		srun $SANDBOX/bin/torchrun $PLACE/dump torchrun
		srun $SANDBOX/bin/hydra_pmi_proxy $PLACE/dump hydra
		srun --lens-ranks=task $SANDBOX/bin/torchrun $PLACE/dump task
		srun $SANDBOX/bin/trainer $PLACE/dump trainer"
	unset NEMO_LENS_EXPORT_RANK
	expect <<-E
	for name in "chosen", "torchrun", "hydra":
	    assert len(ranks(name)) == 2
	    for task in ranks(name):
	        assert_identity(task, $JOB)
	        assert_no_rank(task)
	        chosen = [task["NEMO_LENS_EXPORT_" + word] for word in ("STRATEGY", "RANK", "SAMPLE_RATE")]
	        assert chosen == ["sampled", "5", "0.5"], chosen
	        assert not {"RANK", "WORLD_SIZE", "LOCAL_RANK"} & set(task)
	        place = f"{task['SLURM_STEP_ID']}/{task['SLURM_PROCID']}"
	        assert task["TRACEPARENT"] == traceparent($JOB, "slurm.task", place)
	assert_step(ranks("task"), $JOB, export=exporting(2, 0.5))
	assert_step(ranks("trainer"), $JOB, export=exporting(2, 0.5))
	E
	[ "$(said_of "$JOB" 0)" = "a task is a launcher: chosen" ]
	[ "$(said_of "$JOB" 1)" = "a task is a launcher: it runs torchrun" ]
	[ "$(said_of "$JOB" 2)" = "a task is a launcher: it runs hydra_pmi_proxy" ]
	[ "$(said_of "$JOB" 3)" = "a task is a rank: chosen" ]
	[ "$(said_of "$JOB" 4)" = "a task is a rank" ]
}

@test "one task a node with several GPUs is a launcher, on all nodes" {
	run_batch --lens -N2 -n2 --gres=gpu:2 "
		srun $PLACE/dump two
		srun --gres=gpu:1 $PLACE/dump one
		srun --export=NONE --gpus-per-task 1 $PLACE/dump bare
		srun --gres=none $PLACE/dump none"
	as_user srun --lens -N2 -n2 --gpus-per-task=2 "$PLACE/dump" own
	as_user srun --lens -N2 -n2 --export=NONE -G4 "$PLACE/dump" total
	expect <<-E
	for name in "two", "own", "total":
	    for task in ranks(name):
	        assert_identity(task, task["SLURM_JOB_ID"])
	        assert_no_rank(task)
	for name in "one", "bare", "none":
	    assert_step(ranks(name), $JOB)
	for name in "two", "own", "total", "one", "bare", "none":
	    for task in ranks(name):
	        assert "SLURM_LENS_ASKED" not in task, name
	E
	[ "$(said_of "$JOB" 0)" = "a task is a launcher: one a node with 2 GPUs" ]
}

@test "what a site says of ranks, and an option over it" {
	echo 'Ranks=launcher' | lens_conf
	as_user srun --lens -n2 "$PLACE/dump" launcher
	as_user srun --lens-ranks=task -n2 "$PLACE/dump" task
	printf '%s\n' Strategy=sampled SampleRate=0.2 | lens_conf
	as_user srun --lens -n4 "$PLACE/dump" sampled
	as_user env NEMO_LENS_EXPORT_SAMPLE_RATE=1 srun --lens -n2 "$PLACE/dump" variable
	as_user env NEMO_LENS_EXPORT_SAMPLE_RATE=1 srun --lens-sample-rate=0 -n2 "$PLACE/dump" option
	printf '%s\n' ExportRank=0 | lens_conf
	as_user srun --lens -n2 "$PLACE/dump" first
	as_user env NEMO_LENS_EXPORT_RANK=1 srun --lens -n2 "$PLACE/dump" second
	expect <<-E
	for task in ranks("launcher"):
	    assert_no_rank(task)
	for name, export in [
	        ("task", [1]), ("sampled", exporting(4, 0.2)), ("variable", [0, 1]), ("option", []),
	        ("first", [0]), ("second", [1])]:
	    assert_step(ranks(name), ranks(name)[0]["SLURM_JOB_ID"], export=export)
	E
}

@test "Gate=otel: the SDK of a rank that does not export is off" {
	echo 'Gate=otel' | lens_conf
	run_batch --lens -n2 "
		$PLACE/dump batch
		srun $PLACE/dump step
		OTEL_SDK_DISABLED=false srun $PLACE/dump user
		srun sh -c 'srun --overlap -n1 $PLACE/dump inside.\$SLURM_PROCID'
		srun --lens-ranks=launcher $PLACE/dump launcher"
	expect <<-E
	assert "OTEL_SDK_DISABLED" not in env("batch.0")
	assert [task.get("OTEL_SDK_DISABLED") for task in ranks("step")] == ["true", None]
	assert [task.get("OTEL_SDK_DISABLED") for task in ranks("user")] == ["false", "false"]
	assert [task.get("OTEL_SDK_DISABLED") for task in ranks("launcher")] == [None, None]
	# That rank 0 of the outer step did not export is not the inner step's.
	for rank in 0, 1:
	    inside = env(f"inside.{rank}.0")
	    assert inside["NEMO_LENS_ENABLED"] == "1" and "OTEL_SDK_DISABLED" not in inside
	E
}

@test "without Gate the SDK is left alone" {
	as_user srun --lens -n2 "$PLACE/dump" step
	expect <<-E
	assert not any("OTEL_SDK_DISABLED" in task for task in ranks("step"))
	E
}
