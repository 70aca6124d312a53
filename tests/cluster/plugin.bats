#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The plugin in Slurm's processes: it loads little, and it never fails a hook, also
# where Slurm is told that it is `required` and everything that it needs is broken.

bats_require_minimum_version 1.5.0
load helpers

setup() {
	sandbox_create
	place_create
}

teardown() {
	mountpoint -q "$SANDBOX/small" && umount -l "$SANDBOX/small"
	sandbox_destroy
}

# required_up KEY=VALUE...: a cluster whose every process must have the plugin, from
# slurmd's start on.
required_up() {
	printf '#!/bin/sh\nexit 0\n' >"$PLACE/ok"
	chmod 755 "$PLACE/ok"
	PLUGSTACK_FLAG=required cluster_up "$@"
	grep -q '^required ' "$CONF_DIR/plugstack.conf"
}

# assert_unharmed: jobs of every kind run and succeed; no node is drained.
assert_unharmed() {
	JOB=$(submit "$@" -N2 -n2 "srun $PLACE/dump step; $PLACE/dump batch")
	wait_job "$JOB"
	[ "$(job_field "$JOB" JobState):$(job_field "$JOB" ExitCode)" = COMPLETED:0:0 ]
	[ "$(find "$PLACE" -name '*.[01]' -size +0 -printf '%f\n' | sort | xargs)" = "batch.0 step.0 step.1" ]
	run -0 as_user timeout 60 srun "$@" -N2 -n2 "$PLACE/ok"
	[[ $output != *lens* ]]
	run -0 as_user timeout 60 salloc --quiet "$@" -n1 srun "$PLACE/ok"
	run -3 as_user timeout 60 srun "$@" -n1 sh -c 'exit 3'
	wait_for 30 all_idle
	rm "$PLACE"/*.0 "$PLACE/step.1"
}

node_log() {
	cat "$SANDBOX"/cluster/log/slurmd.n*.log
}

@test "it goes where this Slurm looks for plugins" {
	cluster_up
	local directory
	directory=$(slurm scontrol show config | sed -n 's/^PluginDir *= *//p')
	[ "$LENS_TEST_LENS_SO" = "$LENS_TEST_INSTALL$directory/lens.so" ]
	[ "$(stat -c %a "$LENS_TEST_LENS_SO")" = 755 ]
}

@test "sbatch, srun and salloc list each option with its help" {
	cluster_up
	local command option
	for command in sbatch srun salloc; do
		run -0 slurm "$command" --help
		for option in --lens --lens-run-id --lens-strategy --lens-rank --lens-sample-rate; do
			grep -qE -- "^ +$option([[]|[= ]).*[a-z]" <<<"$output"
		done
	done
}

@test "slurmd, slurmstepd and srun load libmd for it and no library of the network" {
	cluster_up
	# shellcheck disable=SC2016 # the task's shell's
	as_user srun --lens -n1 sh -c \
		'touch $PLACE/begun; while [ ! -e $PLACE/go ]; do sleep 0.05; done' 3>&- &
	wait_for 30 test -e "$PLACE/begun"
	local maps name seen=0
	for maps in /proc/[0-9]*/maps; do
		grep -qF "$LENS_SO" "$maps" 2>/dev/null || continue
		name=$(cat "${maps%/maps}/comm")
		seen=$((seen + 1))
		run grep -E 'libcurl|libssl|libnghttp|libprotobuf' "$maps"
		[ "$status" = 1 ] || { echo "$name: $output" >&2 && false; }
	done
	touch "$PLACE/go"
	wait $!
	# Two slurmd, slurmstepd, srun and its own child.
	[ "$seen" -ge 4 ]
}

@test "required, and all is well" {
	required_up
	assert_unharmed
	assert_unharmed --lens
	# slurmd's start is announced; nothing else is worth a line.
	run grep -E 'lens: .*' <(node_log | grep -v ' is loaded; ')
	[ "$output" = "" ] || { echo "$output" >&2; false; }
}

@test "required, and StateDir, agent and settings are broken" {
	lens_conf <<<"Nonsense"
	required_up -- StateDir=/proc/nowhere/state AgentPath=/nonexistent Bogus=1
	assert_unharmed
	JOB=$(submit --lens -N2 -n2 "srun $PLACE/dump step")
	wait_job "$JOB"
	[ "$(job_field "$JOB" ExitCode)" = 0:0 ]
	expect <<-E
	assert enabled("step") == [1]
	E
	grep -qF 'lens: StateDir /proc/nowhere/state' <(node_log)
	grep -qF 'Bogus is no key of lens' <(node_log)
	wait_for 30 all_idle
}

@test "required, and the agent cannot run" {
	printf 'no program' >"$SANDBOX/agent"
	chmod 755 "$SANDBOX/agent"
	required_up -- AgentPath="$SANDBOX/agent"
	assert_unharmed --lens
	printf '#!/bin/sh\nexit 1\n' >"$SANDBOX/agent"
	assert_unharmed --lens
	# Its spans wait for one that can.
	[ -n "$(state_files)" ]
	slurm "$LENS" agent --once --state-dir "$STATE_DIR" --set "File=$TRACES"
	nothing_left
}

@test "required, and the disk of StateDir is full" {
	mkdir -m 700 "$SANDBOX/small"
	mount -t tmpfs -o size=16k,mode=700 lens-test "$SANDBOX/small"
	STATE_DIR=$SANDBOX/small required_up -- Agent=external "StateDir=$SANDBOX/small"
	cat /dev/zero >"$SANDBOX/small/filler" 2>/dev/null || true
	assert_unharmed
	assert_unharmed --lens
	grep -q 'lens: .*No space left on device' <(node_log)
}

@test "required, and StateDir vanishes under a running step" {
	required_up -- Agent=external
	# shellcheck disable=SC2016 # the task's shell's
	as_user srun --lens -N2 -n2 sh -c \
		'touch $PLACE/begun.$SLURM_PROCID; while [ ! -e $PLACE/go ]; do sleep 0.05; done' 3>&- &
	wait_for 30 test -e "$PLACE/begun.1"
	rm -rf "$STATE_DIR"
	touch "$PLACE/go"
	wait $!
	wait_job 1
	[ "$(job_field 1 ExitCode)" = 0:0 ]
	wait_for 30 all_idle
}
