# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the bats files of check-interop share: the real collector, and the real SDKs in a place
# that every user can read. On top of what the cluster tests have.

# shellcheck source=SCRIPTDIR/../cluster/helpers.bash
. "$LENS_TEST_SRCDIR/tests/cluster/helpers.bash"
INTEROP=${LENS_TEST_INTEROP:-$LENS_TEST_SRCDIR/build/interop}

# --- collectors

collector_port_free() {
	! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# ports_create: PORT_BASE, the first of 20 free ports. Below those that the kernel hands out and
# those of minicluster; where they begin depends on the pid, so tests run together differ.
ports_create() {
	local i
	PORT_BASE=$((10000 + (BASHPID % 450) * 20))
	for ((i = 0; i < 20; i++)); do
		collector_port_free $((PORT_BASE + i)) && continue
		PORT_BASE=$((PORT_BASE + 20)) i=-1
	done
	export PORT_BASE
}

port() { # NUMBER
	echo $((PORT_BASE + $1))
}

collector_healthy() { # HEALTH-PORT PID
	kill -0 "$2" 2>/dev/null || return 0 # the caller sees that it is dead
	"$LENS_TEST_PYTHON" -c 'import sys, urllib.request
urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/", timeout=5)' "$1"
}

# collector_up NAME HEALTH-PORT CONFIG [KEY=VALUE...]: a collector with this environment. One that
# was ended before goes on with the files that it had.
collector_up() {
	local name=$1 health=$2 config=$3 pid
	shift 3
	[ -x "$INTEROP/collector" ] || { echo "no collector: run make check-interop" >&2; return 1; }
	env "$@" "$INTEROP/collector" --config "$config" \
		--config 'yaml:service::telemetry::metrics::level: none' \
		</dev/null >>"$SANDBOX/$name.log" 2>&1 3>&- &
	pid=$!
	disown "$pid" # no word of the shell about one that a test kills
	echo "$pid" >"$SANDBOX/$name.collector"
	wait_for 60 collector_healthy "$health" "$pid" && kill -0 "$pid" && return 0
	tail -n 20 "$SANDBOX/$name.log" >&2
	return 1
}

collector_end() { # NAME [SIGNAL]
	local pid
	[ -s "$SANDBOX/$1.collector" ] || return 0
	pid=$(cat "$SANDBOX/$1.collector")
	kill -s "${2:-TERM}" "$pid" 2>/dev/null
	wait_for 30 receiver_gone "$pid"
	rm -f "$SANDBOX/$1.collector"
}

# interop_destroy: for teardown_file.
interop_destroy() {
	local file
	[ -n "${SANDBOX:-}" ] || return 0
	for file in "$SANDBOX"/*.collector; do
		[ ! -e "$file" ] || collector_end "$(basename "$file" .collector)"
	done
	sandbox_destroy
}

# backend_up NAME FIRST: a collector with the configuration of receiver.yaml, on the ports FIRST (for
# its health) to FIRST + 6. It writes $SANDBOX/NAME.jsonl.
backend_up() {
	[ -e "$SANDBOX/certificates" ] || {
		mkdir "$SANDBOX/certificates"
		"$LENS_TEST_SRCDIR/tests/make-certificates" "$SANDBOX/certificates"
	}
	collector_up "$1" "$(port "$2")" "$LENS_TEST_SRCDIR/tests/interop/receiver.yaml" \
		PORT_HEALTH="$(port "$2")" PORT_GRPC="$(port $(($2 + 1)))" \
		PORT_HTTP="$(port $(($2 + 2)))" PORT_GRPC_TLS="$(port $(($2 + 3)))" \
		PORT_HTTP_TLS="$(port $(($2 + 4)))" PORT_GRPC_TOKEN="$(port $(($2 + 5)))" \
		PORT_HTTP_TOKEN="$(port $(($2 + 6)))" TRACES="$SANDBOX/$1.jsonl" \
		TOKEN=t0ken-of-the-site CERTIFICATES="$SANDBOX/certificates"
}

# the_receiver_up: the one that agent and tasks send to; sets RECEIVER_URL and RECEIVER_GRPC_URL,
# those with TLS and with a token, and COLLECTED, the file that it writes.
the_receiver_up() {
	backend_up receiver 0 || return 1
	COLLECTED=$SANDBOX/receiver.jsonl
	RECEIVER_GRPC_URL=http://127.0.0.1:$(port 1)
	RECEIVER_URL=http://127.0.0.1:$(port 2)
	TLS_GRPC_URL=https://127.0.0.1:$(port 3)
	TLS_URL=https://127.0.0.1:$(port 4)
	TOKEN_GRPC_URL=http://127.0.0.1:$(port 5)
	TOKEN_URL=http://127.0.0.1:$(port 6)
	export COLLECTED RECEIVER_URL RECEIVER_GRPC_URL TLS_URL TLS_GRPC_URL TOKEN_URL TOKEN_GRPC_URL
}

# --- spans

# canonical FILE...: each span of OTLP/JSON lines with all of its fields, a line each, sorted.
canonical() {
	"$LENS_TEST_PYTHON" "$LENS_TEST_SRCDIR/tests/interop/canonical.py" "$@"
}

# true_in FILE EXPRESSION: of Python, over `spans`, those of a file that may be missing.
true_in() {
	[ "$("$LENS_TEST_PYTHON" "$LENS_TEST_SRCDIR/tests/cluster/decode.py" "$1" \
		--eval "bool($2)")" = true ]
}

# --- the SDKs

# place_of_python: sets PYTHON_HOME and PYTHON_NAME, the interpreter of the venv where every user
# can run it: in its own place, or in a copy.
place_of_python() {
	read -r PYTHON_NAME PYTHON_HOME < <("$INTEROP/python/bin/python" -c 'import sys
print("python%d.%d" % sys.version_info[:2], sys.base_prefix)')
	as_anybody test -x "$PYTHON_HOME/bin/$PYTHON_NAME" && return 0
	copy_of "$PYTHON_HOME" "$SANDBOX/sdk/python"
	PYTHON_HOME=$SANDBOX/sdk/python
}

as_anybody() {
	setpriv --reuid=www-data --regid=www-data --init-groups "$@"
}

# copy_of FILE NEW: by hard links where they are on one file system.
copy_of() {
	cp -al "$1" "$2" 2>/dev/null || { rm -rf "$2" && cp -a "$1" "$2"; }
}

# sdks_create: $SANDBOX/sdk with `python`, task-go, task.mjs and its modules, for every user.
sdks_create() {
	local sdk=$SANDBOX/sdk tests=$LENS_TEST_SRCDIR/tests/interop
	mkdir "$sdk"
	place_of_python
	copy_of "$INTEROP/python/lib" "$sdk/site"
	copy_of "$INTEROP/javascript/node_modules" "$sdk/node_modules"
	copy_of "$INTEROP/task-go" "$sdk/task-go"
	cp "$tests"/sdk/javascript/task.mjs "$tests"/sdk/python/*.py "$sdk/"
	cat >"$sdk/run-python" <<-P
	#!/bin/sh
	export LD_LIBRARY_PATH='$PYTHON_HOME/lib' PYTHONHOME='$PYTHON_HOME' PYTHONDONTWRITEBYTECODE=1
	export PYTHONPATH='$sdk/site/$PYTHON_NAME/site-packages'
	exec '$PYTHON_HOME/bin/$PYTHON_NAME' "\$@"
	P
	chmod 755 "$sdk/run-python"
	SDK=$sdk
	export SDK
}
