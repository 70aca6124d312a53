# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2153 # what bats files set and read
# For tests that kill what a job's spans depend on, and count the spans at its end.

# survival_begin: a receiver, and a PLACE for what jobs leave.
survival_begin() {
	sandbox_create
	place_create
	receiver_up
}

# workload [SBATCH-OPTION...]: submits a job of three steps of two tasks each; in its first
# attempt the second step waits for PLACE/go. With PLACE/last it is the last. Sets JOB.
workload() {
	cat >"$PLACE/job" <<-E
	#!/bin/sh
	srun -n2 true
	srun -n2 $PLACE/wait
	test -e $PLACE/last || srun -n2 true
	touch $PLACE/done
	E
	cat >"$PLACE/wait" <<-E
	#!/bin/sh
	touch $PLACE/begun.\$SLURM_PROCID
	[ -n "\$SLURM_RESTART_COUNT" ] || until [ -e $PLACE/go ]; do sleep 0.05; done
	E
	chmod 755 "$PLACE/job" "$PLACE/wait"
	JOB=$(as_user sbatch --parsable --lens-strategy=all_ranks --requeue -n2 "$@" "$PLACE/job")
	wait_for 60 test -e "$PLACE/begun.0"
	wait_for 60 test -e "$PLACE/begun.1"
}

# start_settled STATE-DIR, step_settled STATE-DIR: that the spans of JOB's start, of workload's first
# step, were acknowledged is noted there. An agent that is killed before sends them again.
start_settled() {
	grep -qs 'e=sent,what=start' "$1/$JOB".*
}

step_settled() {
	! compgen -G "$1/$JOB.0.*.*" >/dev/null
}

# now_ns: by the clock of the spans.
now_ns() {
	date +%s%N
}

slurmd_pid() { # NODE
	"$MINICLUSTER" pid "$SANDBOX/cluster" "slurmd.$1"
}

start_node() { # NODE
	"$MINICLUSTER" start-node "$SANDBOX/cluster" "$1" 3>&-
}

# stepds NODE [JOB.STEP]: pids of the node's slurmstepd: they have its slurmd's log open.
stepds() {
	local pid step=${2:+${2//./\\.}\]}
	for pid in $(pgrep -f "^slurmstepd: \[$step"); do
		readlink "/proc/$pid"/fd/* 2>/dev/null |
			grep -qx "$SANDBOX/cluster/log/slurmd.$1.log" && echo "$pid"
	done
	return 0
}

# with_children PID...: them and all below them.
with_children() {
	local pid
	for pid in "$@"; do
		echo "$pid"
		# shellcheck disable=SC2046 # one word for each
		with_children $(cat "/proc/$pid"/task/*/children 2>/dev/null)
	done
}

# gone PID...: no process any more, or one that nobody has waited for yet.
gone() {
	local pid
	for pid in "$@"; do
		[ ! -e "/proc/$pid" ] || grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null || return 1
	done
}

kill_hard() { # PID...
	[ $# -gt 0 ]
	kill -KILL "$@" 2>/dev/null
	wait_for 10 gone "$@"
}

# agents_of NODE: those that see the StateDir that its slurmd sees.
agents_of() {
	local pid place
	place=$(readlink "/proc/$(slurmd_pid "$1")/ns/mnt")
	for pid in $(agent_pids); do
		[ "$(readlink "/proc/$pid/ns/mnt")" != "$place" ] || echo "$pid"
	done
}

# power_off NODE: slurmd, agent, slurmstepd and all of its jobs, none of which sees another's
# end before its own.
power_off() {
	local pids
	mapfile -t pids < <(
		slurmd_pid "$1"
		agents_of "$1"
		# shellcheck disable=SC2046 # one word for each
		with_children $(stepds "$1")
	)
	kill -STOP "${pids[@]}" 2>/dev/null # a short-lived child of the job's may be gone
	kill_hard "${pids[@]}"
}

# power_on NODE: starts its slurmd as on a machine of its own that has just booted: with its
# own StateDir, SANDBOX/state.NODE, and another boot id.
power_on() {
	mkdir -p "$SANDBOX/state.$1" "$STATE_DIR"
	chmod 700 "$SANDBOX/state.$1" "$STATE_DIR"
	cat /proc/sys/kernel/random/uuid >"$SANDBOX/boot.$1"
	# shellcheck disable=SC2016 # the inner shell's
	unshare -m --propagation private sh -c '
		mount --bind "$1" "$2" && mount --bind "$3" /proc/sys/kernel/random/boot_id &&
		exec "$4" start-node "$5" "$6"' sh "$SANDBOX/state.$1" "$STATE_DIR" \
		"$SANDBOX/boot.$1" "$MINICLUSTER" "$SANDBOX/cluster" "$1" 3>&-
}

# machine_of_its_own NODE: of a cluster that is up.
machine_of_its_own() {
	"$MINICLUSTER" stop-node "$SANDBOX/cluster" "$1" 3>&-
	power_on "$1"
	wait_for 30 all_idle
}

node_empty() { # NODE
	[ -z "$(STATE_DIR=$SANDBOX/state.$1 state_files)" ]
}

# survival_end: for teardown(): every agent, whatever StateDir it sees.
survival_end() {
	"$MINICLUSTER" down "$SANDBOX/cluster" 3>&-
	agents_kill TERM
	wait_for 20 no_agent
	sandbox_destroy
}

# survived: expect, for checks that use these too.
survived() {
	{
		cat <<-'E'
		from collections import Counter

		JOB = ["slurm.job_attempt", "slurm.phase.queued", "slurm.job_start", "slurm.job",
		    "slurm.job_setup", "slurm.job_teardown"]
		AGAIN = JOB + ["slurm.inter_attempt_gap"]

		def label(span):
		    step, name = attribute(span, "slurm.step.id"), span["name"]
		    place = {
		        "slurm.step": step,
		        "slurm.step.node": f"{step}/{attribute(span, 'slurm.node.name')}",
		        "slurm.task": f"{step}/{attribute(span, 'slurm.procid')}",
		    }.get(name)
		    return f"{name} {place}" if place else name

		def steps(*numbers, other="n2"):
		    """What srun -n2 gives, with the second task on the node OTHER."""
		    kinds = ["slurm.step {}", "slurm.task {}/0", "slurm.task {}/1"]
		    kinds += ["slurm.step.node {}/" + other] if other else []
		    return [kind.format(number) for number in numbers for kind in kinds]

		def assert_spans(trace, wanted, cut=(), killed=None):
		    """Exactly WANTED, each once; CUT of them truncated, ended before KILLED.

		    Whether Slurm lets a requeued job wait before it is eligible is its own affair.
		    """
		    counted = Counter(map(label, trace))
		    counted.pop("slurm.phase.deferred", None)
		    difference = counted - Counter(wanted), Counter(wanted) - counted
		    assert counted == Counter(wanted), "too many: {}, missing: {}".format(*difference)
		    truncated = [span for span in trace if attribute(span, "nemo.span.truncated")]
		    assert sorted(map(label, truncated)) == sorted(cut), sorted(map(label, truncated))
		    for span in truncated:
		        assert span["start"] <= span["end"] < (killed or span["end"] + 1), span
		    assert_tree(trace)

		def merged(trace):
		    """Without what came again, which must be the same."""
		    first = {}
		    for span in comparable(trace):
		        assert first.setdefault(span["span_id"], span) == span, (first[span["span_id"]], span)
		    return list(first.values())

		E
		cat
	} | expect
}
