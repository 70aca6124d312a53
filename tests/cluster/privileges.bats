#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Who runs as what: the keeper is root and talks to nobody, the sender talks and is nobody.

bats_require_minimum_version 1.5.0
load helpers

setup() {
	sandbox_create
	place_create
}

teardown() {
	[ ! -s "$SANDBOX/listener.pid" ] || kill "$(cat "$SANDBOX/listener.pid")"
	sandbox_destroy
}

# sender_pid: the child of the keeper that is one.
sender_pid() {
	local pid
	for pid in $(agent_pids); do
		[ "$(ps -o ppid= -p "$pid" | tr -d ' ')" = "$(agent_pid)" ] || continue
		tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q ' sender ' && echo "$pid" && return 0
	done
	return 1
}

sender_other_than() { # PID
	local pid
	pid=$(sender_pid) && [ "$pid" != "$1" ]
}

process_gone() {
	! kill -0 "$1" 2>/dev/null
}

# status_of PID FIELD: of /proc/PID/status, blanks squeezed.
status_of() {
	sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status" | tr -s '\t ' ' ' | sed 's/ $//'
}

# listener: takes connections, says nothing, writes a line for each; sets LISTENER_URL.
listener() {
	"$LENS_TEST_PYTHON" - "$SANDBOX" <<-E 3>&- &
	import os, socket, sys
	listener = socket.create_server(("127.0.0.1", 0), backlog=128)
	with open(sys.argv[1] + "/listener.part", "w") as file:
	    file.write(str(listener.getsockname()[1]) + "\n")
	os.rename(sys.argv[1] + "/listener.part", sys.argv[1] + "/listener.port")
	kept = []
	while True:
	    kept.append(listener.accept()[0])
	    with open(sys.argv[1] + "/listener.seen", "a") as file:
	        file.write("connected\n")
	E
	echo $! >"$SANDBOX/listener.pid"
	wait_for 20 test -s "$SANDBOX/listener.port"
	LISTENER_URL=http://127.0.0.1:$(cat "$SANDBOX/listener.port")
}

# assert_each_once JOB: its spans are a tree, none of them came twice.
assert_each_once() {
	expect <<-E
	assert_tree(of_job($1))
	ids = [(span["trace_id"], span["span_id"]) for span in of_job($1)]
	assert len(set(ids)) == len(ids), ids
	E
}

# tcp_inodes PID: the TCP sockets that it holds.
tcp_inodes() {
	local fd
	for fd in "/proc/$1/fd"/*; do
		readlink "$fd" | sed -n 's/^socket:\[\([0-9]*\)\]$/\1/p'
	done | sort >"$SANDBOX/sockets.$1"
	awk 'FNR > 1 { print $10 }' /proc/net/tcp /proc/net/tcp6 | sort | comm -12 - "$SANDBOX/sockets.$1"
}

# assert_powerless PID USER: all that could be given up is.
assert_powerless() {
	local id gid fd name
	id=$(id -u "$2")
	gid=$(id -g "$2")
	[ "$(status_of "$1" Uid)" = "$id $id $id $id" ]
	[ "$(status_of "$1" Gid)" = "$gid $gid $gid $gid" ]
	[ -z "$(status_of "$1" Groups)" ]
	for name in CapInh CapPrm CapEff CapBnd CapAmb; do
		[ "$(status_of "$1" $name)" = 0000000000000000 ]
	done
	[ "$(status_of "$1" NoNewPrivs)" = 1 ]
	[ "$(stat -c %u "/proc/$1/environ")" = 0 ] # not dumpable
	[ "$(wc -c <"/proc/$1/environ")" = 0 ]
	[ "$(readlink "/proc/$1/cwd")" = / ]
	grep -Eq '^Max core file size +0 +0' "/proc/$1/limits"
	grep -Eq '^Max file size +0 +0' "/proc/$1/limits"
	for fd in "/proc/$1/fd"/*; do
		case ${fd##*/}:$(readlink "$fd") in
		[012]:/dev/null | *:socket:* | *:anon_inode:*) ;;
		*) echo "holds $(readlink "$fd")" >&2 && return 1 ;;
		esac
	done
}

@test "the sender is AgentUser's and can do nothing but talk; the keeper talks to nobody" {
	receiver_up
	cluster_up -- "Endpoint=$RECEIVER_URL" AgentUser=daemon
	as_user srun --lens -N2 true
	wait_sent 1
	local keeper sender
	keeper=$(agent_pid)
	sender=$(sender_pid)
	[ "$(agent_pids | wc -l)" = 2 ]
	assert_powerless "$sender" daemon
	[ "$(status_of "$keeper" Uid)" = "0 0 0 0" ]
	[ -z "$(tcp_inodes "$keeper")" ]
	[ -n "$(tcp_inodes "$sender")" ] # its connection is kept
	run grep -E 'libcurl|libssl|libnghttp' "/proc/$keeper/maps"
	[ "$status" = 1 ] || { echo "$output" >&2; false; }
	grep -q libcurl "/proc/$sender/maps"
	say "$(ps -o pid=,ppid=,user=,args= -p "$sender")"
}

@test "AgentUser is nobody when it is not set" {
	cluster_up -- Endpoint=http://127.0.0.1:1
	wait_for 20 sender_pid
	wait_for 20 test "$(id -u nobody)" = "$(status_of "$(sender_pid)" Uid | cut -d' ' -f1)"
	wait_for 20 grep -q NoNewPrivs:.1 "/proc/$(sender_pid)/status"
	assert_powerless "$(sender_pid)" nobody
}

@test "a file of root's is written without a sender" {
	cluster_up
	as_user srun --lens -N2 true
	wait_sent 1
	[ "$(agent_pids)" = "$(agent_pid)" ]
}

@test "an AgentUser that is not there, or root: one line, and all waits until it is set right" {
	receiver_up
	lens_conf <<<"AgentUser=no-such-user-here"
	cluster_up --nodes 1 -- "Endpoint=$RECEIVER_URL" # a second slurmd has the settings read again
	as_user srun --lens true
	wait_job 1
	wait_for 20 grep -q 'AgentUser no-such-user-here: there is no such user' "$STATE_DIR/agent.log"
	lens_conf <<<"AgentUser=root"
	kill -HUP "$(agent_pid)"
	wait_for 20 grep -q 'AgentUser root is root' "$STATE_DIR/agent.log"
	[ "$(grep -c no-such-user-here "$STATE_DIR/agent.log")" = 1 ]
	[ -n "$(state_files 1)" ]
	[ ! -e "$RECEIVED/000001.body" ]
	lens_conf <<<"AgentUser=daemon"
	kill -HUP "$(agent_pid)"
	wait_sent 1
	assert_each_once 1
}

@test "a sender that is killed is started again: nothing is lost, nothing is sent twice" {
	receiver_up
	cluster_up -- "Endpoint=$RECEIVER_URL"
	wait_for 20 sender_pid
	local sender keeper
	keeper=$(agent_pid)
	sender=$(sender_pid)
	kill -KILL "$sender"
	wait_for 20 sender_other_than "$sender"
	as_user srun --lens -N2 true
	wait_sent 1
	# Now with a batch that waits.
	receiver_answer 503
	as_user srun --lens -N2 true
	wait_job 2
	wait_for 20 grep -q 'HTTP 503' "$STATE_DIR/agent.log"
	sender=$(sender_pid)
	kill -KILL "$sender"
	wait_for 20 sender_other_than "$sender"
	receiver_answer 200
	wait_sent 2
	[ "$(agent_pid)" = "$keeper" ]
	assert_each_once 1
	assert_each_once 2
	grep -q "the sender (pid $sender) ended by signal 9" "$STATE_DIR/agent.log"
}

@test "a sender that is killed in the middle of a request: the batch goes again" {
	receiver_up
	listener
	lens_conf <<<"Endpoint=$LISTENER_URL"
	cluster_up
	as_user srun --lens -N2 true
	wait_for 30 test -s "$SANDBOX/listener.seen"
	wait_job 1
	lens_conf <<<"Endpoint=$RECEIVER_URL"
	kill -KILL "$(sender_pid)"
	kill -HUP "$(agent_pid)"
	wait_sent 1
	assert_each_once 1
}

@test "the sender ends with its keeper, in the middle of a request too; the next prolog starts both" {
	receiver_up
	listener
	lens_conf <<<"Endpoint=$LISTENER_URL"
	cluster_up
	as_user srun --lens -N2 true
	wait_job 1
	wait_for 30 test -s "$SANDBOX/listener.seen"
	local keeper sender
	keeper=$(agent_pid)
	sender=$(sender_pid)
	kill -KILL "$keeper"
	wait_for 10 process_gone "$sender"
	lens_conf <<<"Endpoint=$RECEIVER_URL"
	as_user srun true
	wait_sent 1
	[ "$(agent_pid)" != "$keeper" ]
	sender_other_than "$sender"
	assert_each_once 1
}

@test "what a terminal or systemd sends to all does not take the sender from the keeper" {
	receiver_up
	cluster_up -- "Endpoint=$RECEIVER_URL"
	wait_for 20 sender_pid
	local sender
	sender=$(sender_pid)
	wait_for 20 grep -q NoNewPrivs:.1 "/proc/$sender/status"
	kill -TERM "$sender"
	kill -INT "$sender"
	kill -HUP "$sender"
	as_user srun --lens -N2 true
	wait_sent 1
	[ "$(sender_pid)" = "$sender" ]
}

@test "SIGTERM: what is ready is still sent, what the receiver does not take stays" {
	receiver_up
	cluster_up -- "Endpoint=$RECEIVER_URL" Agent=external
	as_user srun --lens -N2 true
	wait_job 1
	# The journals are ready at once, the job's own spans when slurmctld has told its end.
	slurm "$LENS" agent --state-dir "$STATE_DIR" --set "Endpoint=$RECEIVER_URL" \
		--set Agent=external >/dev/null 2>&1 3>&- &
	wait_for 20 sender_pid
	wait_sent 1
	receiver_answer 503
	as_user srun --lens -N2 true
	wait_for 20 grep -q 'HTTP 503' "$STATE_DIR/agent.log"
	local begin=$SECONDS
	timeout 30 "$LENS" agent --stop --state-dir "$STATE_DIR"
	[ $((SECONDS - begin)) -lt 5 ] # nobody waits for a receiver that is known to refuse
	wait_for 10 no_agent
	[ -n "$(state_files 2)" ]
}

@test "SIGTERM: what came before it is sent first" {
	receiver_up
	cluster_up -- "Endpoint=$RECEIVER_URL"
	wait_for 20 sender_pid
	local keeper
	keeper=$(agent_pid)
	kill -STOP "$keeper"
	as_user srun --lens -N2 true
	wait_job 1
	[ -n "$(find "$STATE_DIR" -name '1.*.*.*')" ]
	[ ! -e "$RECEIVED/000001.body" ]
	kill -TERM "$keeper"
	kill -CONT "$keeper"
	wait_for 20 process_gone "$keeper"
	[ -z "$(find "$STATE_DIR" -name '1.*.*.*')" ] # no journal
	spans_true "any(s['name'] == 'slurm.step' for s in spans)"
}

@test "a program that was replaced is started anew under the same lock, with a sender of its own" {
	receiver_up
	cluster_up -- "Endpoint=$RECEIVER_URL"
	wait_for 20 sender_pid
	local keeper sender
	keeper=$(agent_pid)
	sender=$(sender_pid)
	cp "$LENS" "$SANDBOX/root/new"
	mv "$SANDBOX/root/new" "$LENS"
	kill -HUP "$keeper"
	wait_for 20 test "$LENS" -ef "/proc/$keeper/exe"
	wait_for 20 sender_other_than "$sender"
	[ "$(agent_pid)" = "$keeper" ]
	[[ $(ps -o stat= --ppid "$keeper") != *Z* ]]
	[ "$(readlink "/proc/$(sender_pid)/exe")" = "$LENS" ]
	as_user srun --lens -N2 true
	wait_sent 1
	assert_each_once 1
}

@test "the capabilities that the systemd unit leaves it are enough" {
	local unit=$LENS_TEST_SRCDIR/etc/slurm-lens-agent.service.in names keeper sender
	names=$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | tr ' ' '\n' | sed 's/^CAP_/+/' |
		tr 'A-Z\n' 'a-z,')
	[ -n "$names" ]
	grep -qx NoNewPrivileges=yes "$unit"
	receiver_up
	cluster_up -- Agent=external
	slurm setpriv --no-new-privs "--bounding-set=-all,${names%,}" "$LENS" agent \
		--state-dir "$STATE_DIR" --set "Endpoint=$RECEIVER_URL" </dev/null >/dev/null 2>&1 3>&- &
	wait_for 20 sender_pid
	keeper=$(agent_pid)
	sender=$(sender_pid)
	as_user srun --lens -N2 true
	wait_sent 1
	[ "$(status_of "$keeper" CapEff)" = "$(status_of "$keeper" CapBnd)" ]
	assert_powerless "$sender" nobody
	kill -KILL "$sender"
	wait_for 20 sender_other_than "$sender"
	kill -HUP "$keeper" # what it knew to be sent may come again
	wait_for 20 grep -q 'settings were read again' "$STATE_DIR/agent.log"
	as_user srun --lens -N2 true
	wait_sent 2
	assert_each_once 2
}

# secret_grep WORD: where it is and should not be: command lines and environments of all
# processes, logs, the state directory.
secret_grep() {
	local file
	for file in /proc/[0-9]*/cmdline /proc/[0-9]*/environ; do
		case $file in "/proc/$$/"*) continue ;; esac
		tr '\0' '\n' 2>/dev/null <"$file" | grep -q -- "$1" && echo "$file"
	done
	grep -rl -- "$1" "$STATE_DIR" "$SANDBOX/cluster" "$OUT" 2>/dev/null
	return 0
}

status_tells() { # WORDS
	"$LENS" status --state-dir "$STATE_DIR" | grep -qF "$1"
}

@test "a secret reaches the receiver, and no log, command line or environment" {
	receiver_up
	local word
	word=$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
	install -m 600 /dev/null "$SANDBOX/root/headers"
	printf 'authorization: Bearer %s\n' "$word" >"$SANDBOX/root/headers"
	cluster_up -- "Endpoint=$RECEIVER_URL" "HeadersFile=$SANDBOX/root/headers"
	as_user srun --lens -N2 true
	wait_sent 1
	grep -q "Bearer $word" "$RECEIVED/000001.json"
	# Refused, so that there is something to be logged.
	receiver_answer 401
	as_user srun --lens -N2 true
	wait_sent 2
	grep -q 'HTTP 401' "$STATE_DIR/agent.log"
	run secret_grep "$word"
	[ -z "$output" ]
	run secret_grep "HeadersFile=$SANDBOX" # it would be found
	[[ $output == */cmdline* ]]
	wait_for 10 status_tells 'HTTP 401' # it is written once a second at most
	run "$LENS" status --state-dir "$STATE_DIR"
	[[ $output == *"HTTP 401"* && $output != *"$word"* ]]
}

# assert_refused WORD...: a run with HeadersFile at SECRET says so and sends nothing.
assert_refused() {
	local word
	run -1 timeout 60 "$LENS" agent --once --state-dir "$STATE_DIR" \
		--set "Endpoint=$RECEIVER_URL" --set "HeadersFile=$SECRET"
	for word in HeadersFile "${SECRET%/*}" "$@"; do
		[[ $output == *"$word"* ]]
	done
	[[ $output != *hunter2* ]]
	[ ! -e "$RECEIVED/000001.body" ]
	[ -n "$(state_files 1)" ]
}

@test "a secret that others could read or change is not used" {
	receiver_up
	cluster_up -- Agent=external
	as_user srun --lens -N2 true
	wait_job 1
	SECRET=$SANDBOX/root/headers
	printf 'authorization: hunter2\n' >"$SECRET"
	chmod 644 "$SECRET"
	assert_refused "mode 0644"
	chmod 600 "$SECRET"
	chown www-data "$SECRET"
	assert_refused "chown 0"
	chown 0 "$SECRET"
	mv "$SECRET" "$SANDBOX/root/real"
	ln -s real "$SECRET"
	assert_refused "symbolic link"
	rm "$SECRET"
	assert_refused "No such file"
	# In a directory of a user's.
	SECRET=$OUT/headers
	install -m 600 "$SANDBOX/root/real" "$SECRET"
	chmod 777 "$OUT"
	assert_refused "can be written by others"
	chmod 1777 "$OUT"
	SECRET=$SANDBOX/root/real
	run -0 slurm timeout 60 "$LENS" agent --once --state-dir "$STATE_DIR" \
		--set "Endpoint=$RECEIVER_URL" --set "HeadersFile=$SECRET"
	[ -z "$(state_files 1)" ]
	grep -q hunter2 "$RECEIVED/000001.json"
}

@test "a StateDir that others could change is not used, and the job runs" {
	mkdir -m 777 "$SANDBOX/open"
	mkdir -m 700 "$SANDBOX/real"
	ln -s real "$SANDBOX/link"
	cluster_up -- "StateDir=$SANDBOX/open/state"
	# shellcheck disable=SC2016 # the task's shell's
	[ "$(as_user srun --lens sh -c 'echo $NEMO_LENS_ENABLED')" = 1 ]
	[ ! -e "$SANDBOX/open/state" ]
	no_agent
	for place in open/state link; do
		run -2 timeout 20 "$LENS" agent --once --state-dir "$SANDBOX/$place"
		[[ $output == *"$SANDBOX/"* ]]
	done
	[ -z "$(ls -A "$SANDBOX/real")" ]
	mkdir -m 755 "$SANDBOX/wide"
	run -2 timeout 20 "$LENS" agent --once --state-dir "$SANDBOX/wide"
	[[ $output == *"chmod 0700"* ]]
}

@test "no host, file or proxy that a job names is the agent's" {
	receiver_up
	listener
	cluster_up -- "Endpoint=$RECEIVER_URL"
	as_user env http_proxy="$LISTENER_URL" HTTPS_PROXY="$LISTENER_URL" ALL_PROXY="$LISTENER_URL" \
		OTEL_EXPORTER_OTLP_ENDPOINT="$LISTENER_URL" \
		OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="$LISTENER_URL" \
		OTEL_EXPORTER_OTLP_HEADERS=a=b OTEL_EXPORTER_OTLP_CERTIFICATE=/etc/shadow \
		SSL_CERT_FILE=/etc/shadow SPANK_ENDPOINT="$LISTENER_URL" \
		SLURM_SPANK_Endpoint="$LISTENER_URL" "SLURM_JOB_NAME=../../../etc/passwd" \
		srun --lens --lens-endpoint="$LISTENER_URL" -N2 true
	wait_sent 1
	assert_each_once 1
	[ ! -e "$SANDBOX/listener.seen" ]
	[ -z "$(find "$STATE_DIR" -mindepth 1 ! -name 'agent.*')" ]
}
