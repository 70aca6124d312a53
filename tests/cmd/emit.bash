# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034 # what bats files read
# What the files of `slurm-lens emit` share: a receiver and what arrives, without a cluster.

load ../cluster/helpers

# Of a TRACEPARENT.
TRACE=0123456789abcdef0123456789abcdef
SPAN=0123456789abcdef

# The caller's own variables are no part of a test.
emit_clean() {
	local name
	for name in $(compgen -e | grep -E '^(OTEL_|NEMO_LENS_|SLURM|TRACE)'); do
		unset "$name"
	done
	unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY
}

# SANDBOX is what helpers.bash wants to find.
setup_file() {
	[ -x "$LENS_TEST_PYTHON" ] || {
		echo "no Python at $LENS_TEST_PYTHON: run tests/make-venv" >&2
		return 1
	}
	emit_clean
	SANDBOX=$BATS_FILE_TMPDIR
	RECEIVED=$SANDBOX/received
	TRACES=$SANDBOX/none
	export SANDBOX RECEIVED TRACES
	receiver_up
}

teardown_file() {
	receiver_down
}

# Nothing arrived yet; it goes to the receiver.
setup() {
	LENS=$LENS_TEST_BUILDDIR/slurm-lens
	emit_clean
	rm -f "$RECEIVED"/0* "$RECEIVED/answer"
	export OTEL_EXPORTER_OTLP_ENDPOINT=$RECEIVER_URL
	cd "$BATS_TEST_TMPDIR" || return 1
}

emit() {
	"$LENS" emit "$@"
}

# check: Python on standard input, over `spans` (decode.py's), `requests` (the receiver's notes)
# and `one`, the only span.
check() {
	"$LENS_TEST_PYTHON" - "$LENS_TEST_SRCDIR/tests/cluster" "$RECEIVED" 3<&0 <<-'E'
	import glob, json, os, sys
	sys.path.insert(0, sys.argv[1])
	import decode
	spans = decode.read(sys.argv[2], False)
	requests = [json.load(open(name)) for name in sorted(glob.glob(sys.argv[2] + "/0*.json"))]
	one = spans[0] if len(spans) == 1 else None
	by_name = {span["name"]: span for span in spans}
	exec(compile(os.fdopen(3).read(), "check", "exec"))
	E
}

nothing_arrived() {
	[ -z "$(find "$RECEIVED" -name '0*')" ]
}
