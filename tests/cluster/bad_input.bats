#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Wrong options, settings and places: said clearly, once, and no job is harmed.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	sandbox_create
	cluster_up --nodes 1 --conf PrologFlags=Contain
	cp "$CONF_DIR/plugstack.conf" "$SANDBOX/good.conf"
	NODE_LOG=$SANDBOX/cluster/log/slurmd.n1.log
	export NODE_LOG
}

teardown_file() {
	sandbox_destroy
}

setup() {
	place_create
	cp "$SANDBOX/good.conf" "$CONF_DIR/plugstack.conf"
	rm -rf "$CONF_DIR/lens.conf"
	LOG_SIZE=$(stat -c %s "$NODE_LOG")
}

# log_lines: what lens said on the node since the test began.
log_lines() {
	tail -c +$((LOG_SIZE + 1)) "$NODE_LOG" | sed -n 's/.*\(\[[^]]*\] lens: .*\)/\1/p'
}

said_something() {
	[ -n "$(log_lines)" ]
}

# from_step JOB: of these, what JOB's first step said.
from_step() {
	log_lines | grep -F "[$1.0] lens:"
}

job_count() {
	slurm scontrol -o show jobs | grep -c '^JobId' || true
}

# job_of DUMP: the job that `srun $PLACE/dump DUMP` was.
job_of() {
	tr '\0' '\n' <"$PLACE/$1.0" | sed -n 's/^SLURM_JOB_ID=//p'
}

# refused OPTION [SHOWN]: by srun, salloc and sbatch, in one line of ours that shows
# the option and one of Slurm's; nothing is submitted.
refused() {
	local shown=${2:-$1} command before
	before=$(job_count)
	for command in srun salloc sbatch; do
		run as_user "$command" -n1 "$1" "$PLACE/dump" never
		[ "$status" -ne 0 ]
		[ "$(grep -cF "$command: error: $shown: not " <<<"$output")" = 1 ]
		[ "$(grep -cF "$command: error: Invalid ${1%%=*} argument" <<<"$output")" = 1 ]
	done
	[ "$(job_count)" = "$before" ]
	[ -z "$(find "$PLACE" -name 'never*')" ]
}

# warned TEXT: a submission with --lens says it in one line, one without says nothing
# (of lens: Slurm may say that a job had to wait); both run. Sets JOB, the one with --lens.
warned() {
	run -0 as_user srun -n1 "$PLACE/dump" plain
	[[ $output != *lens* ]]
	run -0 as_user srun -n1 --lens "$PLACE/dump" lens
	[ "$(grep -c lens: <<<"$output")" = 1 ]
	[[ $output == *"$1"* ]]
	JOB=$(job_of lens)
	wait_job "$JOB"
}

@test "a strategy that is none" {
	refused --lens-strategy=bogus
}

@test "a sample rate that is none" {
	refused --lens-sample-rate=1.5
	refused --lens-sample-rate=-0.1
	refused --lens-sample-rate=nan
	refused --lens-sample-rate=0,5
}

@test "a rank that is none" {
	refused --lens-rank=-2
	refused --lens-rank=one
}

@test "neither on nor off" {
	refused --lens=maybe
}

@test "a run id with a newline" {
	refused --lens-run-id=$'a\nb' '--lens-run-id=a\x0Ab'
}

@test "an unknown key in lens.conf" {
	printf '# one\nSampleRate=0.5\nEnpoint=http://127.0.0.1:1\n' | lens_conf
	warned "$CONF_DIR/lens.conf:3: Enpoint"
	[ "$(from_step "$JOB" | wc -l)" = 1 ]
	[[ $(from_step "$JOB") == *"$CONF_DIR/lens.conf:3: Enpoint is no key of lens"* ]]
	expect <<-E
	assert enabled("lens") == [0] and not ours(env("plain.0"))
	E
}

@test "a lens.conf that cannot be read" {
	mkdir "$CONF_DIR/lens.conf"
	warned "$CONF_DIR/lens.conf"
	[ "$(from_step "$JOB" | wc -l)" = 1 ]
	rmdir "$CONF_DIR/lens.conf"
	lens_conf <<<"SampleRate=0.5"
	chmod 600 "$CONF_DIR/lens.conf"
	warned "$CONF_DIR/lens.conf: it cannot be read: Permission denied"
	[ -z "$(from_step "$JOB")" ]
}

@test "an argument in plugstack.conf that is none" {
	sed -i 's/$/ Foo=1/' "$CONF_DIR/plugstack.conf"
	warned "plugstack.conf: Foo is no key of lens"
	[[ $(from_step "$JOB") == *"plugstack.conf: Foo is no key of lens"* ]]
}

@test "a config file that is named and missing" {
	sed -i 's,$, config=/nonexistent/lens.conf,' "$CONF_DIR/plugstack.conf"
	warned "/nonexistent/lens.conf"
	[ "$(from_step "$JOB" | wc -l)" = 1 ]
}

# bad_state_dir PATH TEXT: StateDir is there; a job with --lens runs, and its step says TEXT. What
# runs for every job, prolog, epilog and extern step, says nothing.
bad_state_dir() {
	sed -i "s,StateDir=[^ ]*,StateDir=$1," "$CONF_DIR/plugstack.conf"
	as_user srun -n1 true
	run -0 as_user srun -n1 --lens "$PLACE/dump" lens
	[[ $output != *lens* ]]
	JOB=$(job_of lens)
	wait_job "$JOB"
	[ "$(job_field "$JOB" ExitCode)" = 0:0 ]
	[ "$(from_step "$JOB" | wc -l)" = 1 ]
	[ "$(log_lines | grep -cF "StateDir $1")" = 1 ]
	[[ $(from_step "$JOB") == *"StateDir $1"*"$2"* ]]
	# The task has its identity all the same.
	expect <<-E
	assert enabled("lens") == [0] and carrier(env("lens.0"))["slurm.job.id"] == "$JOB"
	E
	wait_for 30 all_idle # not drained
}

@test "a StateDir that cannot be made" {
	bad_state_dir /proc/nowhere/state "there is no /proc/nowhere/"
	touch "$SANDBOX/file"
	bad_state_dir "$SANDBOX/file/state" ""
}

@test "a StateDir that others can write" {
	mkdir -m 777 "$SANDBOX/open"
	bad_state_dir "$SANDBOX/open" "mode 0777: chmod 0700 $SANDBOX/open"
	bad_state_dir "$SANDBOX/open/below" "chmod go-w $SANDBOX/open"
	[ -z "$(ls -A "$SANDBOX/open")" ]
}

@test "a StateDir of somebody else, or behind a link" {
	install -d -m 700 -o www-data "$SANDBOX/theirs"
	bad_state_dir "$SANDBOX/theirs" "uid 33"
	install -d -m 700 "$SANDBOX/target"
	ln -s target "$SANDBOX/link"
	bad_state_dir "$SANDBOX/link" "symbolic link"
	[ -z "$(find "$SANDBOX/theirs" "$SANDBOX/target" -type f)" ]
}

@test "an AgentPath that leads nowhere is said once by each prolog" {
	timeout 30 "$LENS" agent --stop --state-dir "$STATE_DIR"
	sed -i 's,AgentPath=[^ ]*,AgentPath=/nonexistent/agent,' "$CONF_DIR/plugstack.conf"
	# shellcheck disable=SC2016 # the task's shell's
	as_user srun -n1 --lens sh -c 'while [ ! -e $PLACE/go ]; do sleep 0.05; done' 3>&- &
	wait_for 20 said_something
	[ "$(log_lines | wc -l)" = 1 ]
	[[ $(log_lines) == *"AgentPath /nonexistent/agent: the agent was not started"* ]]
	touch "$PLACE/go"
	wait $!
	# Nothing is lost: the next prolog that finds one starts it.
	cp "$SANDBOX/good.conf" "$CONF_DIR/plugstack.conf"
	as_user srun true
	wait_for 20 agent_pid
	wait_for 120 nothing_left || { ls -l "$STATE_DIR" && cat "$STATE_DIR/agent.log" && false; }
}

@test "a value that was forged past the check at submission" {
	run -0 as_user env _SLURM_SPANK_OPTION_lens_lens_sample_rate=9 _SLURM_SPANK_OPTION_lens_lens_run_id=$'x\ny' \
		srun -n1 --lens "$PLACE/dump" forged
	[[ $output != *lens* ]]
	JOB=$(job_of forged)
	wait_job "$JOB"
	[ "$(from_step "$JOB" | grep -c -e '--lens-sample-rate=9: .*ignored')" = 1 ]
	[ "$(from_step "$JOB" | grep -cF -e '--lens-run-id=x\x0Ay')" = 1 ]
	expect <<-E
	assert env("forged.0")["NEMO_LENS_RUN_ID"] == "$JOB"
	E
}

@test "variables of the user's that are none: a line in the node's log, the job runs" {
	run -0 as_user env NEMO_LENS_ENABLED=perhaps NEMO_LENS_EXPORT_STRATEGY=bogus OTEL_RESOURCE_ATTRIBUTES='a,b=1,=c' \
		srun -n1 --lens --lens-rank=5 "$PLACE/dump" lens
	# At submission the variables, nothing of what the task's own process found.
	[ "$(grep -c lens: <<<"$output")" -le 1 ]
	[[ $output != *malformed* && $output != *"rank 5"* ]]
	JOB=$(job_of lens)
	wait_job "$JOB"
	from_step "$JOB" | grep -q 'rank 5 is outside'
	from_step "$JOB" | grep -q 'NEMO_LENS_ENABLED=perhaps'
	expect <<-E
	a = carrier(env("lens.0"))
	assert a["b"] == "1" and "a" not in a and a["slurm.job.id"] == "$JOB"
	E
}
