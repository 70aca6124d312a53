#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# slurm-lens reckon with a real slurmdbd: what accounting gives is what the plugin told.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	sandbox_create
	receiver_up
	cluster_up --accounting --timeout 120 --conf SlurmdTimeout=30 --conf OverTimeLimit=0 --conf JobRequeue=1 --
	# It takes a minute: its test is the last.
	LIMITED=$(submit --lens --time=0:01 -J limited "srun sleep 300")
	export LIMITED
}

teardown_file() {
	sandbox_destroy
}

setup() {
	place_create
	RECKONED=$PLACE/reckoned.jsonl
}

# accounted JOB [ATTEMPTS]: all of its records are there, each with an end. slurmctld tells of
# starts every few seconds: until then a job that is over already has a row without its user.
accounted() {
	local rows
	rows=$(slurm sacct -D -n -P -j "$1" -o End,JobID,UID) && [ -n "$rows" ] || return 1
	! grep -q '^Unknown' <<<"$rows" || return 1
	rows=$(grep -v '[0-9]\.[^|]*|' <<<"$rows")
	[ "$(wc -l <<<"$rows")" -ge "${2:-1}" ] && ! grep -qv '|33$' <<<"$rows"
}

# told JOB...: the plugin's spans are out, and accounting has the job.
told() {
	local job
	for job; do
		wait_sent "$job" 90
		wait_for 60 accounted "$job"
	done
}

reckon() {
	slurm "$LENS" reckon "$@"
}

# reckoned JOB...: into RECKONED.
reckoned() {
	reckon "$@" >"$RECKONED"
}

# same: the checks on standard input, with RECKONED as `reckoned`.
same() {
	{ printf 'reckoned = decode.read("%s", False)\n' "$RECKONED" && cat; } | expect
}

running() { # FILE
	wait_for 60 test -e "$PLACE/$1"
}

# newer_accounting: sacct numbers the attempts itself.
newer_accounting() {
	slurm sacct --helpformat | grep -qw Restarts
}

# database SQL
database() {
	mariadb --no-defaults --socket="$SANDBOX/cluster/mariadb/sock" --user=root -N slurm_acct -e "$1"
}

@test "a batch job: its steps one after the other and at once, one fails, gaps between" {
	JOB=$(submit --lens -N2 -n2 -J gaps "
		sleep 1; srun sleep 2; sleep 3
		srun --overlap sleep 3 & srun --overlap -N1 -n1 -w n1 sleep 2; wait
		sleep 3; srun false; exit 4")
	told "$JOB"
	reckoned "$JOB"
	same <<-E
	mine = assert_reckoned(reckoned, $JOB)
	found = sorted(span["name"] for span in mine if span["name"] != "slurm.phase.deferred")
	assert found == ["slurm.batch", "slurm.inter_step_gap", "slurm.inter_step_gap", "slurm.job",
	    "slurm.job_attempt", "slurm.job_setup", "slurm.job_start", "slurm.job_teardown",
	    "slurm.phase.queued", "slurm.step", "slurm.step", "slurm.step", "slurm.step"], found
	by_id = {span["span_id"]: span for span in mine}
	def get(name, place): return by_id[span_id(trace_id($JOB), name, place)]
	job, batch = get("slurm.job", $JOB), get("slurm.batch", $JOB)
	assert attribute(job, "slurm.exit_code") == "4:0" and attribute(job, "error.type") == "failed"
	assert attribute(batch, "process.exit.code") == 4 and attribute(batch, "error.type") == "exit_4"
	assert attribute(job, "slurm.step_count") == 4 and attribute(job, "slurm.nodelist") == "n[1-2]"
	steps = [get("slurm.step", number) for number in range(4)]
	assert [status(step) for step in steps] == ["unset", "unset", "unset", "error"]
	assert attribute(steps[3], "error.type") == "exit_1"
	for number, before, after in ((0, steps[0], min(steps[1:3], key=lambda s: s["start"])),
	                              (1, max(steps[1:3], key=lambda s: s["end"]), steps[3])):
	    gap = get("slurm.inter_step_gap", f"$JOB/{number}")
	    assert gap["parent_span_id"] == job["span_id"], gap
	    assert (gap["start"], gap["end"]) == (before["end"], after["start"]), (number, gap, steps)
	    assert attribute(gap, "slurm.step_gap_index") == number
	E
}

@test "a requeued job: a trace for each attempt, by the same numbers" {
	JOB=$(submit --lens --requeue -J again "
		test \$SLURM_RESTART_COUNT || { touch $PLACE/begun; srun sleep 300; }; srun true")
	running begun
	wait_spans "any(s['name'] == 'slurm.job_start' and s['resource']['slurm.job.id'] == '$JOB' for s in spans)"
	slurm scontrol requeue "$JOB"
	told "$JOB"
	reckoned "$JOB"
	local confidence=synthesized
	! newer_accounting || confidence=factual
	same <<-E
	assert_reckoned(reckoned, $JOB, 0)
	assert_reckoned(reckoned, $JOB, 1)
	first, second = [next(s for s in reckoned if s["span_id"] == span_id(trace_id($JOB, k), "slurm.job_attempt")) for k in (0, 1)]
	assert attribute(first, "slurm.state") == "REQUEUED" and status(first) == "unset", first
	assert attribute(second, "slurm.first_submit") == first["start"] // 10**9, (first, second)
	assert {attribute(span, "slurm.confidence") for span in reckoned} == {"$confidence"}
	E
}

@test "cancelled: while it ran, and in the queue, which no node knows of" {
	JOB=$(submit --lens -J cancelled "touch $PLACE/begun; srun sleep 300")
	local held
	held=$(submit --lens -J held --hold "true")
	running begun
	wait_spans "any(s['name'] == 'slurm.job_start' and s['resource']['slurm.job.id'] == '$JOB' for s in spans)"
	as_user scancel "$JOB" "$held"
	told "$JOB"
	wait_for 60 accounted "$held"
	reckoned "$JOB" "$held"
	same <<-E
	mine = assert_reckoned(reckoned, $JOB)
	root = next(span for span in mine if span["name"] == "slurm.job_attempt")
	assert attribute(root, "slurm.state") == "CANCELLED" and attribute(root, "slurm.cancelled_by") == "33"
	assert attribute(root, "error.type") == "cancelled" and attribute(root, "slurm.exit_code") is None
	queue = [span for span in reckoned if span["trace_id"] == trace_id($held)]
	assert sorted(span["name"] for span in queue)[0] == "slurm.job_attempt" and len(queue) in (2, 3), queue
	assert {span["name"] for span in queue} <= {"slurm.job_attempt", "slurm.phase.deferred", "slurm.phase.queued"}
	assert_tree(queue)
	assert [status(s) for s in queue if s["name"] == "slurm.job_attempt"] == ["error"]
	assert not of_job($held)
	E
}

@test "an array, whole and one element of it" {
	JOB=$(submit --lens --array=1-2 -J elements "srun sleep 1")
	wait_job "$JOB"
	local raw
	wait_for 60 accounted "$JOB" 2
	mapfile -t raw < <(slurm sacct -X -n -P -j "$JOB" -o JobIDRaw | sort -n)
	[ ${#raw[@]} = 2 ]
	told "${raw[@]}"
	reckoned "$JOB"
	same <<-E
	for job in ${raw[0]}, ${raw[1]}:
	    assert_reckoned(reckoned, job)
	assert {span["trace_id"] for span in reckoned} == {trace_id(${raw[0]}), trace_id(${raw[1]})}
	E
	cp "$RECKONED" "$PLACE/all"
	reckoned "${JOB}_1" "${JOB}_2"
	cmp "$RECKONED" "$PLACE/all"
	reckoned "${JOB}_2"
	[ "$(wc -l <"$RECKONED")" -lt "$(wc -l <"$PLACE/all")" ]
}

@test "a het job: steps of both components, of one, and a component by either name" {
	cat >"$PLACE/job" <<-E
	#!/bin/sh
	#SBATCH --lens -n1 -w n1 -J het
	#SBATCH hetjob
	#SBATCH -n2 -w n2
	srun --het-group=0,1 sleep 2
	srun --het-group=1 sleep 1
	srun true
	E
	JOB=$(as_user sbatch --parsable "$PLACE/job")
	told "$JOB" $((JOB + 1))
	reckoned "$JOB"
	same <<-E
	mine = assert_reckoned(reckoned, $JOB)
	names = sorted(span["name"] for span in mine)
	assert names.count("slurm.job") == 2 and names.count("slurm.step") == 3, names
	E
	cp "$RECKONED" "$PLACE/all"
	reckoned "$JOB+1"
	cp "$RECKONED" "$PLACE/component"
	reckoned $((JOB + 1))
	cmp "$RECKONED" "$PLACE/component"
	# What both have they tell by the leader.
	same <<-E
	assert sorted(s["name"] for s in reckoned if s["name"] != "slurm.inter_step_gap") == [
	    "slurm.job", "slurm.job_setup", "slurm.job_teardown", "slurm.step"], reckoned
	everything = decode.read("$PLACE/all", False)
	assert {s["span_id"] for s in reckoned} < {s["span_id"] for s in everything}
	E
}

@test "srun by itself, and an allocation that runs nothing" {
	# shellcheck disable=SC2016 # the inner shell's
	as_user srun --lens -N2 sh -c 'echo $SLURM_JOB_ID >$0/id.$SLURM_PROCID; sleep 1' "$PLACE"
	JOB=$(cat "$PLACE/id.0")
	# shellcheck disable=SC2016 # the inner shell's
	as_user salloc --quiet --lens -J empty -n1 sh -c 'echo $SLURM_JOB_ID >$0/empty; sleep 1' "$PLACE"
	told "$JOB" "$(cat "$PLACE/empty")"
	reckoned "$JOB" "$(cat "$PLACE/empty")"
	same <<-E
	assert_reckoned(reckoned, $JOB)
	assert_reckoned(reckoned, $(cat "$PLACE/empty"))
	E
}

@test "a job without the plugin's spans has the shape of one with them; shrunk is one attempt" {
	JOB=$(submit -J plain -N2 -n2 "
		srun sleep 1; touch $PLACE/begun
		while [ ! -e $PLACE/shrunk ]; do sleep 0.1; done; srun -N1 -n1 true")
	running begun
	slurm scontrol update "JobId=$JOB" NumNodes=1
	touch "$PLACE/shrunk"
	wait_job "$JOB"
	wait_for 60 accounted "$JOB"
	reckoned --realm east "$JOB"
	same <<-E
	trace = trace_id($JOB, realm="east")
	assert not of_job($JOB) and {span["trace_id"] for span in reckoned} == {trace}
	names = sorted(s["name"] for s in reckoned
	               if s["name"] not in ("slurm.inter_step_gap", "slurm.phase.deferred"))
	assert names == ["slurm.batch", "slurm.job", "slurm.job_attempt", "slurm.job_setup", "slurm.job_start",
	    "slurm.job_teardown", "slurm.phase.queued", "slurm.step", "slurm.step"], names
	assert_tree(reckoned)
	job = next(s for s in reckoned if s["span_id"] == span_id(trace, "slurm.job", $JOB))
	assert attribute(job, "slurm.nnodes") == 1 and attribute(job, "slurm.nodelist") == "n1", job
	assert attribute(job, "slurm.attempt") == 0 and attribute(job, "slurm.state") == "COMPLETED", job
	E
}

@test "a job that runs: what is complete; one that waits: nothing yet" {
	JOB=$(submit -J runs "srun true; touch $PLACE/begun; while [ -e $PLACE/begun ]; do sleep 0.2; done")
	local held
	held=$(submit -J held --hold true)
	running begun
	step_done() { [ "$(slurm sacct -n -P -j "$JOB.0" -o State)" = COMPLETED ]; }
	wait_for 60 step_done
	run -0 --separate-stderr reckon "$JOB"
	# shellcheck disable=SC2154 # of bats
	[[ $stderr == *"job $JOB is not over"* ]]
	echo "$output" >"$RECKONED"
	same <<-E
	names = sorted(s["name"] for s in reckoned if s["name"] != "slurm.phase.deferred")
	assert names == ["slurm.job_start", "slurm.phase.queued", "slurm.step"], names
	E
	known() { [ -n "$(slurm sacct -X -n -P -j "$held" -o JobID)" ]; }
	wait_for 60 known
	run -1 --separate-stderr reckon "$held"
	[[ $output == "" && $stderr == *"job $held waits in the queue"* ]]
	rm "$PLACE/begun"
	as_user scancel "$held"
	wait_job "$JOB"
}

@test "a job's name cannot write rows" {
	JOB=$(submit -J $'x|y~z\n1~1~1~mini~root\x1f"\xc3\xbc"' "true")
	wait_job "$JOB"
	wait_for 60 accounted "$JOB"
	reckoned "$JOB"
	same <<-E
	assert {s["resource"]["slurm.job.id"] for s in reckoned} == {"$JOB"}
	assert all(s["resource"]["slurm.job.name"].startswith("x|y~z") for s in reckoned), reckoned[0]
	E
}

@test "a saved output, sent to a receiver, by another user" {
	JOB=$(submit --lens -J saved "srun true")
	told "$JOB"
	local columns=JobIDRaw,JobID,DBIndex,Cluster,User,Account,Partition,QOS,Reservation,JobName,State
	columns+=,ExitCode,Submit,Eligible,Start,End,Suspended,NNodes,NTasks,NodeList,Reason
	! newer_accounting || columns+=,Restarts,SLUID
	slurm env SLURM_TIME_FORMAT=%s sacct -a -D -P -j "$JOB" --format="$columns" >"$PLACE/saved"
	# As a person would, with times in this machine's zone.
	slurm env TZ=Europe/Berlin sacct -a -D -P -j "$JOB" --format="$columns" >"$PLACE/local"
	reckoned "$JOB"
	"$LENS" reckon --from "$PLACE/saved" | cmp - "$RECKONED"
	TZ=Europe/Berlin "$LENS" reckon --from - <"$PLACE/local" | cmp - "$RECKONED"
	as_user "$LENS" reckon "$JOB" | cmp - "$RECKONED"
	rm -f "$PLACE/file"
	reckon --file "$PLACE/file" "$JOB"
	cmp "$PLACE/file" "$RECKONED"

	run -0 as_user "$LENS" reckon --send --set "Endpoint=$RECEIVER_URL" "$JOB"
	[ "$output" = "" ]
	"$LENS_TEST_PYTHON" "$LENS_TEST_SRCDIR/tests/cluster/decode.py" "$RECEIVED" \
		--eval "sorted(s['span_id'] for s in spans)" >"$PLACE/received"
	"$LENS_TEST_PYTHON" "$LENS_TEST_SRCDIR/tests/cluster/decode.py" "$RECKONED" \
		--eval "sorted(s['span_id'] for s in spans)" | cmp - "$PLACE/received"
	# One's own variables come first.
	run -0 as_user env "OTEL_EXPORTER_OTLP_ENDPOINT=$RECEIVER_URL" OTEL_EXPORTER_OTLP_PROTOCOL=http/json \
		"$LENS" reckon --send --set Endpoint=http://127.0.0.1:9 "$JOB"
	grep -l application/json "$RECEIVED"/[0-9]*.json
	receiver_answer 400
	run -1 --separate-stderr reckon --send --set "Endpoint=$RECEIVER_URL" "$JOB"
	[[ $stderr == *"HTTP 400"* ]]
	receiver_answer 200
	run -2 --separate-stderr reckon --send "$JOB"
	[[ $stderr == *"there is no Endpoint"* ]]
}

# What PurgeJobAfter leaves of a job that ran longer than that since its requeue.
@test "a purged first attempt claims no ids" {
	JOB=$(submit --requeue -J purged "test \$SLURM_RESTART_COUNT || { touch $PLACE/begun; sleep 300; }")
	running begun
	slurm scontrol requeue "$JOB"
	wait_for 90 accounted "$JOB" 2
	reckoned "$JOB"
	cp "$RECKONED" "$PLACE/all"
	database "DELETE FROM mini_job_table WHERE id_job = $JOB ORDER BY time_submit LIMIT 1;
		UPDATE mini_job_table SET time_submit = time_submit - 7200, time_eligible = time_eligible - 7200,
		time_start = time_start - 7200 WHERE id_job = $JOB"
	"$MINICLUSTER" stop-dbd "$SANDBOX/cluster"
	MINICLUSTER_DBD_CONF=PurgeJobAfter=1hour "$MINICLUSTER" start-dbd "$SANDBOX/cluster" 3>&-
	if newer_accounting; then
		reckoned "$JOB"
	else
		run -1 --separate-stderr reckon "$JOB"
		[[ $output == "" && $stderr == *"may have purged its first attempts"* ]]
		reckoned --attempt 1 "$JOB"
	fi
	same <<-E
	assert {s["trace_id"] for s in reckoned} == {trace_id($JOB, 1)}
	everything = decode.read("$PLACE/all", False)
	assert {s["span_id"] for s in reckoned} <= {s["span_id"] for s in everything}
	E
}

@test "no such job; slurmdbd away; accounting off; no sacct" {
	run -1 --separate-stderr reckon 4000000
	[[ $output == "" && $stderr == *"job 4000000: accounting has no record"* ]]
	"$MINICLUSTER" stop-dbd "$SANDBOX/cluster"
	run -2 --separate-stderr reckon 1
	[[ $output == "" && $stderr == *"slurmdbd does not answer"* ]]
	"$MINICLUSTER" start-dbd "$SANDBOX/cluster" 3>&-
	grep -v '^AccountingStorage' "$CONF_DIR/slurm.conf" >"$PLACE/slurm.conf"
	run -2 --separate-stderr slurm env "SLURM_CONF=$PLACE/slurm.conf" "$LENS" reckon 1
	[[ $output == "" && $stderr == *"accounting is off"* ]]
	run -2 --separate-stderr slurm env "PATH=$PLACE" "$LENS" reckon 1
	[[ $output == "" && $stderr == *"sacct is not in PATH"* ]]
}

@test "a time limit" {
	told "$LIMITED"
	reckoned "$LIMITED"
	same <<-E
	mine = assert_reckoned(reckoned, $LIMITED)
	job = next(span for span in mine if span["name"] == "slurm.job")
	assert attribute(job, "slurm.state") == "TIMEOUT" and attribute(job, "error.type") == "timeout"
	E
}
