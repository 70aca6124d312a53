#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# slurm-lens reckon of saved outputs of sacct: no Slurm, no root.

bats_require_minimum_version 1.5.0

setup() {
	LENS=${LENS_TEST_COMMAND:-$LENS_TEST_BUILDDIR/slurm-lens}
	SACCT=$LENS_TEST_SRCDIR/tests/unit/sacct
	cd "$BATS_TEST_TMPDIR" || return 1
	# No lens.conf but a test's own.
	export SLURM_CONF=$BATS_TEST_TMPDIR/slurm.conf
}

reckon() {
	"$LENS" reckon "$@"
}

# spans EXPRESSION: of Python over the OTLP/JSON lines on standard input; `spans` is a list of
# (span, resource), ATTRIBUTE(span, key) a value.
spans() {
	python3 -c '
import json, sys
spans = [(span, group["resource"]) for line in sys.stdin for group in json.loads(line)["resourceSpans"]
         for scope in group["scopeSpans"] for span in scope["spans"]]
def attribute(holder, key):
    return next((list(a["value"].values())[0] for a in holder["attributes"] if a["key"] == key), None)
result = eval(sys.argv[1])
print(result)
sys.exit(not result)' "$1"
}

@test "all jobs of a saved output: a trace for each attempt" {
	local release attempts
	for release in 24.11 26.05; do
		run -0 --separate-stderr reckon --from "$SACCT/$release.txt"
		# shellcheck disable=SC2154 # of bats
		[ "$stderr" = "" ]
		# Rows of jobs, but of a component that does not lead and of a job before it was resized.
		attempts=$(awk -F'~' 'NF > 11 && $1 ~ /^[0-9]+$/ && $2 !~ /\+1/ && $11 != "RESIZING"' \
			"$SACCT/$release.txt" | wc -l)
		# The one with a newline in its name is two lines.
		spans 'len({span["traceId"] for span, _ in spans}) == '$((attempts + 1)) <<<"$output"
		spans 'len({span["spanId"] for span, _ in spans}) == len(spans)' <<<"$output"
	done
}

@test "22.05 without its slurmdbd: what may be a later attempt claims no ids" {
	run -1 --separate-stderr reckon --from "$SACCT/22.05.txt"
	spans 'len(spans) > 100' <<<"$output"
	# shellcheck disable=SC2154 # of bats
	[ "$(grep -c 'may have purged its first attempts' <<<"$stderr")" = "${#stderr_lines[@]}" ]
	[[ $stderr == *"job 8_3: "* && $stderr == *"give --attempt"* ]]
	run -1 --separate-stderr reckon --from "$SACCT/22.05.txt" 8_3
	[ "$output" = "" ]
	run -0 --separate-stderr reckon --from "$SACCT/22.05.txt" --attempt 0 8_3
	[ "$stderr" = "" ]
	spans '{attribute(r, "slurm.job.id") for _, r in spans} == {"8_3"}' <<<"$output"
	run -0 reckon --from "$SACCT/22.05.txt" --attempt 2 8_3
	spans '{attribute(r, "slurm.restart_count") for _, r in spans} == {"2"}' <<<"$output"
	run -2 --separate-stderr reckon --from "$SACCT/24.11.txt" --attempt 0 8_3
	[[ $output == "" && $stderr == *"accounting itself numbers the attempts of job 8_3"* ]]
}

@test "jobs by any of their names, and which there are not" {
	local name
	for name in 14 13+1; do
		run -0 reckon --from "$SACCT/24.11.txt" "$name"
		spans '[span["name"] for span, _ in spans].count("slurm.job") == 1' <<<"$output"
		spans 'all(attribute(s, "slurm.node.name") == "n2" for s, _ in spans)' <<<"$output"
	done
	run -0 reckon --from "$SACCT/24.11.txt" 13
	spans '[span["name"] for span, _ in spans].count("slurm.job") == 2' <<<"$output"
	run -0 reckon --from "$SACCT/24.11.txt" 8
	spans 'sorted({attribute(r, "slurm.job.id") for _, r in spans}) == ["8_1", "8_2", "8_3"]' <<<"$output"
	run -1 --separate-stderr reckon --from "$SACCT/24.11.txt" 2 8_9 999
	spans '{attribute(r, "slurm.job.id") for _, r in spans} == {"2"}' <<<"$output"
	[[ $stderr == *"job 8_9: accounting has no record"* && $stderr == *"job 999: "* ]]
	run -1 --separate-stderr reckon --from "$SACCT/24.11.txt" --cluster other 2
	[[ $output == "" && $stderr == *"job 2: accounting has no record"* ]]
}

@test "the realm and the service's name: lens.conf, an option, a setting" {
	local plain set given
	plain=$(reckon --from "$SACCT/24.11.txt" 2 | spans 'spans[0][0]["traceId"]')
	given=$(reckon --from "$SACCT/24.11.txt" --realm east 2 | spans 'spans[0][0]["traceId"]')
	set=$(reckon --from "$SACCT/24.11.txt" --set Realm=east 2 | spans 'spans[0][0]["traceId"]')
	[ "$plain" != "$given" ]
	[ "$given" = "$set" ]
	echo "Realm = east" >lens.conf
	echo "ServiceName = jobs" >>lens.conf
	run -0 reckon --from "$SACCT/24.11.txt" 2
	spans '{span["traceId"] for span, _ in spans} == {"'"$given"'"}' <<<"$output"
	spans '{attribute(r, "service.name") for _, r in spans} == {"jobs"}' <<<"$output"
	[ "$(reckon --from "$SACCT/24.11.txt" --realm '' 2 | spans 'spans[0][0]["traceId"]')" = "$plain" ]
}

@test "standard input, a file that is appended to, a full disk, a closed pipe" {
	reckon --from - 2 <"$SACCT/24.11.txt" >out
	reckon --from "$SACCT/24.11.txt" 2 | cmp - out
	reckon --from "$SACCT/24.11.txt" --file file 2
	reckon --from "$SACCT/24.11.txt" --file file 2
	cat out out | cmp - file
	run -1 --separate-stderr reckon --from "$SACCT/24.11.txt" --file missing/deep/file 2
	[[ $output == "" && $stderr == *"missing/deep/file: No such file or directory"* ]]
	run -1 --separate-stderr reckon --from "$SACCT/24.11.txt" --file missing/file 2
	[[ $output == "" && $stderr == *"missing/file: No such file or directory"* ]]
	[ ! -e missing ]
	# shellcheck disable=SC2016 # the inner shell's
	run ! bash -c '"$0" reckon --from "$1" >/dev/full' "$LENS" "$SACCT/24.11.txt"
	[[ $output == *"No space left on device"* ]]
	# shellcheck disable=SC2016 # the inner shell's
	run -0 bash -c '"$0" reckon --from "$1" | head -c 10 >/dev/null' "$LENS" "$SACCT/24.11.txt"
	[ "$output" = "" ]
}

@test "what sacct did not print is refused, with the line" {
	run -2 --separate-stderr reckon --from missing
	[[ $stderr == *"missing: No such file or directory"* ]]
	run -2 --separate-stderr reckon --from - </dev/null
	[[ $stderr == *"standard input: it does not begin with the header line"* ]]
	sed '2s/1796069418/soon/' "$SACCT/24.11.txt" >broken
	run -2 --separate-stderr reckon --from broken
	[[ $output == "" && $stderr == *"broken:2: Submit is \`soon\`"* ]]
	cut -d'~' -f1-5 "$SACCT/24.11.txt" >narrow
	run -2 --separate-stderr reckon --from narrow
	[[ $stderr == *"narrow: the column State is missing; save the output with --format=JobIDRaw,"* ]]
	head -n 1 "$SACCT/24.11.txt" >empty
	run -1 --separate-stderr reckon --from empty
	[[ $output == "" && $stderr == *"no span"* ]]
}

@test "usage errors: 2, and what would have been right" {
	local case_
	local refused=(
		"|which job?"
		"one|\`one\`: not a job as 36, 36_3 or 50+1"
		"36.0|\`36.0\`: not a job as 36, 36_3 or 50+1"
		"--attempt -1 36|--attempt=-1: not a number from 0 on"
		"--send --file x 36|--send and --file do not go together"
		"--set Realm 36|--set Realm: takes Key=Value"
		"--from|--from: its value is missing"
		"--cluster= 36|--cluster: a name is missing"
		"--nodes 36|unknown option --nodes"
	)
	for case_ in "${refused[@]}"; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr -2 reckon ${case_%%|*}
		[ "$output" = "" ]
		[ "$stderr" = "slurm-lens reckon: ${case_#*|}; see slurm-lens reckon --help" ]
	done
	run -0 reckon --help
	[[ $output == "Usage: slurm-lens reckon "* ]]
}

@test "a file that cannot be written is said at once" {
	mkfifo fifo
	run -1 timeout 20 "$LENS" reckon --from "$SACCT/24.11.txt" --file fifo
	[[ $output == *"fifo: not a regular file"* ]]
	ln -s elsewhere link
	run -1 timeout 20 "$LENS" reckon --from "$SACCT/24.11.txt" --file link
	[[ $output == *"link: a symbolic link is not followed"* ]]
	[ ! -e elsewhere ]
}

# at_terminal SCRIPT: a shell's, with standard error on a terminal: what that shows is in `shown`.
at_terminal() {
	script -qec "$1" /dev/null >shown
}

# shellcheck disable=SC2016 # the terminal's shell has LENS and SACCT
@test "how far it is: on a terminal alone, and nothing of it is left" {
	local gone=$'\r\e[K'
	export LENS SACCT TERM=xterm
	mkdir bin
	# A sacct that takes its time; what stands between the columns is what it was asked for.
	cat >bin/sacct <<-E
	#!/bin/sh
	for word; do
	    case \$word in
	    --helpformat) echo "JobID Restarts SLUID"; exit ;;
	    --delimiter=*) between=\${word#*=} ;;
	    esac
	done
	sleep 2
	sed "s/~/\$between/g" "$SACCT/24.11.txt"
	E
	chmod 755 bin/sacct
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
	reckon --from "$SACCT/24.11.txt" 2 >expected

	at_terminal '"$LENS" reckon 2 >out'
	cmp out expected
	grep -qF "${gone}asking accounting: 1 s" shown
	[ "$(tail -c 4 shown)" = "$gone" ]
	# It is gone before what is said, too.
	! at_terminal '"$LENS" reckon 2 999 >out' || return 1
	grep -qF "${gone}slurm-lens reckon: job 999: " shown

	at_terminal '(sleep 2; cat "$SACCT/24.11.txt") | "$LENS" reckon --from - >out'
	grep -qF "${gone}reading: 1 s" shown
	[ "$(tail -c 4 shown)" = "$gone" ]
	# Who takes the spans is slow.
	at_terminal '"$LENS" reckon --from "$SACCT/24.11.txt" | (sleep 2; cat >out)'
	grep -q 'jobs and steps: [0-9]* of [0-9]*, [0-9]* %' shown
	[ "$(tail -c 4 shown)" = "$gone" ]
	reckon --from "$SACCT/24.11.txt" | cmp - out

	# None of it on a dumb terminal, between spans, or in a pipe.
	TERM=dumb at_terminal '"$LENS" reckon 2 >out'
	[ ! -s shown ]
	at_terminal '"$LENS" reckon --from "$SACCT/24.11.txt"'
	! grep -qF "$gone" shown || return 1
	run -0 --separate-stderr reckon 2
	# shellcheck disable=SC2154 # of bats
	[ "$stderr" = "" ]
}
