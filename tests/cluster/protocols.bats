#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# One job's spans by every protocol: the same, field by field, read by software of others.

bats_require_minimum_version 1.5.0
load helpers

# The job runs with no agent, so that its notes and journals can be sent again and again.
setup_file() {
	sandbox_create
	receiver_up
	cluster_up -- Agent=off
	# shellcheck disable=SC2016 # the job's shell's
	run_batch -N2 -n4 --lens --lens-strategy=all_ranks --lens-run-id='run "é" \1' \
		--lens-attr='team=caf%C3%A9%20%22%5C%0A' \
		'srun -N2 -n4 true; srun -N2 -n2 sh -c "exit \$SLURM_PROCID"'
	wait_for 30 epilogs_noted
	export JOB
}

teardown_file() {
	sandbox_destroy
}

# epilogs_noted: both nodes have said that the job is over.
epilogs_noted() {
	[ "$(grep -lE '(^|,)e=epilog(,|$)' "$STATE_DIR/$JOB".* | wc -l)" = 2 ]
}

# send NAME KEY=VALUE...: what the job left, from a copy of StateDir, into
# $SANDBOX/NAME.jsonl, one normalised span a line, in the order of their ids.
send() {
	local name=$1 setting settings=()
	shift
	for setting in "$@"; do
		settings+=(--set "$setting")
	done
	cp -a "$STATE_DIR" "$SANDBOX/state.$name"
	rm -rf "$SANDBOX/state.$name"/agent.* "${RECEIVED:?}"/0*
	slurm "$LENS" agent --once --state-dir "$SANDBOX/state.$name" \
		--set "File=$SANDBOX/$name.file" "${settings[@]}"
	# shellcheck disable=SC2119
	spans_of "$name" >"$SANDBOX/$name.jsonl"
	[ -s "$SANDBOX/$name.jsonl" ]
}

spans_of() { # NAME
	"$LENS_TEST_PYTHON" "$LENS_TEST_SRCDIR/tests/cluster/decode.py" \
		"$RECEIVED" "$SANDBOX/$1.file" --eval '"\n".join(sorted(__import__("json").dumps(
			{k: v for k, v in s.items() if k != "source"}, sort_keys=True)
			for s in spans))'
}

# header NAME: of each stored request, a line each.
header() {
	"$LENS_TEST_PYTHON" -c 'import glob, json, sys
for path in sorted(glob.glob(sys.argv[1] + "/0*.json")):
    print(json.load(open(path))["headers"].get(sys.argv[2], "none"))' "$RECEIVED" "$1"
}

@test "the four protocols carry the same spans" {
	send file Protocol=file
	send protobuf Protocol=http/protobuf "Endpoint=$RECEIVER_URL"
	[ "$(header content-type | sort -u)" = application/x-protobuf ]
	send json Protocol=http/json "Endpoint=$RECEIVER_URL"
	[ "$(header content-type | sort -u)" = application/json ]
	send grpc Protocol=grpc "Endpoint=$RECEIVER_GRPC_URL"
	[ "$(header content-type | sort -u)" = application/grpc ]
	cat "$SANDBOX/file.jsonl"
	cmp "$SANDBOX/file.jsonl" "$SANDBOX/protobuf.jsonl"
	cmp "$SANDBOX/file.jsonl" "$SANDBOX/json.jsonl"
	cmp "$SANDBOX/file.jsonl" "$SANDBOX/grpc.jsonl"
}

@test "what is compared is the whole job, of every kind of value" {
	[ -s "$SANDBOX/file.jsonl" ] || send file Protocol=file
	"$LENS_TEST_PYTHON" -c "import json, sys
spans = [json.loads(line) for line in open(sys.argv[1])]
names = [s['name'] for s in spans]
assert names.count('slurm.task') == 6, names
assert {'slurm.job_attempt', 'slurm.job', 'slurm.step', 'slurm.task'} <= set(names), names
values = [v for s in spans for v in (s['attributes'] | s['resource']).values()]
assert {str, int} <= {type(v) for v in values}, values
assert any(s['status']['code'] == 2 for s in spans), spans
" "$SANDBOX/file.jsonl"
}

@test "gzip changes nothing of them" {
	[ -s "$SANDBOX/file.jsonl" ] || send file Protocol=file
	send protobuf.gzip Protocol=http/protobuf "Endpoint=$RECEIVER_URL" Compression=gzip
	[ "$(header content-encoding | sort -u)" = gzip ]
	send json.gzip Protocol=http/json "Endpoint=$RECEIVER_URL" Compression=gzip
	[ "$(header content-encoding | sort -u)" = gzip ]
	send grpc.gzip Protocol=grpc "Endpoint=$RECEIVER_GRPC_URL" Compression=gzip
	cmp "$SANDBOX/file.jsonl" "$SANDBOX/protobuf.gzip.jsonl"
	cmp "$SANDBOX/file.jsonl" "$SANDBOX/json.gzip.jsonl"
	cmp "$SANDBOX/file.jsonl" "$SANDBOX/grpc.gzip.jsonl"
}

@test "gRPC: what the collector refuses for now is sent again" {
	[ -s "$SANDBOX/file.jsonl" ] || send file Protocol=file
	cp -a "$STATE_DIR" "$SANDBOX/state.again"
	rm -rf "$SANDBOX/state.again"/agent.* "${RECEIVED:?}"/0*
	receiver_answer 14
	run slurm "$LENS" agent --once --state-dir "$SANDBOX/state.again" \
		--set Protocol=grpc --set "Endpoint=$RECEIVER_GRPC_URL"
	[ "$status" -eq 1 ]
	[[ "$output" == *"gRPC UNAVAILABLE (14)"* ]]
	receiver_answer 200
	slurm "$LENS" agent --once --state-dir "$SANDBOX/state.again" \
		--set Protocol=grpc --set "Endpoint=$RECEIVER_GRPC_URL"
	spans_of again >"$SANDBOX/again.jsonl"
	cmp "$SANDBOX/file.jsonl" "$SANDBOX/again.jsonl"
}

@test "the site's headers go along, from a file that only root can read" {
	printf 'Authorization: Bearer t0ken-of-the-site\nx-team=a%%2Cb\n' >"$SANDBOX/headers"
	chmod 600 "$SANDBOX/headers"
	send headers Protocol=http/protobuf "Endpoint=$RECEIVER_URL" \
		"HeadersFile=$SANDBOX/headers"
	[ "$(header authorization | sort -u)" = "Bearer t0ken-of-the-site" ]
	[ "$(header x-team | sort -u)" = a,b ]
	send headers.grpc Protocol=grpc "Endpoint=$RECEIVER_GRPC_URL" \
		"HeadersFile=$SANDBOX/headers"
	[ "$(header authorization | sort -u)" = "Bearer t0ken-of-the-site" ]
	run ! grep -r t0ken-of-the-site "$STATE_DIR" "$SANDBOX"/state.headers* "$SANDBOX"/*.log
}
