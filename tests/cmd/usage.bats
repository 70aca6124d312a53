#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What each command says of a command line that it does not take: all in the same way.

bats_require_minimum_version 1.5.0

setup() {
	LENS=${LENS_TEST_COMMAND:-$LENS_TEST_BUILDDIR/slurm-lens}
	# No Slurm and no file of this machine is asked, should a command go on.
	export SLURM_CONF=$BATS_TEST_TMPDIR/slurm.conf
	mapfile -t COMMANDS < <("$LENS" help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p')
	[ "${#COMMANDS[@]}" -ge 9 ]
}

# wrong COMMAND WHAT ARGUMENT...: exit status 2, and one line that names WHAT and the help.
wrong() {
	local command=$1 what=$2
	shift 2
	run --separate-stderr -2 timeout 60 "$LENS" "$command" "$@"
	[ "$output" = "" ]
	# shellcheck disable=SC2154 # of bats
	[ "$stderr" = "slurm-lens $command: $what; see slurm-lens $command --help" ] || {
		echo "$command $*: $stderr"
		return 1
	}
}

# options COMMAND KIND: its long options that take a value (KIND =), or none (KIND empty), as its help
# lists them.
options() {
	"$LENS" "$1" --help | case $2 in
	=) sed -nE 's/^  (-[a-z], )?(--[a-z-]+) [A-Z].*/\2/p; s/^  (--[a-z-]+) [a-z]+\|[a-z|]+ .*/\1/p' ;;
	*) sed -nE 's/^  (-[a-z], )?(--[a-z-]+)  .*/\2/p' ;;
	esac
}

@test "help: status 0, on standard output" {
	local command
	for command in "${COMMANDS[@]}"; do
		run --separate-stderr -0 "$LENS" "$command" --help
		[[ $output == "Usage: slurm-lens "* && $stderr == "" ]]
	done
}

@test "an option that is none, long or short" {
	local command
	for command in "${COMMANDS[@]}"; do
		wrong "$command" "unknown option --foo" --foo
		wrong "$command" "unknown option --foo=1" --foo=1
		[ "$command" = help ] || wrong "$command" "unknown option -z" -zy
	done
	run --separate-stderr -2 "$LENS" --foo
	[ "$stderr" = "slurm-lens: unknown option --foo; see slurm-lens --help" ]
}

@test "an option whose value is missing" {
	local command option count=0
	for command in "${COMMANDS[@]}"; do
		for option in $(options "$command" =); do
			wrong "$command" "$option: its value is missing" "$option"
			((++count))
		done
	done
	[ "$count" -gt 30 ]
}

@test "an option that takes no value" {
	local command option count=0
	for command in "${COMMANDS[@]}"; do
		[ "$command" != help ] || continue
		for option in $(options "$command" ""); do
			wrong "$command" "$option=1: it takes no value" "$option=1"
			((++count))
		done
	done
	[ "$count" -gt 10 ]
}

@test "a word where only options are taken" {
	local command
	for command in agent attrs check help ranks status; do
		wrong "$command" "more: not expected here" more
	done
}

@test "a format that is none" {
	wrong attrs "--format=xml: not shell or json" --format xml
	for command in check ranks status; do
		wrong "$command" "--format=xml: not text or json" --format xml
	done
}
