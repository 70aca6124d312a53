# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the bats files of slurm-lens check share.

# check [OPTION...]: as root, with the sandbox's SLURM_CONF.
check() {
	slurm timeout 120 "$LENS" check "$@"
}

# row STATUS NAME PATTERN: the output of `run` has such a row; PATTERN is a glob of its text.
row() {
	local status name text line
	# shellcheck disable=SC2154 # bats' run sets it
	for line in "${lines[@]}"; do
		status=${line%% *}
		name=${line:9:11}
		text=${line:21}
		# shellcheck disable=SC2053 # a pattern
		[[ $status = "$1" && ${name%"${name##*[! ]}"} = "$2" && $text = $3 ]] && return 0
	done
	# shellcheck disable=SC2154
	printf 'no row %s %s %s in:\n%s\n' "$1" "$2" "$3" "$output" >&2
	return 1
}

# no_row STATUS NAME
no_row() {
	! grep -qE "^$1 +$2 " <<<"$output" || {
		printf 'a row %s %s in:\n%s\n' "$1" "$2" "$output" >&2
		return 1
	}
}
