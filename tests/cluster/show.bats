#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# slurm-lens show: real jobs, from the file that the agent writes without an Endpoint.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	export LC_ALL=C.UTF-8
	sandbox_create
	cluster_up
}

teardown_file() {
	sandbox_destroy
}

setup() {
	place_create
}

show() {
	"$LENS" show "$@" --width 120
}

is_shown() { # JOB STATE
	show "$TRACES" --job "$1" | grep -q "^attempt 0, $2, "
}

components() { # JOB COUNT
	[ "$(show "$TRACES" --job "$1" | grep -c '^[├└] slurm.job  ')" = "$2" ]
}

has_spans() { # FILE COUNT NAME
	[ "$(grep -c "$3" "$1")" -ge "$2" ]
}

@test "a requeued job: both attempts, followed while it runs" {
	local job
	job=$(submit --lens --requeue -n2 -J again "touch $PLACE/began\$SLURM_RESTART_COUNT
		srun -n2 --lens-strategy=all_ranks sh -c 'exit \$SLURM_PROCID'
		test \$SLURM_RESTART_COUNT || sleep 300")
	"$LENS" show "$TRACES" --job "$job" --follow >"$PLACE/followed" 2>&1 3>&- &
	wait_for 60 test -e "$PLACE/began"
	wait_for 60 has_spans "$PLACE/followed" 1 slurm.step
	slurm scontrol requeue "$job"
	wait_sent "$job" 120
	# It ends by itself: the second attempt is the last.
	wait_for 60 has_spans "$PLACE/followed" 1 'slurm.job_attempt  COMPLETED'
	wait $!
	[ "$(grep -c 'slurm.job_attempt' "$PLACE/followed")" = 2 ]

	run -0 --separate-stderr show "$TRACES" --job "$job"
	# shellcheck disable=SC2154 # of bats
	[ "$stderr" = "" ]
	echo "$output"
	[ "${lines[0]}" = "Job $job again, www-data, partition p, cluster mini" ]
	[[ ${lines[1]} == "attempt 0, REQUEUED, "* ]]
	[[ ${lines[2]} == "attempt 1, COMPLETED, "* ]]
	[ "$(grep -c '^slurm.job_attempt  *█' <<<"$output")" = 2 ]
	[ "$(grep -c '^├ slurm.inter_attempt_gap  *░' <<<"$output")" = 1 ]
	[ "$(grep -c '^  ├ slurm.step 0 sh .* ERROR exit_1$' <<<"$output")" = 2 ]
	[ "$(grep -c '^  │ [├└] slurm.task rank 1 n1 .* ERROR exit_1$' <<<"$output")" = 2 ]
	[[ $output != *"parent missing"* ]]
}

@test "an element of an array by its id, in File of the settings" {
	local job
	job=$(submit --lens --array=3,5 -J element "srun true")
	wait_sent "$job" 90
	wait_for 60 is_shown "${job}_3" COMPLETED
	wait_for 60 is_shown "${job}_5" COMPLETED
	run -0 show "${job}_5" --set "File=$TRACES"
	[[ ${lines[0]} == "Job ${job}_5 element, "* ]]
	grep -q '^└ slurm.job  *[█▐]' <<<"$output"
	run -0 show "$job" --set "File=$TRACES"
	[[ $output == *"${job}_3 "*"${job}_5 "* ]]
}

@test "components of a het job stand in one trace" {
	local job
	job=$(as_user sbatch --parsable --lens -n1 -J het : -n1 --wrap "srun --het-group=0,1 true")
	wait_for 90 is_shown "$job" COMPLETED
	wait_for 60 components "$job" 2
}

@test "the page of a real job" {
	local job
	job=$(submit --lens -J page "srun true")
	wait_sent "$job"
	run -0 show "$TRACES" --job "$job" --html "$PLACE/page.html"
	[ "$output" = "" ]
	grep -q '"title":"Job '"$job"' page, www-data, ' "$PLACE/page.html"
	grep -q '"label":"slurm.step 0 true"' "$PLACE/page.html"
}
