#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# From a job to a collector: what arrives over HTTP, read by a decoder of others.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	sandbox_create
	receiver_up
	cluster_up -- "Endpoint=$RECEIVER_URL"
}

teardown_file() {
	sandbox_destroy
}

# trace_of JOB: the trace id of a job whose tasks wrote their TRACEPARENT down.
trace_of() {
	cut -d- -f2 "$OUT/trace-$1-0"
}

# run_job [SRUN-OPTION...]: two ranks on two nodes; prints the job's id.
run_job() {
	# shellcheck disable=SC2016 # the task's shell's
	as_user srun -N2 -n2 "$@" bash -c '
		echo "$TRACEPARENT" >"trace-$SLURM_JOB_ID-$SLURM_PROCID"
		[ "$SLURM_PROCID" != 0 ] || echo "$SLURM_JOB_ID"'
}

@test "a job's spans arrive as one trace" {
	local job trace
	job=$(run_job --lens --lens-strategy=all_ranks)
	trace=$(trace_of "$job")
	[ "$(cut -d- -f2 "$OUT/trace-$job-1")" = "$trace" ]
	wait_spans "{'slurm.job_attempt', 'slurm.job', 'slurm.step', 'slurm.task'} <=
		{s['name'] for s in spans if s['trace_id'] == '$trace'}"
	[ "$(spans_eval "[s['attributes']['slurm.procid'] for s in sorted(spans,
		key=lambda s: s['attributes'].get('slurm.procid', 0))
		if s['trace_id'] == '$trace' and s['name'] == 'slurm.task']")" = "[0, 1]" ]
	# One root; every parent is there; nothing is negative.
	spans_true "sum(s['parent_span_id'] == '' for s in spans if s['trace_id'] == '$trace') == 1"
	spans_true "{s['parent_span_id'] for s in spans if s['trace_id'] == '$trace'} - {''} <=
		{s['span_id'] for s in spans if s['trace_id'] == '$trace'}"
	spans_true "all(s['end'] >= s['start'] > 0 for s in spans)"
}

@test "a task's TRACEPARENT names its slurm.task" {
	local job rank
	job=$(run_job --lens --lens-strategy=all_ranks)
	for rank in 0 1; do
		wait_spans "any(s['span_id'] == '$(cut -d- -f3 "$OUT/trace-$job-$rank")' and
			s['name'] == 'slurm.task' and s['attributes']['slurm.procid'] == $rank
			for s in spans)"
	done
}

@test "what the collector refuses for now is sent again, with the same ids" {
	local job trace before
	before=$(find "$RECEIVED" -name '*.body' | wc -l)
	receiver_answer "503 Retry-After: 1" "503 Retry-After: 1" 200
	job=$(run_job --lens)
	trace=$(trace_of "$job")
	wait_spans "any(s['name'] == 'slurm.job_attempt' and s['trace_id'] == '$trace' for s in spans)"
	[ "$(find "$RECEIVED" -name '*.body' | wc -l)" -ge $((before + 3)) ]
	# Accepted ones never twice.
	spans_true "len({(s['trace_id'], s['span_id']) for s in spans}) == len(spans)"
}

@test "a job that did not opt in leaves no span and no variable" {
	local job
	job=$(run_job)
	[ "$(cat "$OUT/trace-$job-0")" = "" ]
	# A later job's end has arrived: the plain one's would have, too.
	job=$(run_job --lens)
	wait_spans "any(s['name'] == 'slurm.job_attempt' and
		s['trace_id'] == '$(trace_of "$job")' for s in spans)"
	spans_true "any(s['resource']['slurm.job.id.raw'] == '$job' for s in spans)"
	spans_true "all(s['resource']['slurm.job.id.raw'] != '$((job - 1))' for s in spans)"
}
