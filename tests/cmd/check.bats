#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# slurm-lens check where there is no Slurm to ask: its command line, and that it looks at the rest.

bats_require_minimum_version 1.5.0

setup() {
	LENS=${LENS_TEST_COMMAND:-$LENS_TEST_BUILDDIR/slurm-lens}
	export SLURM_CONF=$BATS_TEST_TMPDIR/slurm.conf
	cd "$BATS_TEST_TMPDIR" || return
}

check() {
	timeout 120 "$LENS" check --state-dir "$BATS_TEST_TMPDIR/none" "$@"
}

@test "its command line" {
	run -0 "$LENS" check --help
	[[ $output == "Usage: slurm-lens check"* ]]
	run -2 "$LENS" check --no-such
	[ "$output" = "slurm-lens check: unknown option --no-such; see slurm-lens check --help" ]
	run -2 "$LENS" check --config
	[[ $output == *"--config: its value is missing"* ]]
	run -2 "$LENS" check --set Agent
	[[ $output == *"--set Agent: takes Key=Value"* ]]
	run -2 "$LENS" check --format xml
	run -2 "$LENS" check extra
	[[ $output == *"extra: not expected here"* ]]
	run -2 "$LENS" check --job none.sh
	run -0 "$LENS" help
	[[ $output == *"  check "* ]]
}

@test "without a slurm.conf it fails, soon, and looks at the rest" {
	run -1 check --plugstack "$BATS_TEST_TMPDIR/plugstack.conf"
	[[ $output == *"fail     slurm       slurmctld: "* ]]
	[[ $output == *"fail     plugstack   $BATS_TEST_TMPDIR/plugstack.conf: No such file or directory"* ]]
	[[ $output == *"strategy    Strategy is not set."* ]]
	[[ ${lines[-1]} =~ ^[0-9]+\ ok,\ [0-9]+\ warnings,\ [0-9]+\ fail$ ]]
}

@test "a disk that is full is no answer" {
	# shellcheck disable=SC2016 # the inner shell's
	run -2 bash -c '"$0" check --state-dir /none >/dev/full' "$LENS"
	[[ $output == *"standard output: No space left on device"* ]]
}

@test "a script is read without a Slurm, whatever its name" {
	local name=$'od d\n\xff.sh'
	printf '#!/bin/sh\n#SBATCH --lens-rank=-7\n' >"$name"
	run -1 check --job "$name"
	[[ $output == *"od d?"*".sh:2: --lens-rank=-7: not a rank"* ]]
	check --json --job "$name" >json || true
	python3 -c 'import json; json.load(open("json", encoding="utf-8"))'
}

@test "a large script and endless lines" {
	{ printf '#!/bin/sh\n#SBATCH '; head -c 300000 /dev/zero | tr '\0' ' '; printf -- '--lens-rank=x\n'; } >large
	run -1 check --job large
	[[ $output == *"large:2: --lens-rank=x"* ]]
	mkfifo fifo
	run -1 check --job fifo
	[[ $output == *"fifo is not a regular file"* ]]
}
