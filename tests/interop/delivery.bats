#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The agent and the OpenTelemetry Collector: what the collector's file exporter wrote is, field by
# field, what the plugin's own writes; by every protocol, gzip, TLS and a token; also when the
# collector dies.

bats_require_minimum_version 1.5.0
load helpers

# The job runs with no agent, so that its notes and journals can be sent again and again.
setup_file() {
	sandbox_create
	ports_create
	the_receiver_up
	cluster_up -- Agent=off
	# shellcheck disable=SC2016 # the job's shell's
	run_batch -N2 -n4 -J 'trän, 7B=50% 🚀' --lens --lens-strategy=all_ranks \
		--lens-run-id='run "é" \1' --lens-attr='team=caf%C3%A9%20%22%5C%0A,empty=' \
		'srun -N2 -n4 true; srun -N2 -n2 sh -c "exit \$SLURM_PROCID"'
	wait_for 30 epilogs_noted
	JOB_STATE=$SANDBOX/state.job
	cp -a "$STATE_DIR" "$JOB_STATE"
	rm -f "$JOB_STATE"/agent.*
	send file Protocol=file "File=$SANDBOX/file.jsonl"
	printf 'Authorization=Bearer%%20t0ken-of-the-site\n' >"$SANDBOX/headers"
	printf 'Authorization=Bearer%%20t0ken-of-yesterday\n' >"$SANDBOX/headers.wrong"
	chmod 600 "$SANDBOX"/headers*
	export JOB JOB_STATE
}

teardown_file() {
	interop_destroy
}

epilogs_noted() {
	[ "$(grep -lE '(^|,)e=epilog(,|$)' "$STATE_DIR/$JOB".* | wc -l)" = 2 ]
}

# send NAME KEY=VALUE...: what the job left, from a copy of StateDir ($SANDBOX/state.NAME).
send() {
	local state=$SANDBOX/state.$1 setting settings=()
	shift
	for setting in "$@"; do
		settings+=(--set "$setting")
	done
	[ -e "$state" ] || cp -a "$JOB_STATE" "$state"
	slurm "$LENS" agent --once --state-dir "$state" "${settings[@]}"
}

# collects NAME KEY=VALUE...: sends it; the collector then has what the file has. It appends a
# request to its file before it answers.
collects() {
	local before=0
	[ ! -e "$COLLECTED" ] || before=$(wc -l <"$COLLECTED")
	send "$@"
	tail -n +$((before + 1)) "$COLLECTED" >"$SANDBOX/$1.jsonl"
	canonical "$SANDBOX/file.jsonl" >"$SANDBOX/file.spans"
	canonical "$SANDBOX/$1.jsonl" >"$SANDBOX/$1.spans"
	diff "$SANDBOX/file.spans" "$SANDBOX/$1.spans"
}

# says NAME WHY KEY=VALUE...: sends it; agent and status say why nothing was taken.
says() {
	local name=$1 why=$2 before=0
	shift 2
	[ ! -e "$COLLECTED" ] || before=$(wc -c <"$COLLECTED")
	run send "$name" "$@"
	echo "$output"
	[[ "$output" == *"$why"* ]]
	[ ! -e "$COLLECTED" ] || [ "$(wc -c <"$COLLECTED")" = "$before" ]
	SENT=$status
	run "$LENS" status --state-dir "$SANDBOX/state.$name"
	echo "$output"
	[[ "$output" == *"$why"* ]]
	[[ "$output" != *t0ken* ]]
}

# keeps: the same for what may go better later. drops: for what the protocol forbids to repeat.
keeps() { # NAME WHY KEY=VALUE...
	says "$@"
	[ "$SENT" -eq 1 ]
	[[ "$output" == *"0 lost"* ]]
}

drops() { # NAME WHY KEY=VALUE...
	says "$@"
	[ "$SENT" -eq 0 ]
	[ "$status" -eq 1 ] # status: a person is needed
	[[ "$output" == *"last lost"*"$2"* ]]
}

@test "what is compared is the whole job: every kind of span, value, status, a link" {
	"$LENS_TEST_PYTHON" - "$SANDBOX/file.jsonl" <<-'E'
	import json, sys
	text = open(sys.argv[1], encoding="utf-8").read()
	for part in ("slurm.task", "slurm.job_attempt", "intValue", "arrayValue", "parentSpanId", "🚀", '"code":2'):
	    assert part in text.replace(" ", ""), part
	E
	[ "$(canonical "$SANDBOX/file.jsonl" | wc -l)" -ge 14 ]
}

@test "HTTP with protobuf, with JSON, and gRPC" {
	collects protobuf Protocol=http/protobuf "Endpoint=$RECEIVER_URL"
	collects json Protocol=http/json "Endpoint=$RECEIVER_URL"
	collects grpc Protocol=grpc "Endpoint=$RECEIVER_GRPC_URL"
}

@test "the same with gzip" {
	collects protobuf.gzip Protocol=http/protobuf "Endpoint=$RECEIVER_URL" Compression=gzip
	collects json.gzip Protocol=http/json "Endpoint=$RECEIVER_URL" Compression=gzip
	collects grpc.gzip Protocol=grpc "Endpoint=$RECEIVER_GRPC_URL" Compression=gzip
}

@test "TLS with client certificates" {
	local tls=("CertificateFile=$SANDBOX/certificates/ca.pem"
		"ClientCertificateFile=$SANDBOX/certificates/client.pem"
		"ClientKeyFile=$SANDBOX/certificates/client.key")
	collects tls Protocol=http/protobuf "Endpoint=$TLS_URL" "${tls[@]}"
	collects tls.json Protocol=http/json "Endpoint=$TLS_URL" Compression=gzip "${tls[@]}"
	collects tls.grpc Protocol=grpc "Endpoint=$TLS_GRPC_URL" "${tls[@]}"
}

@test "TLS: no client certificate, an unknown authority: it waits, and it is said why" {
	local ca=CertificateFile=$SANDBOX/certificates/ca.pem
	keeps bare certificate Protocol=http/protobuf "Endpoint=$TLS_URL" "$ca"
	keeps bare.grpc certificate Protocol=grpc "Endpoint=$TLS_GRPC_URL" "$ca"
	keeps foreign certificate Protocol=http/protobuf "Endpoint=$TLS_URL"
	# What was kept is sent when the settings are right.
	collects bare Protocol=http/protobuf "Endpoint=$TLS_URL" "$ca" \
		"ClientCertificateFile=$SANDBOX/certificates/client.pem" \
		"ClientKeyFile=$SANDBOX/certificates/client.key"
}

@test "a bearer token from HeadersFile" {
	collects token Protocol=http/protobuf "Endpoint=$TOKEN_URL" "HeadersFile=$SANDBOX/headers"
	collects token.json Protocol=http/json "Endpoint=$TOKEN_URL" "HeadersFile=$SANDBOX/headers"
	collects token.grpc Protocol=grpc "Endpoint=$TOKEN_GRPC_URL" "HeadersFile=$SANDBOX/headers"
}

# read_on SPANS: what the collector wrote behind its first $SANDBOX/came lines are SPANS, and as many as
# the files hold: each once.
read_on() {
	tail -n "+$(($(cat "$SANDBOX/came") + 1))" "$COLLECTED" >"$SANDBOX/read.jsonl"
	canonical "$SANDBOX/read.jsonl" >"$SANDBOX/read.spans"
	diff "$@" "$SANDBOX/read.spans" &&
		[ "$(grep -o '"spanId"' "$SANDBOX/read.jsonl" | wc -l)" = \
			"$(cat "$SANDBOX"/files/traces.jsonl* | grep -o '"spanId"' | wc -l)" ]
}

reader_up() {
	collector_up reader "$(port 14)" "$LENS_TEST_SRCDIR/contrib/collector/files.yaml" \
		HEALTH="127.0.0.1:$(port 14)" STATE="$SANDBOX/reader" \
		TRACES="$SANDBOX/files/traces.jsonl" TRACES_ENDPOINT="$RECEIVER_URL"
}

@test "files.yaml reads the files that the plugin writes: all of them, each once, though it was down" {
	mkdir "$SANDBOX/files"
	wc -l <"$COLLECTED" >"$SANDBOX/came"
	cp "$SANDBOX/file.jsonl" "$SANDBOX/files/traces.jsonl"
	reader_up
	wait_for 60 read_on "$SANDBOX/file.spans"
	collector_end reader
	# The file becomes an older one; spans of another trace are in the new one.
	mv "$SANDBOX/files/traces.jsonl" "$SANDBOX/files/traces.jsonl.1"
	sed -E 's/"traceId":"[0-9a-f]{8}/"traceId":"00000000/g' "$SANDBOX/file.jsonl" \
		>"$SANDBOX/files/traces.jsonl"
	canonical "$SANDBOX"/files/traces.jsonl* >"$SANDBOX/files.spans"
	reader_up
	wait_for 60 read_on "$SANDBOX/files.spans"
	collector_end reader
}

@test "no token and a wrong one: refused for good, and it is said why" {
	drops none 401 Protocol=http/protobuf "Endpoint=$TOKEN_URL"
	drops wrong 401 Protocol=http/protobuf "Endpoint=$TOKEN_URL" \
		"HeadersFile=$SANDBOX/headers.wrong"
	drops wrong.grpc UNAUTHENTICATED Protocol=grpc "Endpoint=$TOKEN_GRPC_URL" \
		"HeadersFile=$SANDBOX/headers.wrong"
}
