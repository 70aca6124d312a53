#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Nodes on which no prolog writes a note: PrologFlags=RunInJob (Slurm 24.11 and later run no SPANK
# prolog and epilog then), a note that is lost. And what bounds a StateDir.

bats_require_minimum_version 1.5.0
load helpers

setup() {
	sandbox_create
	place_create
	receiver_up
}

teardown() {
	local status=0
	cluster_down || status=1
	! mountpoint -q "$STATE_DIR" || umount "$STATE_DIR"
	sandbox_destroy && return $status
}

# plugin_without NAME...: Slurm does not find these hooks in the sandbox's plugin any more.
plugin_without() {
	local name
	for name in "$@"; do
		LC_ALL=C sed -i "s/slurm_spank_$name/slurm_spank_${name//o/0}/g" "$LENS_SO"
	done
}

# node_number NAME: as file names in StateDir have it.
node_number() {
	echo $((16#$(printf %s "$1" | sha256sum | cut -c1-8)))
}

# spool_within BYTES: what the state files take of the disk.
spool_within() {
	[ "$(state_files | xargs -r du -c --block-size=1 | tail -n 1 | cut -f1)" -le "$1" ]
}

# told JOB: it is over, and nothing of it is to be sent any more. Where the extern step's exit alone ends an
# attempt, the note of another node than the first may outlast it: the next agent asks, and removes it.
told() {
	local n2=75540797 # as file names have it
	job_over "$1" && ! state_files "$1" | grep -qv "/$1[.]$n2\$"
}

# two_attempts: on a cluster without SPANK prolog and epilog that is up: a job
# that is requeued, one of srun's own, and one that is not lens's.
two_attempts() {
	JOB=$(submit --lens --requeue -N2 "srun -n2 $PLACE/dump step\${SLURM_RESTART_COUNT:-0}
		test \$SLURM_RESTART_COUNT || { touch $PLACE/begun; sleep 100; }")
	wait_for 60 test -e "$PLACE/begun"
	wait_spans "any(s['name'] == 'slurm.job_start' for s in spans)"
	slurm scontrol requeue "$JOB"
	wait_for 120 told "$JOB"
	as_user srun --lens -N2 -n2 true
	slurm srun -N2 true
	wait_for 120 told $((JOB + 1))
	nothing_left || {
		"$LENS" agent --stop --state-dir "$STATE_DIR" 3>&-
		slurm srun -N2 true
		wait_for 120 nothing_left
	}
	expect <<-E
	first, second = of_job($JOB, 0), of_job($JOB, 1)
	assert_tree(first)
	assert_tree(second)
	assert {attribute(span, "slurm.attempt") for span in second} == {1}
	for attempt in 0, 1:
	    assert {"slurm.job_attempt", "slurm.job", "slurm.batch", "slurm.step", "slurm.step.node", "slurm.task",
	        "slurm.job_setup", "slurm.job_teardown", "slurm.phase.queued", "slurm.job_start"} <= set(names($JOB, attempt))
	    assert {attribute(span, "slurm.confidence") for span in of_job($JOB, attempt)} == {"factual"}, names($JOB, attempt)
	root, again = one($JOB, "slurm.job_attempt"), one($JOB, "slurm.job_attempt", attempt=1)
	assert attribute(root, "slurm.state") == "REQUEUED" and attribute(again, "slurm.state") == "COMPLETED"
	assert again["links"][0]["span_id"] == root["span_id"]
	assert attribute(root, "nemo.span.truncated") is None
	assert one($JOB, "slurm.inter_attempt_gap", attempt=1)["start"] >= root["start"]
	# The tasks were told the same.
	for attempt in 0, 1:
	    assert env(f"step{attempt}.1")["TRACEPARENT"] == traceparent($JOB, "slurm.task", "0/1", attempt)
	job = one($JOB + 1, "slurm.job", $JOB + 1)
	assert_tree(of_job($JOB + 1))
	assert attribute(job, "slurm.node.name") == "n1" and attribute(job, "slurm.state") == "COMPLETED"
	E
}

@test "neither prolog nor epilog: the extern step ends the job, attempts are told apart" {
	plugin_without job_prolog job_epilog
	cluster_up --conf PrologFlags=Contain -- "Endpoint=$RECEIVER_URL"
	two_attempts
}

@test "PrologFlags=RunInJob: the same" {
	slurm_since 24.11 || skip "Slurm has RunInJob since 24.11, this is $(slurm_release)"
	cluster_up --conf PrologFlags=RunInJob -- "Endpoint=$RECEIVER_URL"
	two_attempts
}

@test "an extern step where prologs run: the epilog's word alone" {
	cluster_up --conf PrologFlags=Alloc,Contain -- "Endpoint=$RECEIVER_URL"
	JOB=$(submit --lens -N2 "srun -n2 true")
	as_user srun --lens -N2 -n2 true
	wait_sent "$JOB"
	wait_sent $((JOB + 1))
	expect <<-E
	for job in $JOB, $JOB + 1:
	    assert attribute(one(job, "slurm.job", job), "slurm.nodelist") == "n[1-2]"
	    assert_tree(of_job(job))
	    assert names(job).count("slurm.job") == names(job).count("slurm.job_attempt") == 1
	    assert {attribute(span, "slurm.confidence") for span in of_job(job)} == {"factual"}
	E
}

@test "without an agent MaxSpool holds all the same" {
	cluster_up -- "Endpoint=$RECEIVER_URL" Agent=external MaxSpool=64K
	JOB=$(submit --lens "for i in \$(seq 30); do srun -n1 true; done")
	wait_job "$JOB" 120
	[ "$(job_field "$JOB" JobState)" = COMPLETED ]
	spool_within $((65536 + 4096)) # the one that was written when it was not full yet
	grep -q "MaxSpool=65536 bytes and no agent runs" "$SANDBOX"/cluster/log/slurmd.n*.log
}

@test "a note that is gone: the journals tell, the epilog ends it" {
	cat >"$SANDBOX/prolog" <<-E
	#!/bin/sh
	case \$SLURMD_NODENAME in
	n1) rm -f $STATE_DIR/\$SLURM_JOB_ID.$(node_number n1) ;;
	n2) rm -f $STATE_DIR/\$SLURM_JOB_ID.$(node_number n2) ;;
	esac
	E
	chmod 755 "$SANDBOX/prolog"
	cluster_up --conf "Prolog=$SANDBOX/prolog" -- "Endpoint=$RECEIVER_URL"
	local outer=00-0123456789abcdef0123456789abcdef-00000000000000bb-01
	JOB=$(as_user env TRACEPARENT=$outer sbatch --parsable --requeue --lens -N2 --wrap "
		srun -n2 $PLACE/dump step\${SLURM_RESTART_COUNT:-0}
		test \$SLURM_RESTART_COUNT || { touch $PLACE/begun; sleep 100; }")
	wait_for 60 test -e "$PLACE/begun"
	slurm scontrol requeue "$JOB"
	wait_sent "$JOB" 120
	[ -z "$(state_files)" ]
	expect <<-E
	for attempt, state in (0, "REQUEUED"), (1, "COMPLETED"):
	    assert_tree(of_job($JOB, attempt))
	    root = one($JOB, "slurm.job_attempt", attempt=attempt)
	    assert attribute(root, "slurm.state") == state
	    # The word of the submitter was in the job's environment too.
	    assert root["links"][-1]["span_id"] == "00000000000000bb", root
	    assert env(f"step{attempt}.1")["TRACEPARENT"] == traceparent($JOB, "slurm.task", "0/1", attempt)
	assert len(of_job($JOB, 0)) + len(of_job($JOB, 1)) == len(spans)
	E
}

@test "MaxSpool: the oldest finished go, counted; what is left is sent" {
	receiver_answer 503
	cluster_up -- "Endpoint=$RECEIVER_URL" MaxSpool=64K
	JOB=$(submit --lens "for i in \$(seq 30); do srun -n1 true; done")
	wait_job "$JOB" 120
	wait_for 30 grep -q "MaxSpool=65536: the oldest" "$STATE_DIR/agent.log"
	wait_for 180 spool_within 65536 # looked at again after a minute at the latest
	receiver_answer 200
	"$LENS" agent --stop --state-dir "$STATE_DIR" 3>&-
	slurm srun true
	wait_sent "$JOB"
	expect <<-E
	steps = [attribute(span, "slurm.step.id") for span in spans if span["name"] == "slurm.step"]
	assert 0 < len(steps) < 30 and "29" in steps, steps
	E
}

@test "a full and a read-only StateDir cost the job nothing and heal" {
	mkdir -m 700 "$STATE_DIR"
	mount -t tmpfs -o size=64k,mode=0700 tmpfs "$STATE_DIR" || skip "no tmpfs can be mounted here"
	cluster_up -- "Endpoint=$RECEIVER_URL"
	head -c 64k /dev/zero >"$STATE_DIR/ballast" || true
	JOB=$(submit --lens -n2 "srun $PLACE/dump full")
	wait_job "$JOB"
	[ "$(job_field "$JOB" JobState)" = COMPLETED ]
	rm "$STATE_DIR/ballast"
	JOB=$(submit --lens -n2 "srun $PLACE/dump room")
	wait_sent "$JOB"
	agent_stop # it has its log open for writing
	mount -o remount,ro "$STATE_DIR"
	local ro
	ro=$(submit --lens -n2 "srun $PLACE/dump ro")
	wait_job "$ro"
	[ "$(job_field "$ro" JobState)" = COMPLETED ]
	mount -o remount,rw "$STATE_DIR"
	local after
	after=$(submit --lens -n2 "srun $PLACE/dump rw")
	wait_sent "$after"
	expect <<-E
	for prefix in "full", "room", "ro", "rw":
	    assert enabled(prefix) == [1], prefix
	for job in $JOB, $after:
	    assert_tree(of_job(job))
	    assert "slurm.task" in names(job)
	E
}
