# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the bats files share: a throwaway cluster with the installed plugin, jobs,
# a receiver, and the spans that arrived. `make check-cluster` sets LENS_TEST_*.
#
#   setup_file()    { sandbox_create; receiver_up; cluster_up -- Endpoint="$RECEIVER_URL"; }
#   teardown_file() { sandbox_destroy; }
#
# SANDBOX holds all of it: cluster/ (minicluster), root/ (lens.so, slurm-lens),
# state/ (StateDir), traces/ (File), received/ (receiver), out/ (jobs write here).

: "${LENS_TEST_SRCDIR:?run this through make check-cluster}"
MINICLUSTER=$LENS_TEST_SRCDIR/tests/cluster/minicluster
export LENS_TEST_PYTHON=${LENS_TEST_PYTHON:-$LENS_TEST_SRCDIR/build/venv/bin/python}

# say MESSAGE...: a line of TAP comment that also a passing run shows.
say() {
	echo "# $*" >&3 2>/dev/null || echo "# $*" >&2
}

# wait_for SECONDS CMD...: polls until CMD succeeds. The bound is for broken code,
# not for slow machines: be generous.
wait_for() {
	local limit=$1 end
	shift
	end=$((SECONDS + limit))
	until "$@" >/dev/null 2>&1; do
		if [ $SECONDS -ge $end ]; then
			echo "not within $limit s: $*" >&2
			return 1
		fi
		sleep 0.05
	done
}

# slurm_release: 24.11, say: of the Slurm that is here.
slurm_release() {
	slurmctld -V | release_in
}

# release_in: of what -V of one of Slurm's programs prints.
release_in() {
	sed 's/^[^0-9]*\([0-9]*\.[0-9]*\).*/\1/'
}

# slurm_since RELEASE: whether the Slurm that is here is that one or a later one.
slurm_since() {
	[ "$(printf '%s\n' "$1" "$(slurm_release)" | sort -V | head -n 1)" = "$1" ]
}

# --- the sandbox

# A directory that other users can enter, with what make install installed: the
# build directory may be closed to them. Its names are short: sockets live here.
sandbox_create() {
	[ "$(id -u)" = 0 ] || { echo "cluster tests need root: slurmd does" >&2; return 1; }
	[ -x "$LENS_TEST_PYTHON" ] || {
		echo "no Python at $LENS_TEST_PYTHON: run tests/make-venv" >&2
		return 1
	}
	SANDBOX=$(mktemp -d "/tmp/lens-test.XXXXXX")
	chmod 755 "$SANDBOX"
	mkdir -p "$SANDBOX/cluster" "$SANDBOX/root" "$SANDBOX/traces" "$SANDBOX/out"
	chmod 1777 "$SANDBOX/out"
	install -m 755 "$LENS_TEST_LENS_SO" "$LENS_TEST_PROGRAM" "$SANDBOX/root/"
	LENS_SO=$SANDBOX/root/lens.so
	LENS=$SANDBOX/root/slurm-lens
	STATE_DIR=$SANDBOX/state
	TRACES=$SANDBOX/traces/traces.jsonl
	RECEIVED=$SANDBOX/received
	CONF_DIR=$SANDBOX/cluster/etc
	OUT=$SANDBOX/out
	export SANDBOX LENS_SO LENS STATE_DIR TRACES RECEIVED CONF_DIR OUT
}

# Ends everything and removes it; with LENS_TEST_KEEP set the files stay.
sandbox_destroy() {
	local status=0
	[ -n "${SANDBOX:-}" ] || return 0
	cluster_down || status=1
	receiver_down
	if [ -n "${LENS_TEST_KEEP:-}" ]; then
		say "kept $SANDBOX"
	else
		rm -rf "$SANDBOX"
	fi
	return $status
}

# --- the cluster

# lens_conf: standard input becomes lens.conf beside slurm.conf.
lens_conf() {
	mkdir -p "$CONF_DIR"
	cat >"$CONF_DIR/lens.conf"
}

# plugstack_line [KEY=VALUE...]: the given arguments, and the sandbox's places
# for what they leave open. PLUGSTACK_FLAG: required (default: optional).
plugstack_line() {
	local line="${PLUGSTACK_FLAG:-optional} $LENS_SO" default argument
	for default in "StateDir=$STATE_DIR" "AgentPath=$LENS" "File=$TRACES"; do
		for argument in "$@"; do
			[ "${argument%%=*}" = "${default%%=*}" ] && continue 2
		done
		line+=" $default"
	done
	echo "$line $*"
}

# cluster_up [MINICLUSTER-OPTION...] [-- KEY=VALUE...]: what follows -- are plugin
# arguments.
cluster_up() {
	local options=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	plugstack_line "$@" >"$SANDBOX/plugstack.conf"
	"$MINICLUSTER" up "$SANDBOX/cluster" --plugstack "$SANDBOX/plugstack.conf" \
		${options[@]+"${options[@]}"} 3>&-
}

# agent_pids: the sandbox's own agents, keepers and senders. One process looks: tests poll this.
agent_pids() {
	find /proc/[0-9]*/exe -maxdepth 0 \( -lname "$LENS" -o -lname "$LENS (deleted)" \) \
		2>/dev/null | cut -d/ -f3
}

# agent_pid: of the one that holds the lock of StateDir.
agent_pid() {
	local pid
	read -r pid _ <"$STATE_DIR/agent.lock" || return 1
	agent_pids | grep -x "$pid"
}

agent_other_than() { # PID
	local pid
	pid=$(agent_pid 2>/dev/null) && [ "$pid" != "$1" ]
}

no_agent() {
	[ -z "$(agent_pids)" ]
}

# agents_kill SIGNAL: some of them may end meanwhile, as senders do when their keeper does.
agents_kill() {
	local pid
	for pid in $(agent_pids); do
		kill "-$1" "$pid" 2>/dev/null || [ ! -e "/proc/$pid/exe" ]
	done
}

# agent_stop: as an admin would; what that leaves is killed, and is a failure.
agent_stop() {
	no_agent && return 0
	timeout 30 "$LENS" agent --stop --state-dir "$STATE_DIR" 3>&-
	wait_for 10 no_agent && return 0
	agents_kill KILL
	echo "the agent did not stop when told to" >&2
	return 1
}

# Slurm first: as long as a slurmd lives, its hooks start the agent again.
cluster_down() {
	"$MINICLUSTER" down "$SANDBOX/cluster" 3>&-
	agent_stop
}

# slurm CMD...: a client command as root. as_user CMD...: as www-data.
slurm() {
	(cd "$OUT" && exec "$MINICLUSTER" exec "$SANDBOX/cluster" "$@" 3>&-)
}

as_user() {
	slurm setpriv --reuid=www-data --regid=www-data --init-groups env HOME=/tmp "$@"
}

# --- jobs

# submit [SBATCH-OPTION...] COMMAND: a batch job of a user that runs the shell
# text COMMAND; prints its id. Output goes to $OUT/slurm-ID.out.
submit() {
	local options=("${@:1:$#-1}") command=${*: -1}
	as_user sbatch --parsable ${options[@]+"${options[@]}"} --wrap "$command"
}

# run_batch [SBATCH-OPTION...] COMMAND: submits, waits for its end, sets JOB.
run_batch() {
	JOB=$(submit "$@") && wait_job "$JOB"
}

job_field() { # JOB FIELD
	slurm scontrol -o show job "$1" | tr ' ' '\n' | sed -n "s/^$2=//p" | head -1
}

job_in_state() { # JOB STATE
	[ "$(job_field "$1" JobState)" = "$2" ]
}

# job_requeued JOB: it may be pending or run again already.
job_requeued() {
	[ "$(job_field "$1" Restarts)" -ge 1 ]
}

# A requeued job is PENDING again, so it is not over.
job_over() {
	case $(job_field "$1" JobState) in
	'' | PENDING | RUNNING | COMPLETING | CONFIGURING | SUSPENDED | REQUEUED) return 1 ;;
	esac
}

# all_idle: no node is busy, drained or down.
all_idle() {
	[ "$(slurm sinfo -h -N -o %T | sort -u)" = idle ]
}

wait_job() { # JOB [SECONDS]
	wait_for "${2:-120}" job_over "$1"
}

# --- what arrives

receiver_up() { # [PORT]
	mkdir -p "$RECEIVED"
	rm -f "$RECEIVED/port" "$RECEIVED/grpc_port"
	"$LENS_TEST_PYTHON" "$LENS_TEST_SRCDIR/tests/cluster/receiver.py" "$RECEIVED" \
		--port "${1:-0}" </dev/null >"$SANDBOX/receiver.log" 2>&1 3>&- &
	echo $! >"$SANDBOX/receiver.pid"
	wait_for 20 test -s "$RECEIVED/port"
	RECEIVER_PORT=$(cat "$RECEIVED/port")
	RECEIVER_URL=http://127.0.0.1:$RECEIVER_PORT
	RECEIVER_GRPC_URL=http://127.0.0.1:$(cat "$RECEIVED/grpc_port")
	export RECEIVER_PORT RECEIVER_URL RECEIVER_GRPC_URL
}

receiver_gone() {
	! kill -0 "$1" 2>/dev/null
}

receiver_down() {
	local pid
	[ -s "$SANDBOX/receiver.pid" ] || return 0
	pid=$(cat "$SANDBOX/receiver.pid")
	kill "$pid" 2>/dev/null
	wait_for 10 receiver_gone "$pid"
	rm -f "$SANDBOX/receiver.pid"
}

# receiver_answer LINE...: one answer per request, the last for all that follow.
receiver_answer() {
	printf '%s\n' "$@" >"$RECEIVED/answer.part"
	mv "$RECEIVED/answer.part" "$RECEIVED/answer"
}

# spans_json [DECODE-OPTION...]: all spans, received or in the file.
spans_json() {
	"$LENS_TEST_PYTHON" "$LENS_TEST_SRCDIR/tests/cluster/decode.py" "$RECEIVED" "$TRACES" "$@"
}

# spans_eval EXPRESSION: of Python, over `spans`.
spans_eval() {
	spans_json --eval "$1"
}

spans_true() {
	[ "$(spans_eval "bool($1)")" = true ]
}

# wait_spans EXPRESSION [SECONDS]: until the expression is true.
wait_spans() {
	wait_for "${2:-120}" spans_true "$1" && return 0
	spans_json >&2
	return 1
}

# --- checking

# place_create: for setup(). PLACE is a directory for this test's jobs alone, with a
# program for them: `dump PREFIX` writes the environment that it was started with
# to PLACE/PREFIX.RANK, byte for byte.
place_create() {
	PLACE=$OUT/$BATS_TEST_NUMBER
	export PLACE
	mkdir -p "$PLACE"
	chmod 1777 "$PLACE"
	cat >"$PLACE/dump" <<-'E'
	#!/bin/sh
	/bin/cat /proc/$$/environ >"${0%/*}/$1.${SLURM_PROCID:-shell}"
	E
	chmod 755 "$PLACE/dump"
}

# dumped FILE NAME: what variable NAME was in the environment in PLACE/FILE.
dumped() {
	tr '\0' '\n' <"$PLACE/$1" | sed -n "s/^$2=//p"
}

# expect [PATH...]: runs the checks on standard input, Python with the functions of
# expect.py, over what PLACE holds and the spans in PATH (default: all that arrived).
expect() {
	[ $# -gt 0 ] || set -- "$RECEIVED" "$TRACES"
	"$LENS_TEST_PYTHON" "$LENS_TEST_SRCDIR/tests/cluster/expect.py" "${PLACE:-}" "$@"
}

# state_files [JOB]: the notes and journals in StateDir.
state_files() {
	find "$STATE_DIR" -name "${1:-[0-9]*}.*" ! -name 'agent.*' 2>/dev/null
}

nothing_left() {
	[ -z "$(state_files)" ]
}

job_sent() {
	job_over "$1" && [ -z "$(state_files "$1")" ]
}

# wait_sent JOB [SECONDS]: until the job is over and all of it is acknowledged. (What could not be
# done is tried again after a minute.)
wait_sent() {
	wait_for "${2:-120}" job_sent "$1" && return 0
	slurm scontrol show job "$1" >&2
	ls -l "$STATE_DIR" >&2
	tail -n 20 "$STATE_DIR/agent.log" >&2
	return 1
}
