#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# contrib/quickstart demo, as a newcomer types it: what it shows and leaves, and what Ctrl-C leaves.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	export HERE
	HERE=$(mktemp -d /tmp/lens-test.XXXXXX)
	export QUICKSTART_BUILD=$HERE/build QUICKSTART_TMP=$HERE/tmp
	mkdir -m 1777 "$QUICKSTART_TMP"
	chmod 755 "$HERE"
	# Those of the make that runs the tests.
	unset MAKEFLAGS MFLAGS MAKELEVEL
}

teardown_file() {
	rm -rf "$HERE"
}

setup() {
	[ ! -f "$LENS_TEST_SRCDIR/config.status" ] || skip "the source tree is configured itself"
	QUICKSTART=$LENS_TEST_SRCDIR/contrib/quickstart
}

# left: what demo made beside its build directory, and what still runs in it.
left() {
	find "$QUICKSTART_TMP" -mindepth 1
	find /proc/[0-9]*/exe /proc/[0-9]*/cwd -maxdepth 0 -lname "$HERE/*" 2>/dev/null
	grep -F "$HERE" /proc/self/mountinfo
}

@test "demo shows both attempts; their spans and a page of them stay" {
	LC_ALL=xx_YY.UTF-8 COLUMNS=60 "$QUICKSTART" demo </dev/null >"$HERE/shown" 2>&1 3>&-
	cat "$HERE/shown"
	[ "$(grep -c '^slurm.job_attempt .* s  \(REQUEUED\|COMPLETED\)$' "$HERE/shown")" = 2 ]
	# This bash itself says it once, before it can do anything about it.
	[ "$(grep -c setlocale "$HERE/shown")" -le 1 ]
	run ! grep "$(printf '[\r\033]')" "$HERE/shown"
	eval "$(sed -n 's/^in a terminal: *//p' "$HERE/shown")" >"$HERE/again"
	grep -q 'attempt 1, COMPLETED' "$HERE/again"
	grep -qi '<html' "$(sed -n 's/^in a browser: *//p' "$HERE/shown")"
	[ -z "$(left)" ]
}

# interrupted TEXT: Ctrl-C when demo has written TEXT.
interrupted() {
	run -130 "$LENS_TEST_PYTHON" "$LENS_TEST_SRCDIR/tests/cmd/terminal.py" "$1:^C" "$QUICKSTART" demo
	run ! grep -iE 'error|failed|line [0-9]|Terminated|Killed' <<<"$output"
	[ -z "$(left)" ]
}

@test "Ctrl-C while the cluster comes up, and while the job runs: nothing is left" {
	local begin
	interrupted "==> a throwaway cluster"
	interrupted "nodes, port"
	begin=$SECONDS
	interrupted "requeues itself once"
	[ $((SECONDS - begin)) -lt 30 ]
}

@test "help says what stays, and where" {
	"$QUICKSTART" help | grep -q 'demo.html'
	"$QUICKSTART" help | grep -q 'QUICKSTART_BUILD'
}
