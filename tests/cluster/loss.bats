#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Nothing is lost, nothing is sent twice, and no job waits: whatever dies or is away.

bats_require_minimum_version 1.5.0
load helpers

setup() {
	sandbox_create
	place_create
	receiver_up
}

teardown() {
	[ ! -s "$SANDBOX/hole.pid" ] || kill "$(cat "$SANDBOX/hole.pid")"
	sandbox_destroy
}

# assert_whole JOB: all spans of `srun -N2 -n2`, each once.
assert_whole() {
	expect <<-E
	assert names($1) == ["slurm.job", "slurm.job_attempt", "slurm.job_setup", "slurm.job_start",
	    "slurm.job_teardown", "slurm.phase.queued", "slurm.step", "slurm.step.node",
	    "slurm.task"], names($1)
	assert_tree(of_job($1))
	E
}

# stepd_pid JOB.STEP
stepd_pid() {
	local process
	for process in /proc/[0-9]*; do
		case $(tr '\0' ' ' 2>/dev/null <"$process/cmdline") in
		"slurmstepd: [$1]"*) ;;
		*) continue ;;
		esac
		[[ $(readlink "$process/cwd") == "$SANDBOX"/* ]] && echo "${process#/proc/}"
	done
}

# black_hole: something that takes connections and never answers; sets HOLE_URL.
black_hole() {
	"$LENS_TEST_PYTHON" - "$SANDBOX/hole.port" <<-E 3>&- &
	import socket, sys, time
	listener = socket.create_server(("127.0.0.1", 0), backlog=128)
	open(sys.argv[1], "w").write(str(listener.getsockname()[1]) + "\n")
	time.sleep(600)
	E
	echo $! >"$SANDBOX/hole.pid"
	wait_for 20 test -s "$SANDBOX/hole.port"
	HOLE_URL=http://127.0.0.1:$(cat "$SANDBOX/hole.port")
}

@test "the receiver is down during the job and comes back" {
	receiver_down
	cluster_up -- "Endpoint=$RECEIVER_URL"
	as_user srun --lens -N2 -n2 true
	wait_job 1
	[ -n "$(state_files 1)" ]
	receiver_up "$RECEIVER_PORT"
	wait_sent 1
	assert_whole 1
}

@test "the receiver refuses for a while: Retry-After is kept, each span is accepted once" {
	receiver_answer "503 Retry-After: 2" "429 Retry-After: 1" "502" 200
	cluster_up -- "Endpoint=$RECEIVER_URL"
	as_user srun --lens -N2 -n2 true
	wait_sent 1
	assert_whole 1
	"$LENS_TEST_PYTHON" - "$RECEIVED" <<-E
	import glob, json, sys
	requests = [json.load(open(name)) for name in sorted(glob.glob(sys.argv[1] + "/[0-9]*.json"))]
	assert [request["status"] for request in requests[:3]] == [503, 429, 502], requests
	times = [request["time"] for request in requests]
	assert times[1] - times[0] >= 2 and times[2] - times[1] >= 1, times
	E
}

@test "the agent is killed during the job; the next prolog's one sends all of it" {
	receiver_answer 503
	cluster_up -- "Endpoint=$RECEIVER_URL"
	# shellcheck disable=SC2016 # the task's shell's
	as_user srun --lens -N2 -n2 sh -c \
		'touch $PLACE/begun.$SLURM_PROCID; while [ ! -e $PLACE/go ]; do sleep 0.05; done' 3>&- &
	# Both nodes' prologs are over, and no other agent will begin.
	wait_for 30 test -e "$PLACE/begun.0"
	wait_for 30 test -e "$PLACE/begun.1"
	wait_for 20 agent_pid
	agents_kill KILL
	wait_for 10 no_agent
	touch "$PLACE/go"
	wait $!
	wait_job 1
	[ -n "$(state_files 1)" ]
	# The epilog has begun another one: that is killed too, before the plain job, and before anything
	# is taken that it could not note.
	agents_kill KILL
	wait_for 10 no_agent
	receiver_answer 200
	as_user srun true
	wait_sent 1
	assert_whole 1
}

@test "slurmctld is away when the end is asked for" {
	# How long a client tries to reach slurmctld.
	cluster_up --conf MessageTimeout=4 -- Agent=external
	as_user srun --lens -N2 -n2 true
	wait_job 1
	kill -TERM "$("$MINICLUSTER" pid "$SANDBOX/cluster" slurmctld)"
	wait_for 20 receiver_gone "$("$MINICLUSTER" pid "$SANDBOX/cluster" slurmctld)"
	run -1 slurm timeout 120 "$LENS" agent --once --state-dir "$STATE_DIR" --set "Endpoint=$RECEIVER_URL"
	[[ $output == *"slurmctld has not answered"* ]]
	[ -n "$(state_files 1)" ]
	"$MINICLUSTER" restart-ctld "$SANDBOX/cluster" 3>&-
	run -0 slurm timeout 120 "$LENS" agent --once --state-dir "$STATE_DIR" --set "Endpoint=$RECEIVER_URL"
	[ -z "$(state_files)" ]
	assert_whole 1
}

@test "a slurmstepd that is killed: its spans are closed, truncated" {
	cluster_up -- "Endpoint=$RECEIVER_URL"
	JOB=$(submit --lens "srun sh -c 'touch $PLACE/begun; exec sleep 60'")
	wait_for 30 test -e "$PLACE/begun"
	kill -KILL "$(stepd_pid "$JOB.0")"
	slurm scancel "$JOB"
	wait_sent "$JOB"
	expect <<-E
	assert_tree(of_job($JOB))
	for span in one($JOB, "slurm.step", 0), one($JOB, "slurm.task", "0/0"):
	    assert attribute(span, "nemo.span.truncated") is True, span
	assert attribute(one($JOB, "slurm.batch", $JOB), "nemo.span.truncated") is None
	E
}

@test "a receiver that is dead or hangs costs a job no time" {
	local without dead hang begin
	black_hole
	cluster_up -- "Endpoint=$HOLE_URL"
	timed() {
		begin=${EPOCHREALTIME/./}
		for _ in 1 2 3 4 5; do
			as_user srun "$@" -N2 -n2 true
		done
		echo $(((${EPOCHREALTIME/./} - begin) / 1000))
	}
	mv "$CONF_DIR/plugstack.conf" "$CONF_DIR/plugstack.away"
	: >"$CONF_DIR/plugstack.conf"
	without=$(timed)
	mv "$CONF_DIR/plugstack.away" "$CONF_DIR/plugstack.conf"
	hang=$(timed --lens)
	lens_conf <<<"Endpoint=http://127.0.0.1:1"
	dead=$(timed --lens)
	say "5 jobs: $without ms without lens, $hang ms with (hanging receiver), $dead ms (none)"
	# A second for each job would be seen, the load of other tests is not.
	[ "$hang" -lt $((2 * without + 5000)) ]
	[ "$dead" -lt $((2 * without + 5000)) ]
	# What waits is complete.
	receiver_answer 200
	lens_conf <<<"Endpoint=$RECEIVER_URL"
	timeout 30 "$LENS" agent --stop --state-dir "$STATE_DIR"
	as_user srun true
	wait_sent 15
	wait_sent 6
	assert_whole 6
	assert_whole 15
}
