#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The collector's configurations of contrib/collector, as they are: each is started, a job's spans
# and those of its tasks go through it, and what comes out at the other end is looked at.

bats_require_minimum_version 1.5.0
load helpers

# The backends behind the collector in question write receiver.jsonl and other.jsonl.
setup_file() {
	sandbox_create
	ports_create
	the_receiver_up
	backend_up other 7
	sdks_create
	printf 't0ken-of-the-site' >"$SANDBOX/token"
	cluster_up -- "Endpoint=http://127.0.0.1:$(port 15)" "TaskEndpoint=http://127.0.0.1:$(port 15)"
	OTHER=$SANDBOX/other.jsonl
	OTHER_URL=http://127.0.0.1:$(port 9)
	export OTHER OTHER_URL
}

teardown_file() {
	interop_destroy
}

teardown() {
	collector_end tested
}

# tested_up CONFIG [KEY=VALUE...]: the collector that agent and tasks send to.
tested_up() {
	collector_up tested "$(port 14)" "$LENS_TEST_SRCDIR/contrib/collector/$1" \
		HEALTH="127.0.0.1:$(port 14)" OTLP_HTTP="127.0.0.1:$(port 15)" \
		OTLP_GRPC="127.0.0.1:$(port 16)" "${@:2}"
}

# run_job COMMAND: two ranks that export, each with the command `traces NAME [error]`, which makes
# a span NAME of the Python SDK. Sets JOB and TRACE. The agent's spans are acknowledged then.
run_job() {
	# shellcheck disable=SC2016 # the task's shell's
	read -r JOB TRACE < <(as_user srun -N2 -n2 --lens-strategy=all_ranks --lens-user=somebody \
		sh -c 'traces() { "$0/run-python" "$0/task.py" "$@"; }
		eval "$1"; [ "$SLURM_PROCID" != 0 ] || echo "$SLURM_JOB_ID $TRACEPARENT"' "$SDK" "$1")
	TRACE=$(cut -d- -f2 <<<"$TRACE")
	echo "job $JOB, trace $TRACE"
	wait_sent "$JOB" 120
}

# wait_in FILE EXPRESSION: until it is true of this trace's spans, `mine` (`all_mine`: with those that
# came again, as do those that had no answer in time).
wait_in() {
	wait_for 60 mine_in "$@" && return 0
	"$LENS_TEST_PYTHON" "$LENS_TEST_SRCDIR/tests/cluster/decode.py" "$1" \
		--eval "'\n'.join(s['name'] for s in spans if s['trace_id'] == '$TRACE')" >&2
	return 1
}

mine_in() { # FILE EXPRESSION
	true_in "$1" "(lambda all_mine: (lambda mine: $2)(
		list({s['span_id']: s for s in all_mine}.values())))([
		s for s in spans if s['trace_id'] == '$TRACE'])"
}

# Of this trace's spans: those of slurm-lens are all there (the deferred phase is chance).
LENS_SPANS="sorted(s['name'] for s in mine if s['name'].startswith('slurm.') and
	s['name'] != 'slurm.phase.deferred') == ['slurm.job', 'slurm.job_attempt', 'slurm.job_setup',
	'slurm.job_start', 'slurm.job_teardown', 'slurm.phase.queued', 'slurm.step',
	'slurm.step.node', 'slurm.task', 'slurm.task']"

# made NAME COUNT: so many spans NAME of the tasks.
made() {
	echo "sum(s['name'] == '$1' for s in mine) == $2"
}

@test "archive.yaml: all of it is on disk when it is acknowledged, also if the collector is killed" {
	local archive=$SANDBOX/archive/traces.jsonl first
	mkdir "$SANDBOX/archive"
	tested_up archive.yaml ARCHIVE="$archive"
	run_job 'traces of-archive'
	collector_end tested KILL
	mine_in "$archive" "$LENS_SPANS and $(made of-archive 2)"
	first=$(canonical "$archive")
	# It goes on with the same file.
	tested_up archive.yaml ARCHIVE="$archive"
	run_job 'traces of-archive'
	mine_in "$archive" "$LENS_SPANS and $(made of-archive 2)"
	[ "$(comm -23 <(echo "$first") <(canonical "$archive") | wc -l)" = 0 ]
}

@test "goodput.yaml: what has this purpose goes to both, the rest to the traces alone" {
	tested_up goodput.yaml GOODPUT_ENDPOINT="$OTHER_URL" TRACES_ENDPOINT="$RECEIVER_URL"
	run_job 'traces of-goodput'
	wait_in "$COLLECTED" "$LENS_SPANS and $(made of-goodput 2)"
	wait_in "$OTHER" "$LENS_SPANS"
	mine_in "$OTHER" "$(made of-goodput 0) and all('goodput' in s['attributes']['purpose'] for s in mine)"
}

@test "two-backends.yaml: the same spans to both, without users to the one outside" {
	local service
	service=http://127.0.0.1:$(port 13) # it wants the token
	tested_up two-backends.yaml SITE_ENDPOINT="$RECEIVER_URL" SERVICE_ENDPOINT="$service" \
		SERVICE_TOKEN_FILE="$SANDBOX/token" QUEUE_DIRECTORY="$SANDBOX/queue"
	run_job 'traces of-both'
	wait_in "$COLLECTED" "$LENS_SPANS and $(made of-both 2)"
	wait_in "$OTHER" "$LENS_SPANS and $(made of-both 2)"
	# The job is www-data's; the tasks say that they are somebody's.
	mine_in "$COLLECTED" "all(s['resource']['slurm.job.user'] == 'www-data' for s in mine)"
	mine_in "$COLLECTED" "all(s['resource']['nemo.user.id'] == 'somebody'
		for s in mine if s['name'] == 'of-both')"
	mine_in "$OTHER" "not any({'slurm.job.user', 'nemo.user.id'} & set(s['resource']) for s in mine)"
	mine_in "$OTHER" "not any('www-data' in str(s) or 'somebody' in str(s) for s in mine)"
}

@test "two-backends.yaml: one is down, the other gets its spans; nothing is lost, restarts or not" {
	local service
	service=http://127.0.0.1:$(port 13)
	collector_end other KILL
	tested_up two-backends.yaml SITE_ENDPOINT="$RECEIVER_URL" SERVICE_ENDPOINT="$service" \
		SERVICE_TOKEN_FILE="$SANDBOX/token" QUEUE_DIRECTORY="$SANDBOX/queue"
	run_job 'traces of-one'
	wait_in "$COLLECTED" "$LENS_SPANS and $(made of-one 2)"
	collector_end tested
	backend_up other 7
	tested_up two-backends.yaml SITE_ENDPOINT="$RECEIVER_URL" SERVICE_ENDPOINT="$service" \
		SERVICE_TOKEN_FILE="$SANDBOX/token" QUEUE_DIRECTORY="$SANDBOX/queue"
	wait_in "$OTHER" "$LENS_SPANS and $(made of-one 2)"
}

@test "tail-sampling.yaml: errors are kept, and every span of the job itself" {
	local good
	tested_up tail-sampling.yaml TRACES_ENDPOINT="$RECEIVER_URL" DECISION_WAIT=2s SHARE=0
	run_job 'traces good'
	good=$TRACE
	# shellcheck disable=SC2016 # the task's shell's
	run_job 'traces before; [ "$SLURM_PROCID" = 1 ] || traces bad error'
	wait_in "$COLLECTED" "$LENS_SPANS and $(made before 2) and
		sum(s['name'] == 'bad' for s in all_mine) == 1"
	# Once, though its copy went past the sampler. The good one's were decided before.
	TRACE=$good
	wait_in "$COLLECTED" "$LENS_SPANS"
	mine_in "$COLLECTED" "$(made good 0)"
}

@test "tail-sampling.yaml: an error long after the first decision is kept" {
	tested_up tail-sampling.yaml TRACES_ENDPOINT="$RECEIVER_URL" DECISION_WAIT=1s SHARE=0
	# The pause is for the decision about the first: nothing shows when it is made.
	run_job 'traces early; sleep 5; traces late error'
	wait_in "$COLLECTED" "$LENS_SPANS and $(made late 2)"
}

@test "tail-sampling.yaml: the share that is asked for" {
	tested_up tail-sampling.yaml TRACES_ENDPOINT="$RECEIVER_URL" DECISION_WAIT=1s SHARE=100
	run_job 'traces good'
	wait_in "$COLLECTED" "$LENS_SPANS and $(made good 2)"
}
