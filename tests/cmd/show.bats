#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# slurm-lens show: a job as a waterfall in the terminal.

bats_require_minimum_version 1.5.0

setup_file() {
	export LC_ALL=C.UTF-8 TZ=UTC
	unset NO_COLOR COLUMNS
}

setup() {
	LENS=$LENS_TEST_BUILDDIR/slurm-lens
	cd "$BATS_TEST_TMPDIR" || return
	unset SLURM_CONF
}

sample() {
	python3 "$LENS_TEST_SRCDIR/tests/cmd/show_sample.py" "$@"
}

show() {
	"$LENS" show "$@"
}

wait_for() { # SECONDS CMD...
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || { echo "not in time: $*" >&2; return 1; }
		sleep 0.05
	done
}

@test "a small job, all of it" {
	sample tasks 2 >t.jsonl
	run -0 --separate-stderr show t.jsonl --width 80
	# shellcheck disable=SC2154 # of bats
	[ "$stderr" = "" ]
	diff - <(echo "$output") <<-'E'
	Job 36 train, alice, partition gpu, cluster mini

	attempt 0, COMPLETED, 1 min 00 s
	trace fc47ea875b2af888d72dce38e9970831, from 2026-11-30 20:00:00 +0000
	slurm.job_attempt          ██████████████████████████████  1 min 00 s  COMPLETED
	├ slurm.phase.queued       ░░                                  4.00 s
	├ slurm.job_start            ◆
	└ slurm.job                  ████████████████████████████      56.0 s  COMPLETED
	  ├ slurm.job_setup          ▌                                 1.00 s
	  ├ slurm.batch n1           ▐███████████████████████████      55.0 s
	  └ slurm.step 0 python      ▐██████████████████████████▌      54.0 s
	    ├ slurm.task rank 0 n1   ▐██████████████████████████▌      54.0 s
	    └ slurm.task rank 1 n1   ▐████████████████████             40.5 s
	E
}

@test "in 60 columns what tells attempts, ranks, nodes and times apart is whole" {
	local line
	sample attempts >t.jsonl
	run -0 show t.jsonl --width 60
	while IFS= read -r line; do
		[ ${#line} -le 60 ]
	done <<<"$output"
	[[ ${lines[1]} == "attempt 0, REQUEUED, 1 min 40 s "*" "*"█"* ]]
	grep -qxE 'trace [0-9a-f]{32}' <<<"$output"
	grep -qxE 'from 2026-11-30 [0-9:]{8} \+0000' <<<"$output"
	grep -qE '├ slurm.task rank 39 n1 +[▐█▌]+ .* s  ERROR ex' <<<"$output"
}

@test "attempts one below the other, and all on one axis" {
	sample attempts >t.jsonl
	run -0 show t.jsonl --width 100
	[ "${lines[0]}" = "Job 36 train, alice, partition gpu, cluster mini" ]
	[[ ${lines[1]} == "attempt 0, REQUEUED, 1 min 40 s "*"░█"* ]]
	[[ ${lines[2]} == "attempt 1, NODE_FAIL, 1 min 40 s "* ]]
	[[ ${lines[3]} == "attempt 2, FAILED, 3 min 20 s"* ]]
	[ "$(grep -c '^attempt' <<<"$output")" = 6 ]
	# What waits is light, what runs is not; an instant is a mark.
	grep -q '├ slurm.phase.queued  *░░*  *10.0 s$' <<<"$output"
	grep -q '├ slurm.job_start  *◆$' <<<"$output"
	# The spans of the tasks themselves hang below the task.
	grep -A1 'slurm.task rank 0 n1' <<<"$output" | grep -q '│ │ ├ train.step  *▐█.* 8.00 s$'
	# Of 40 tasks 16, the failed one among them.
	[ "$(grep -c 'slurm.task rank 39 n1 .*ERROR exit_3$' <<<"$output")" = 2 ]
	[ "$(grep -c '… 24 more slurm.task' <<<"$output")" = 2 ]
	run -0 show t.jsonl --all
	[ "$(grep -c 'slurm.task rank' <<<"$output")" = 84 ]
	run -0 show t.jsonl --attempt 1 --depth 2
	[ "$(grep -c 'slurm.task' <<<"$output")" = 0 ]
	grep -q '└ slurm.job (+5) ' <<<"$output"
	grep -q '^attempt 1, NODE_FAIL' <<<"$output"
	[[ $output != *"attempt 0"* ]]
	run -1 show t.jsonl --attempt 7
	[[ $output == *"no span of that attempt in t.jsonl"* ]]
}

@test "an ASCII locale, no colour where none is wanted" {
	sample tasks 2 >t.jsonl
	run -0 env LC_ALL=C "$LENS" show t.jsonl --color always
	[ "$(LC_ALL=C tr -d '\0-\177' <<<"$output")" = "" ]
	[[ $output == *$'\e[32m'* ]]
	run -0 env NO_COLOR=1 "$LENS" show t.jsonl --color always
	[[ $output == *$'\e['* ]]
	run -0 show t.jsonl
	[[ $output != *$'\e'* ]]
	# On a terminal: by itself, but not with NO_COLOR or TERM=dumb; as wide as it is.
	run -0 env TERM=xterm script -qec "stty cols 66; '$LENS' show t.jsonl" /dev/null
	[[ $output == *$'\e[32m'* ]]
	run -0 env TERM=xterm NO_COLOR=1 script -qec "'$LENS' show t.jsonl" /dev/null
	[[ $output != *$'\e'* ]]
	run -0 env TERM=dumb script -qec "'$LENS' show t.jsonl" /dev/null
	[[ $output != *$'\e'* ]]
}

@test "names cannot act on the terminal" {
	sample hostile >t.jsonl
	run -0 show t.jsonl --width 200
	[[ $output != *$'\e'* ]]
	[[ $output != *$'\a'* ]]
	[[ $output != *$'\u202e'* ]]
	[[ $output != *$'\u009b'* ]]
	[[ $output == *'\x1B[31m\x07\u202E\x9B 漢字 �<img'* ]]
	# All spans are there: parents in a ring, a parent that is not.
	grep -q 'ring a' <<<"$output"
	grep -q 'ring b' <<<"$output"
	grep -q ' [├└] lost .*  parent missing$' <<<"$output"
}

@test "several jobs are listed, one is picked" {
	sample jobs >t.jsonl
	run -0 --separate-stderr show t.jsonl
	[ "${#lines[@]}" = 6 ]
	[[ ${lines[0]} == "JOB   NAME   USER   CLUSTER  ATTEMPTS  STATE "* ]]
	[[ ${lines[1]} == "36_0  train  alice  mini     1         COMPLETED  2026-11-30 20:00:00 +0000  1 min 00 s" ]]
	[[ ${lines[2]} == "36_1 "*" FAILED "* ]]
	[[ ${lines[5]} == "trace "*", no job, service cron, "* ]]
	[ "$stderr" = "slurm-lens show: there are several; --job ID or --trace ID shows one" ]
	run -0 show t.jsonl --job 36_1
	[[ ${lines[0]} == "Job 36_1 train, "* ]]
	run -0 --separate-stderr show t.jsonl --job 36 # the array
	[ "${#lines[@]}" = 3 ]
	run -0 --separate-stderr show t.jsonl --job 40
	[ "${#lines[@]}" = 3 ]
	run -0 show t.jsonl --job 40 --cluster other
	[[ ${lines[0]} == "Job 40 train, "*", cluster other" ]]
	trace=$(show t.jsonl 2>/dev/null | sed -n 's/^trace \([0-9a-f]*\),.*/\1/p')
	run -0 show t.jsonl --trace "${trace^^}"
	[ "${lines[0]}" = "Trace of cron" ]
	run -1 show t.jsonl --job 3
	[[ $output == *"no span of job 3 in t.jsonl"* ]]
	run -2 show t.jsonl --html page.html
	[ ! -e page.html ]
	[[ $output == *"--html is of one job"* ]]
}

@test "spans of another program without a word of the job, in the job's trace" {
	sample tasks 2 >t.jsonl
	trace=$(sed -n 's/.*"traceId":"\([0-9a-f]*\)".*/\1/p;q' t.jsonl)
	# The Collector's file exporter: numbers where we write text, before the job's own spans.
	cat - t.jsonl >all.jsonl <<-E
	{"resourceMetrics":[]}
	{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"store"}}]},"scopeSpans":[{"scope":{},"spans":[{"traceId":"$trace","spanId":"00000000000000aa","parentSpanId":"00000000000000ff","name":"put","kind":2,"startTimeUnixNano":1796068810000000000,"endTimeUnixNano":1796068811000000000,"attributes":[{"key":"n","value":{"intValue":3}}]}]}]}]}
	E
	run -0 show all.jsonl --job 36
	grep -q '  [├└] put  *.* 1.00 s  parent missing$' <<<"$output"
	run -0 show - --job 36 <all.jsonl
	grep -q '  [├└] put  *.* 1.00 s  parent missing$' <<<"$output"
}

@test "broken lines are skipped and counted; what was sent twice is shown once" {
	sample tasks 2 >whole.jsonl
	{
		cat whole.jsonl whole.jsonl
		echo "garbage"
		echo
		echo '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"x"}]}]}]}'
		head -c 200 whole.jsonl
	} >t.jsonl
	run -0 --separate-stderr show t.jsonl
	[ "$output" = "$(show whole.jsonl)" ]
	# shellcheck disable=SC2154 # of bats
	[[ ${stderr_lines[0]} == "slurm-lens show: 2 lines were skipped, the first: t.jsonl, line 19: it is no JSON: "* ]]
	[ "${stderr_lines[1]}" = "slurm-lens show: 1 span was skipped: no valid id or no start" ]
	echo "no json" >t.jsonl
	run -1 show t.jsonl
	[[ $output == *"1 line was skipped, the first: t.jsonl, line 1: "*"no such span in t.jsonl"* ]]
}

@test "rotated files, packed ones, a directory, standard input, a pipe" {
	sample attempts >t.jsonl
	show t.jsonl >expected
	mkdir d 'odd name é'
	head -n 8 t.jsonl | gzip >d/traces.jsonl.2.gz
	sed -n '9,20p' t.jsonl >d/traces.jsonl.1
	sed -n '21,30p' t.jsonl >d/traces-2026-11-30T20-00-00.000.jsonl
	tail -n +31 t.jsonl >d/traces.jsonl
	echo "not read" >d/other.txt
	run -0 show d/traces.jsonl
	[ "$output" = "$(cat expected)" ]
	run -0 show d
	[ "$output" = "$(cat expected)" ]
	run -0 show d/traces.jsonl.1
	[ "$output" != "$(cat expected)" ]
	run -0 show - <t.jsonl
	[ "$output" = "$(cat expected)" ]
	run -0 show <(cat t.jsonl)
	[ "$output" = "$(cat expected)" ]
	cp t.jsonl 'odd name é/-x.jsonl'
	run -0 show 'odd name é'
	[ "$output" = "$(cat expected)" ]
	run -1 show - </dev/null
	[[ $output == *"no such span in standard input"* ]]
}

@test "a job by its id, in File of the settings" {
	sample attempts >traces.jsonl
	sample jobs >>traces.jsonl
	echo "File = $PWD/traces.jsonl" >lens.conf
	run -0 show 36_1 --config lens.conf
	[[ ${lines[0]} == "Job 36_1 train, "* ]]
	run -0 show 40+1 --cluster other --set "File=$PWD/traces.jsonl" --config lens.conf
	[[ ${lines[0]} == "Job 40 train, "*"other" ]]
	run -1 show 99 --config lens.conf
	[[ $output == *"no span of job 99 in $PWD/traces.jsonl"*"first node"* ]]
	printf 'Endpoint = http://collector:4318\nFile = %s/none/traces.jsonl\n' "$PWD" >lens.conf
	run -1 show 36 --config lens.conf
	[[ $output == *"go to http://collector:4318"* ]]
	run -2 show 36 --config missing.conf
	[[ $output == *missing.conf* ]]
	# A file that is called like a job is named with its directory.
	sample tasks 2 >./36
	run -0 show ./36
}

@test "memory goes with the job, not with the file" {
	sample mass 400 >some.jsonl
	for _ in {1..40}; do cat some.jsonl; done >t.jsonl # 100 MB and more
	[ "$(stat -c %s t.jsonl)" -gt 100000000 ]
	(
		# AddressSanitizer's shadow takes all there is of addresses.
		grep -q __asan_init "$LENS" || ulimit -v 80000
		"$LENS" show t.jsonl --job 1007
	) >output
	grep -q '^Job 1007 ' output
	[ "$(grep -c 'slurm.task' output)" = 2 ]
}

@test "no progress where it is piped, none left on a terminal" {
	sample mass 400 >some.jsonl
	for _ in {1..20}; do cat some.jsonl; done >t.jsonl
	run -0 --separate-stderr show t.jsonl
	[ "$stderr" = "slurm-lens show: there are several; --job ID or --trace ID shows one" ]
	TERM=xterm script -qec "'$LENS' show t.jsonl --trace $(printf 'ab%.0s' {1..16}) >/dev/null" typescript >/dev/null || :
	grep -q 'reading: [0-9]* MB of [0-9]*, [0-9]* %' typescript
	grep -q $'\r\e\\[K.*no such span' typescript
}

# follow_start FILE OPTION...: in the background; FOLLOWER is its pid.
follow_start() {
	"$LENS" show "$@" --follow >followed 2>errors 3>&- &
	FOLLOWER=$!
}

# That it waits for signals is seen by its blocking them: HUP, INT, TERM and WINCH alone, which
# the shell that becomes it does not.
following() {
	grep -q '^SigBlk:.*0000000008004003$' "/proc/$FOLLOWER/status"
}

followed() { # COUNT: lines at least
	[ "$(wc -l <followed)" -ge "$1" ]
}

@test "--follow: through rotation, until the job is over" {
	sample attempts >t.jsonl
	mkdir d
	follow_start d/traces.jsonl --job 36
	head -n 5 t.jsonl >d/traces.jsonl
	wait_for 60 followed 5
	# A line that is not whole yet is none.
	sed -n 6p t.jsonl | head -c 100 >>d/traces.jsonl
	mv d/traces.jsonl d/traces.jsonl.1
	sed -n 6p t.jsonl | tail -c +101 >>d/traces.jsonl.1
	sed -n '7,20p' t.jsonl >d/traces.jsonl
	wait_for 60 followed 18
	kill -0 "$FOLLOWER" # attempt 0 was requeued
	tail -n +21 t.jsonl >>d/traces.jsonl
	wait "$FOLLOWER"
	[ "$(cat errors)" = "" ]
	[ "$(wc -l <followed)" = "$(wc -l <t.jsonl)" ]
	[ "$(sort followed | uniq -d)" = "" ]
	tail -n 4 followed | grep -q 'slurm.job_attempt  FAILED, ERROR exit_3$'
}

@test "--follow: ends with a signal, and when nobody listens" {
	sample attempts | head -n 4 >t.jsonl
	follow_start t.jsonl
	wait_for 60 followed 4
	wait_for 60 following
	kill -TERM "$FOLLOWER"
	wait "$FOLLOWER"
	follow_start none/t.jsonl
	wait_for 60 following
	kill -TERM "$FOLLOWER"
	local status=0
	wait "$FOLLOWER" || status=$?
	[ $status = 1 ]
	grep -q 'no such span came in none/t.jsonl' errors
	timeout 60 bash -c "'$LENS' show t.jsonl --follow | head -n 1" >followed
	[ "$(wc -l <followed)" = 1 ]
	sample jobs >t.jsonl
	run -2 show t.jsonl --follow
	[[ $output == *"there are several: name it with --job or --trace"* ]]
	run -2 show - --follow <t.jsonl
	[[ $output == *"--follow needs a file or a directory"* ]]
}

@test "--follow on a terminal: drawn again, and left as it was" {
	sample tasks 2 >t.jsonl
	head -n 4 t.jsonl >d.jsonl
	TERM=xterm script -qec "stty rows 12 cols 80; '$LENS' show d.jsonl --follow" typescript >/dev/null 3>&- &
	wait_for 60 grep -q 'Following' typescript
	tail -n +5 t.jsonl >>d.jsonl
	wait $!
	grep -q $'\e\\[?1049h' typescript
	# The last that is written is on the screen as it was before: all of it.
	tail -n +"$(grep -n $'\e\\[?1049l' typescript | tail -n 1 | cut -d: -f1)" typescript >end
	grep -q 'Job 36 train' end
	grep -q 'COMPLETED' end
}

@test "usage errors: 2, and what would have been right" {
	local case_
	local refused=(
		"|FILE, DIR or JOBID: one of them is needed"
		"a b|b: one FILE, DIR or JOBID, not more"
		"t --job x|--job: no job id"
		"36 --job 36|--job: the job is named already"
		"t --trace 12|--trace: takes the 32 hex digits"
		"t --trace 00000000000000000000000000000000|--trace: takes the 32 hex digits"
		"t --job 1 --trace 0102030405060708090a0b0c0d0e0f10|--trace: it is a job or a trace"
		"t --width x|--width: takes a number above 0"
		"t --width 0|--width: takes a number above 0"
		"t --depth 0|--depth: takes a number above 0"
		"t --attempt -1|--attempt: takes a number"
		"t --color red|--color: takes auto, always or never"
		"t --set x|--set x: takes Key=Value"
		"t --follow --html o|--follow: it does not go with --html"
		"t --wide|unknown option --wide"
		"t --html|--html: its value is missing"
		"missing.jsonl|missing.jsonl: No such file or directory"
	)
	for case_ in "${refused[@]}"; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr -2 show ${case_%%|*}
		[ "$output" = "" ]
		[[ ${stderr_lines[0]} == "slurm-lens show: ${case_#*|}"* ]]
	done
	run -0 show --help
	[[ $output == "Usage: slurm-lens show "* ]]
	run -0 "$LENS" help
	[[ $output == *"  show  "* ]]
}

@test "a page never takes the place of the spans that it is made of" {
	python3 "$LENS_TEST_SRCDIR/tests/cmd/show_sample.py" attempts >t.jsonl
	cp t.jsonl before
	ln -s t.jsonl link
	mkdir pages
	local name
	for name in t.jsonl ./t.jsonl link; do
		run -2 "$LENS" show t.jsonl --html "$name"
		[[ $output == *"--html $name: the spans are read from that file" ]]
	done
	run -2 "$LENS" show . --html t.jsonl
	# shellcheck disable=SC2016 # the inner shell's
	run -2 bash -c '"$0" show - --html t.jsonl <t.jsonl' "$LENS"
	cmp t.jsonl before
	run -0 "$LENS" show t.jsonl --html pages/t.jsonl
	grep -q '<!doctype html>' pages/t.jsonl
}
