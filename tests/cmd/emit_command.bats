#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016 # what stands in single quotes is the command's shell's
# slurm-lens emit -- COMMAND: the command cannot tell it from a shell, and its span arrives.

bats_require_minimum_version 1.5.0
load emit

# terminal SCRIPT CMD...: see terminal.py.
terminal() {
	"$LENS_TEST_PYTHON" "$LENS_TEST_SRCDIR/tests/cmd/terminal.py" "$@"
}

# wait_status PID: sets status; `run` would wait in a subshell, which has no such child.
wait_status() {
	status=0
	wait "$1" || status=$?
}

# arrived: a request is at the receiver.
arrived() {
	[ -n "$(find "$RECEIVED" -name '0*.json')" ]
}

# dead_collector: what is sent from here on is refused.
dead_collector() {
	OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
}

@test "a span around a command" {
	run --separate-stderr -0 emit --service s --name 'my work' --attr k=v --kind client -- \
		sh -c 'echo out; echo err >&2' --secret=hunter2
	[ "$output" = out ]
	# shellcheck disable=SC2154 # of bats
	[ "$stderr" = err ]
	check <<-'E'
	import time
	assert one["name"] == "my work" and one["kind"] == 3 and one["flags"] == 3
	assert one["status"] == {"code": 0, "message": ""} and one["parent_span_id"] == ""
	pid = one["attributes"].pop("process.pid")
	assert type(pid) is int and pid > 1
	assert one["attributes"] == {"process.command": "sh", "process.exit.code": 0, "k": "v"}, one
	assert one["resource"] == {"service.name": "s"}
	assert one["start"] <= one["end"] <= time.time_ns() and one["start"] > time.time_ns() - 600e9
	E
	run ! grep -r hunter2 "$RECEIVED"
}

@test "its name is the command's, its arguments an attribute where that is wanted" {
	mkdir -p bin
	printf '#!/bin/sh\n' >bin/wörk
	chmod 755 bin/wörk
	emit --command-args -- ./bin/wörk 'a b' '' --help
	check <<-'E'
	assert one["name"] == "wörk"
	assert one["attributes"]["process.command"] == "./bin/wörk"
	assert one["attributes"]["process.command_args"] == ["./bin/wörk", "a b", "", "--help"]
	E
}

@test "the exit status, of each kind" {
	local case_
	local cases=(
		"exit 0|0|0|"
		"exit 1|1|1|exit_1"
		"exit 3|3|3|exit_3"
		"exit 255|255|255|exit_255"
		"kill -TERM \$\$|143|None|SIGTERM"
		"kill -KILL \$\$|137|None|SIGKILL"
		"kill -INT \$\$|130|None|SIGINT"
		"kill -PIPE \$\$|141|None|SIGPIPE"
		"kill -USR1 \$\$|138|None|SIGUSR1"
	)
	for case_ in "${cases[@]}"; do
		local text expected code type
		IFS='|' read -r text expected code type <<<"$case_"
		rm -f "$RECEIVED"/0*
		run emit -- sh -c "$text"
		[ "$status" = "$expected" ]
		[ "$output" = "" ]
		check <<-E
		attributes = one["attributes"]
		assert attributes.get("process.exit.code") == $code, attributes
		assert attributes.get("error.type", "") == "$type", attributes
		assert one["status"]["code"] == (2 if "$type" else 0)
		E
	done
}

@test "a command that cannot be run: 127 and 126, and a span that says so" {
	run -127 emit -- nothing-of-this-name
	[ "$output" = "slurm-lens emit: nothing-of-this-name: No such file or directory" ]
	check <<-'E'
	assert one["status"] == {"code": 2, "message": "No such file or directory"}
	assert one["attributes"]["error.type"] == "command_not_found"
	assert "process.exit.code" not in one["attributes"]
	E
	rm -f "$RECEIVED"/0*
	echo text >plain
	run -126 emit -- ./plain
	[ "$output" = "slurm-lens emit: ./plain: Permission denied" ]
	check <<-'E'
	assert one["name"] == "plain" and one["attributes"]["error.type"] == "command_not_runnable"
	E
	run -127 env NEMO_LENS_ENABLED=0 "$LENS" emit -- nothing-of-this-name
	run -126 env NEMO_LENS_ENABLED=0 "$LENS" emit -- ./plain
}

@test "what the command traces hangs below its span" {
	local ask='echo "$TRACEPARENT ${TRACESTATE-none}"'
	export TRACESTATE=x=1
	emit --name new -- sh -c "$ask" >new.txt
	TRACEPARENT=00-$TRACE-$SPAN-01 emit --name inside -- sh -c "$ask" >inside.txt
	TRACEPARENT=broken emit --name broken -- sh -c "$ask" >broken.txt
	TRACEPARENT=00-$TRACE-$SPAN-01 emit --name outer -- "$LENS" emit --name inner -- true
	check <<-E
	def told(name):
	    return open(name + ".txt").read().strip()
	for name in "new", "broken":
	    span = by_name[name]
	    assert told(name) == f"00-{span['trace_id']}-{span['span_id']}-03 none", told(name)
	    assert span["parent_span_id"] == "" and span["trace_id"] != "$TRACE"
	inside = by_name["inside"]
	assert told("inside") == f"00-$TRACE-{inside['span_id']}-01 x=1", told("inside")
	assert inside["parent_span_id"] == "$SPAN"
	assert by_name["inner"]["parent_span_id"] == by_name["outer"]["span_id"]
	assert by_name["inner"]["trace_id"] == "$TRACE"
	E
}

@test "descriptors, signals, group and environment are the caller's" {
	local ask='cat; ls /proc/self/fd; grep -E "^Sig(Blk|Ign)" /proc/self/status
		ps -o pgid= -p $$; ps -o sid= -p $$; env -u TRACEPARENT -u _; pwd; umask; echo oops >&2'
	exec 7</dev/null
	printf 'in\0put' >input
	bash -c "trap '' HUP USR1 CHLD PIPE; sh -c '$ask'" <input >direct 2>direct.err
	bash -c "trap '' HUP USR1 CHLD PIPE; '$LENS' emit -- sh -c '$ask'" <input >wrapped 2>wrapped.err
	exec 7<&-
	# The number of the process is not the same in both, nor that of `ls`.
	diff -a direct wrapped
	diff direct.err wrapped.err
	check <<-'E'
	assert one["status"]["code"] == 0
	E
}

@test "a signal to it goes on to the command, once" {
	local signal
	for signal in TERM USR1 HUP INT; do
		rm -f ready seen "$RECEIVED"/0*
		# Background commands of a shell without job control ignore INT.
		"$LENS_TEST_PYTHON" -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$LENS" emit -- bash -c '
			trap "echo seen >>seen" '$signal'
			: >ready
			until [ -s seen ]; do sleep 0.1; done
			sleep 0.5
			exit 9' 3>&- &
		wait_for 30 test -e ready
		kill -$signal $!
		wait_status $!
		[ "$status" = 9 ]
		[ "$(cat seen)" = seen ]
		check <<-'E'
		assert one["attributes"]["process.exit.code"] == 9
		E
	done
}

@test "a signal that ends the command gives 128 and its number" {
	"$LENS" emit -- sh -c ': >ready; exec sleep 300' 3>&- &
	wait_for 30 test -e ready
	kill -TERM $!
	wait_status $!
	[ "$status" = 143 ]
	check <<-'E'
	assert one["attributes"]["error.type"] == "SIGTERM"
	E
}

@test "Ctrl-C at a terminal reaches the command once, and its span arrives" {
	run terminal 'ready:^C' "$LENS" emit -- bash -c '
		trap "echo INT; exit 7" INT; echo ready; sleep 60 & wait'
	[ "$status" = 7 ]
	[ "$(grep -c '^\^*C*INT$' <<<"$output")" = 1 ]
	check <<-'E'
	assert one["attributes"]["process.exit.code"] == 7
	E
	# shellcheck disable=SC1003
	run terminal 'ready:^\' "$LENS" emit -- sh -c 'ulimit -c 0; echo ready; exec sleep 60'
	[ "$status" = 131 ]
}

@test "Ctrl-Z stops both, fg goes on, the terminal is the command's" {
	run terminal 'prompt$ :'"'$LENS'"' emit -- sh -c "echo rea""dy; read line; echo got \$line; exit 4"\n|ready:^Z|prompt$ :jobs -l; echo was $?\n|was 0:fg\n|emit:typed\n|got typed:echo status $?\n|status 4:exit\n' \
		env PS1='prompt$ ' bash --norc --noprofile -i
	[[ $output == *Stopped*"got typed"*"status 4"* ]]
	check <<-'E'
	assert one["attributes"]["process.exit.code"] == 4
	E
}

@test "a dead collector changes no status and says one line" {
	dead_collector
	run --separate-stderr -5 emit -- sh -c 'echo out; exit 5'
	[ "$output" = out ]
	[ "$stderr" = "slurm-lens emit: the span was not sent: $OTEL_EXPORTER_OTLP_ENDPOINT/v1/traces: connection refused" ]
}

@test "a collector that does not answer costs the time that was given, not more" {
	receiver_answer 'delay 100 200'
	local begin=$SECONDS
	run -5 emit --timeout 300 -- sh -c 'exit 5'
	[[ $output == "slurm-lens emit: the span was not sent: $RECEIVER_URL/v1/traces: "* ]]
	[[ $output == *"no answer within 300 ms" || $output == *"given up before an answer came" ]]
	# What the environment says is for programs that export as they run: two seconds are enough.
	OTEL_EXPORTER_OTLP_TIMEOUT=0 run -0 emit -- true
	[[ $output == *"no answer within 2000 ms" || $output == *"given up before an answer came" ]]
	[ $((SECONDS - begin)) -lt 60 ]
}

@test "a signal while it sends ends the sending" {
	receiver_answer 'delay 100 200'
	"$LENS" emit --timeout 90000 -- sh -c 'exit 5' 2>err 3>&- &
	wait_for 30 arrived
	local begin=$SECONDS
	kill -TERM $!
	wait_status $!
	[ "$status" = 5 ]
	[ $((SECONDS - begin)) -lt 60 ]
	[[ $(cat err) == *"given up before an answer came" ]]
}

@test "an ignored signal does not end the sending" {
	receiver_answer 'delay 3 200'
	bash -c 'trap "" HUP; exec "$1" emit --timeout 90000 -- sh -c "exit 5"' - "$LENS" 2>err 3>&- &
	wait_for 30 arrived
	kill -HUP $!
	wait_status $!
	[ "$status" = 5 ]
	[ ! -s err ]
}

@test "what the environment has wrong is said, and the command runs" {
	OTEL_EXPORTER_OTLP_ENDPOINT=nonsense run -5 emit -- sh -c 'exit 5'
	[[ $output == "slurm-lens emit: nothing was sent: OTEL_EXPORTER_OTLP_ENDPOINT: "* ]]
	NEMO_LENS_EXPORTER=zipkin run -5 emit -- sh -c 'exit 5'
	[ "$output" = "slurm-lens emit: the command has no span: NEMO_LENS_EXPORTER=zipkin: not otlp or console" ]
	OTEL_EXPORTER_OTLP_CERTIFICATE=/nowhere run -5 emit -- sh -c 'exit 5'
	[[ $output == *"OTEL_EXPORTER_OTLP_CERTIFICATE: /nowhere: No such file or directory" ]]
	nothing_arrived
}

@test "switched off it becomes the command: nothing is added, nothing is sent" {
	local off
	for off in NEMO_LENS_ENABLED=0 OTEL_SDK_DISABLED=true OTEL_TRACES_EXPORTER=none \
		TRACEPARENT=00-$TRACE-$SPAN-00; do
		run -3 env "$off" TRACESTATE=x=1 "$LENS" emit -- \
			sh -c 'echo "${TRACEPARENT-none} $TRACESTATE"; exit 3'
		case $off in
		TRACEPARENT*) [ "$output" = "00-$TRACE-$SPAN-00 x=1" ] ;;
		*) [ "$output" = "none x=1" ] ;;
		esac
		run -0 env "$off" "$LENS" emit -v -- true
		[[ $output == "slurm-lens emit: the command has no span: "*"${off%%=*}"* ]]
	done
	env NEMO_LENS_ENABLED=0 "$LENS" emit -- sh -c 'echo $$ >pid; exec sleep 300' 3>&- &
	wait_for 30 test -s pid
	[ "$(cat pid)" = $! ]
	kill $!
	nothing_arrived
}

@test "the console is standard error here" {
	NEMO_LENS_EXPORTER=console run --separate-stderr -0 emit --name n -- echo out
	[ "$output" = out ]
	[[ $stderr == '{"resourceSpans":['*'"name":"n"'* ]]
	nothing_arrived
}

@test "closed descriptors and a closed pipe harm nobody" {
	run bash -c '"$1" emit -- sh -c "exit 6" <&- >&- 2>&-' - "$LENS"
	[ "$status" = 6 ]
	run bash -c 'set -o pipefail; "$1" emit -- yes 2>err | head -n 1' - "$LENS"
	[ "$status" = 141 ]
	[ "$output" = y ]
	[ ! -s err ]
	check <<-'E'
	assert sorted(span["name"] for span in spans) == ["sh", "yes"]
	assert by_name["yes"]["attributes"]["error.type"] == "SIGPIPE"
	E
}

@test "children that the caller had already are not taken for the command" {
	run bash -c 'sh -c "exit 1" & sleep 0.2 & exec "$1" emit -- sh -c "sleep 0.5; exit 8"' - "$LENS"
	[ "$status" = 8 ]
	check <<-'E'
	assert one["attributes"]["process.exit.code"] == 8
	E
}
