#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# PrologFlags=RunInJob: Slurm runs its prolog and epilog in the extern step and calls no
# plugin's. The spans are the same. A requeue: lifecycle_notes.bats.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	slurm_since 24.11 || return 0 # each test says so: bats cannot skip in here
	sandbox_create
	receiver_up
	cluster_up --conf PrologFlags=RunInJob -- "Endpoint=$RECEIVER_URL"
}

teardown_file() {
	sandbox_destroy
}

setup() {
	slurm_since 24.11 || skip "Slurm has RunInJob since 24.11, this is $(slurm_release)"
	place_create
}

@test "Slurm does not call the plugin's prolog: no job has a note of its own" {
	JOB=$(submit -N2 "srun true; touch $PLACE/begun; while [ ! -e $PLACE/go ]; do sleep 0.1; done")
	wait_for 60 test -e "$PLACE/begun"
	[ -z "$(state_files "$JOB")" ]
	touch "$PLACE/go"
	wait_job "$JOB"
	[ -z "$(state_files)" ]
}

@test "a job that ends well, one that fails, one that is cancelled, one that is out of time" {
	local well fails gone late
	well=$(submit --lens -n2 "srun true")
	fails=$(submit --lens "srun false; exit 3")
	late=$(submit --lens --time=0:01 "srun sleep 100")
	gone=$(submit --lens -N2 "touch $PLACE/begun; srun -N2 sleep 100")
	wait_for 60 test -e "$PLACE/begun"
	slurm scancel "$gone"
	for JOB in "$well" "$fails" "$gone" "$late"; do
		wait_sent "$JOB" 150
	done
	expect <<-E
	ends = {$well: "COMPLETED", $fails: "FAILED", $gone: "CANCELLED", $late: "TIMEOUT"}
	for number, end in ends.items():
	    assert_tree(of_job(number))
	    assert {"slurm.job_attempt", "slurm.job_start", "slurm.phase.queued", "slurm.job", "slurm.batch"} \
	        <= set(names(number)), names(number)
	    job, root = one(number, "slurm.job", number), one(number, "slurm.job_attempt")
	    assert attribute(job, "slurm.state") == attribute(root, "slurm.state") == end, job
	    assert attribute(job, "slurm.confidence") == "factual", job
	    assert status(job) == ("unset" if end == "COMPLETED" else "error"), job
	assert attribute(one($fails, "slurm.job", $fails), "slurm.exit_code") == "3:0"
	E
}

@test "srun and salloc with allocations of their own" {
	as_user srun --lens -N2 -n2 true
	as_user salloc --quiet --lens -n2 sh -c "srun $PLACE/dump salloc; srun -n1 false; exit 0" </dev/null
	JOB=$(dumped salloc.0 SLURM_JOB_ID)
	wait_sent $((JOB - 1))
	wait_sent "$JOB"
	expect <<-E
	for job in $JOB - 1, $JOB:
	    assert_tree(of_job(job))
	    assert {"slurm.job", "slurm.job_attempt", "slurm.job_start", "slurm.phase.queued", "slurm.step",
	        "slurm.task"} <= set(names(job)), names(job)
	    assert attribute(one(job, "slurm.job", job), "slurm.node.name") == "n1"
	    assert attribute(one(job, "slurm.job", job), "slurm.state") == "COMPLETED"
	assert status(one($JOB, "slurm.step", 1)) == "error"
	E
}

@test "elements of an array, components of a het job" {
	local array
	array=$(submit --lens --array=1-2 "srun -n1 $PLACE/dump element\$SLURM_ARRAY_TASK_ID")
	JOB=$(as_user sbatch --parsable --lens -w n1 -n1 : -w n2 -n2 --wrap \
		"srun --het-group=0,1 $PLACE/dump het")
	wait_for 60 test -s "$PLACE/element1.0" -a -s "$PLACE/element2.0"
	local first second
	first=$(dumped element1.0 SLURM_JOB_ID)
	second=$(dumped element2.0 SLURM_JOB_ID)
	wait_sent "$first"
	wait_sent "$second"
	wait_sent "$JOB"
	wait_sent $((JOB + 1))
	expect <<-E
	for task, job in enumerate(["$first", "$second"], 1):
	    assert_tree(of_job(job))
	    for span in of_job(job):
	        r = span["resource"]
	        assert r["slurm.job.id"] == f"${array}_{task}" and r["slurm.job.id.raw"] == job, r
	    assert attribute(one(job, "slurm.job", job), "slurm.state") == "COMPLETED"
	assert_tree(of_job($JOB))
	assert not names($JOB + 1)
	assert names($JOB).count("slurm.job_attempt") == names($JOB).count("slurm.step") == 1
	leader, other = one($JOB, "slurm.job", $JOB), one($JOB, "slurm.job", $JOB + 1)
	assert attribute(leader, "slurm.node.name") == "n1" and attribute(other, "slurm.node.name") == "n2"
	E
}

@test "JobSpans=always: of every job" {
	lens_conf <<<"JobSpans=always"
	JOB=$(submit -n2 "srun $PLACE/dump step")
	wait_sent "$JOB"
	rm "$CONF_DIR/lens.conf"
	expect <<-E
	assert_tree(of_job($JOB))
	assert {"slurm.batch", "slurm.job", "slurm.job_attempt", "slurm.step"} <= set(names($JOB)), names($JOB)
	assert not ours(env("step.0"))
	E
}
